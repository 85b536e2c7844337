"""Builds, keeps and runs embedded models as int8 ONNX graphs.

Inputs of the graph:
tokens: the tokens of all texts one after another, each text from its first special token to its last (int64,
    2 to 512 a text).
bounds: 0 and where each text ends in them (int64, shape (texts + 1,)).

Its output is `vectors` (float32, shape (texts, 1, 384), unit length): BERT's layers, the mean over all
tokens, L2. Texts go through one at a time, so there is no padding and no mask. The graph itself goes on to
the next text, because between two calls a thread would wait for the interpreter.

The graph is written in the fused operators that onnxruntime runs fastest. Leave its own optimiser off: it
would fuse Add and LayerNormalization into an operator that is five times slower than the two.

Measured with MiniLM on two cores and real passages of 1,000 characters: 150 a second (float32: 54), a query
1.5 ms, cosine to float32 .9975 on average and .995 at worst.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError
from chatbot.models.tokens import encodable

if TYPE_CHECKING:
    from onnx import NodeProto
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

__all__ = [
    "DIMENSION",
    "Encoder",
    "EncoderSpec",
    "WordTable",
    "checked_file",
    "graph_path",
    "kept_folder",
    "model_folder",
    "quantised",
]

DIMENSION = 384
HEADS = 12
# The number of texts whose tokens are remembered, some 25 KB each.
ENCODED_KEPT = 192
# BERT's own value. float32 rounds it away, but not where a row is constant.
EPSILON = 1e-12
# Not 127: processors without VNNI add pairs of products in 16 bits, which full weights overflow (MiniLM's
# cosine to float32 is .989 there). With these levels one pair in nine million still overflows (.9975, against
# .9978 for full weights without overflow).
WEIGHT_LEVELS = 95

_CONTRIB = "com.microsoft"
_CONTRIB_KINDS = frozenset({"Gelu", "QAttention", "DynamicQuantizeMatMul", "GatherBlockQuantized"})
Array = NDArray[Any]
Input: TypeAlias = str | Array | list[int]


@dataclass(frozen=True, slots=True)
class WordTable:
    """A table of whole numbers without sign, in blocks of a row that share a scale.

    A number stands for (itself - 2 ** (bits - 1)) * the block's scale.

    numbers: (rows, bytes of a row), uint8; of four bits, the first of two is in the lower half of a byte.
    scales: (rows, blocks), float32.
    """

    numbers: Array
    scales: Array
    bits: int


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """An embedded model of 12 heads and vectors of 384.

    name: how fingerprints and the graph's file begin.
    package, folder: where its files are, in a package that is not imported.
    files: name -> sha256: of the weights, then of the tokenizer, which may be in the same file.
    lock: the file beside this module with the package's version and hashes, for pip.
    setup: the command that downloads the files.
    builder: raised with every change to the graph's arithmetic, as vectors of two builders must not be mixed.
    form: raised with every other change to the graph.
    max_tokens: of a text with all special tokens and the prefix.
    prefixes: what stands before a passage and before a query.
    weights: makes BERT's tensors from the checked file of weights, by the names of its checkpoint, float32. A
        matrix has the shape (outputs, inputs); that of the words is a WordTable.
    tokenizer: makes the tokenizer from its checked file.
    """

    name: str
    package: str
    folder: str
    files: Mapping[str, str]
    layers: int
    max_tokens: int
    weights: Callable[[Path], Mapping[str, Any]]
    tokenizer: Callable[[Path], Tokenizer]
    lock: str
    setup: str
    builder: int
    form: int
    prefixes: tuple[str, str] = ("", "")
    prefix_tokens: int = 0

    @property
    def graph_key(self) -> str:
        """The key of the graph's arithmetic."""
        return f"{next(iter(self.files.values()))[:12]}-b{self.builder}"

    @property
    def text_tokens(self) -> int:
        """Tokens of a text that are used, without the two special ones and those of the prefix."""
        return self.max_tokens - 2 - self.prefix_tokens


class Encoder:
    """An opened model. Several threads may use it at once. Raises ModelError.

    Opening takes 0.1 s for MiniLM, and a second more if its graph must be built.

    cache: the folder of the built graph.
    folder: the model's own folder, by default that of the installed package.
    """

    def __init__(self, spec: EncoderSpec, cache: Path, folder: Path | None = None) -> None:
        folder = folder or model_folder(spec, cache)
        self._spec = spec
        self._tokenizer = spec.tokenizer(checked_file(spec, folder, [*spec.files][-1]))
        self._session = _session(spec, cache, folder)
        # A text is usually measured just before it is embedded.
        self._encoded = lru_cache(ENCODED_KEPT)(lambda text: self._tokenizer.encode(encodable(text)))
        # A prefix ends with a blank, so its tokens are the same before any text.
        self._prefixes = [
            self._tokenizer.encode(prefix, add_special_tokens=False).ids for prefix in spec.prefixes
        ]

    def vectors(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Returns the unit vectors of texts, shape (texts, 384), computed on the caller's thread.

        A text with too many tokens is cut to its first ones.
        """
        most = self._spec.max_tokens
        seen = []
        for text in texts:
            first, *others, last = self._encoded(text).ids
            seen.append([*[first, *self._prefixes[query], *others][: most - 1], last])
        bounds = np.cumsum([0, *map(len, seen)], dtype=np.int64)
        (vectors,) = self._session.run(
            None, {"tokens": np.array(list(chain(*seen)), np.int64), "bounds": bounds}
        )
        rows: NDArray[np.float32] = vectors.reshape(len(texts), DIMENSION)
        return rows

    def token_ends(self, text: str) -> list[int]:
        """Returns the end of each token as a character offset, without special tokens and prefix."""
        return [end for _, end in self._encoded(text).offsets[1:-1]]


def kept_folder(spec: EncoderSpec, cache: Path) -> Path:
    """Returns where in `cache` the model's files are if they were downloaded."""
    return cache / spec.package / spec.folder


def model_folder(spec: EncoderSpec, cache: Path) -> Path:
    """Returns the folder of the model's files: in `cache`, else in the installed package.

    The package is not imported. Raises ModelError if there is neither.
    """
    kept = kept_folder(spec, cache)
    if all((kept / name).is_file() for name in spec.files):
        return kept
    package = importlib.util.find_spec(spec.package)
    if package is None or not package.submodule_search_locations:
        name = spec.package.replace("_", "-")
        raise ModelError(
            f"The package {name} with the embedded model is not installed.", hint=f"Run `{spec.setup}`."
        )
    return Path(package.submodule_search_locations[0]) / spec.folder


def checked_file(spec: EncoderSpec, folder: Path, name: str) -> Path:
    """Returns the model's file `name` in `folder`.

    Raises ModelError if it cannot be read or is not the one this project was measured with.
    """
    path = folder / name
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(
            f"The embedded model's file {str(path)!r} cannot be read: {error.strerror}.",
            hint=f"Run `{spec.setup}`.",
        ) from error
    if found != spec.files[name]:
        raise ModelError(
            f"The embedded model's file {str(path)!r} is not the expected one: its sha256 starts with "
            f"{found[:12]}.",
            hint=f"Run `{spec.setup}`.",
        )
    return path


def graph_path(spec: EncoderSpec, cache: Path) -> Path:
    """Returns where in `cache` the built graph is, or would be."""
    return cache / f"{spec.name}-{spec.graph_key}-{spec.form}.onnx"


def _session(spec: EncoderSpec, cache: Path, folder: Path) -> InferenceSession:
    """Opens the graph in `cache`. It is built from `folder` if it is missing or damaged."""
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL  # see the module's docstring
    options.log_severity_level = 4  # a damaged file is built again, not reported
    path = graph_path(spec, cache)
    for again in (False, True):
        if again or not path.is_file():
            _keep(path, _build(spec, folder))
        try:
            return InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a dozen error types without a common base
            failure = error
    raise ModelError(
        f"The embedded model's graph {str(path)!r} cannot be used.",
        hint=f"Remove that file. Run `{spec.setup}`.",
    ) from failure


def _keep(path: Path, data: bytes) -> None:
    """Puts the file in place at once: whoever reads it sees the old file, none, or this one."""
    temporary = path.with_suffix(f".{secrets.token_hex(8)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        message = (
            f"The folder for the embedded model, {str(path.parent)!r}, cannot be written: {error.strerror}."
        )
        raise ModelError(message, hint="Set FINPOLICY_MODEL_CACHE to a folder you can write to.") from error


def _build(spec: EncoderSpec, folder: Path) -> bytes:
    """Returns the whole graph, serialised: 22 MB for MiniLM."""
    from onnx import TensorProto, helper

    graph = _Graph(spec, spec.weights(checked_file(spec, folder, next(iter(spec.files)))))
    place = graph.add("Reshape", "text", [1])
    ends = [graph.add("Gather", "bounds", at) for at in (place, graph.add("Add", place, [1]))]
    graph.vector(graph.add("Unsqueeze", graph.add("Slice", "tokens", *ends), [0]))
    graph.add("Identity", "going", outputs=["going on"])
    value = helper.make_tensor_value_info
    one_text = helper.make_graph(
        graph.nodes,
        "text",
        [value("text", TensorProto.INT64, []), value("going", TensorProto.BOOL, [])],
        [value("going on", TensorProto.BOOL, []), value("vector", TensorProto.FLOAT, [1, DIMENSION])],
    )
    graph.nodes = []
    count = graph.add("Sub", graph.add("Size", "bounds"), [1])
    graph.add("Loop", count, "", outputs=["vectors"], body=one_text)
    whole = helper.make_graph(
        graph.nodes,
        spec.name,
        [value(name, TensorProto.INT64, [name]) for name in ("tokens", "bounds")],
        [value("vectors", TensorProto.FLOAT, ["texts", 1, DIMENSION])],
        graph.initializers(),
    )
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(_CONTRIB, 1)]
    made = helper.make_model(whole, opset_imports=versions, ir_version=9, producer_name=__name__)
    data: bytes = made.SerializeToString()
    return data


def quantised(table: Array, *, levels: int, axis: int) -> tuple[Array, Array]:
    """Returns whole numbers in [-levels, levels] and the scale of each row or column.

    The table equals numbers * scales.

    axis: the axis that shares a scale.
    """
    scales = np.abs(table).max(axis=axis, keepdims=True) / levels
    return np.rint(table / scales).astype(np.int8), scales.astype(np.float32)


class _Graph:
    """The nodes of a graph, and its constants. Its methods return the name of the value they make.

    weights: as in EncoderSpec.
    """

    def __init__(self, spec: EncoderSpec, weights: Mapping[str, Any]) -> None:
        self._spec, self._weights = spec, weights
        self.nodes: list[NodeProto] = []
        self._constants: dict[int, tuple[str, Array]] = {}

    def add(self, kind: str, *inputs: Input, outputs: Sequence[str] = (), **attributes: Any) -> str:
        """Adds a node and returns the name of its first output.

        inputs: names of values, or constants: arrays, or lists of whole numbers. An array that is given twice
            is kept once.
        """
        from onnx import helper

        names = [given if isinstance(given, str) else self._constant(given) for given in inputs]
        outputs = outputs or [f"{kind} {len(self.nodes)}"]
        domain = _CONTRIB if kind in _CONTRIB_KINDS else ""
        self.nodes.append(helper.make_node(kind, names, outputs, domain=domain, **attributes))
        return outputs[0]

    def initializers(self) -> list[Any]:
        """Returns the constants as ONNX tensors."""
        from onnx import numpy_helper

        return [
            numpy_helper.from_array(np.ascontiguousarray(array), name)
            for name, array in self._constants.values()
        ]

    def _constant(self, given: Array | list[int]) -> str:
        array = np.array(given, np.int64) if isinstance(given, list) else given
        name, _ = self._constants.setdefault(id(array), (f"constant {len(self._constants)}", array))
        return name

    def vector(self, ids: str) -> None:
        """Adds all layers, from the tokens of a text to `vector`."""
        x = self._embedded(ids)
        for layer in range(self._spec.layers):
            prefix = f"encoder.layer.{layer}"
            dense = self._matrix(f"{prefix}.attention.output.dense")
            attended = self.add(
                "DynamicQuantizeMatMul", self._attention(x, f"{prefix}.attention.self"), *dense
            )
            x = self._normalised(self.add("Add", attended, x), f"{prefix}.attention.output.LayerNorm")
            x = self._normalised(
                self.add("Add", self._feed_forward(x, prefix), x), f"{prefix}.output.LayerNorm"
            )
        self.add(
            "LpNormalization", self.add("ReduceMean", x, [1], keepdims=0), outputs=["vector"], axis=-1, p=2
        )

    def _embedded(self, ids: str) -> str:
        table, places, segments = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        size = DIMENSION // table.scales.shape[1]
        how = {"bits": table.bits, "block_size": size, "quantize_axis": 1}
        found = self.add("GatherBlockQuantized", table.numbers, ids, table.scales, **how)
        # A text is one segment, so the first row of the segment table belongs to every position.
        length = self.add("Shape", ids, start=1, end=2)
        placed = self.add("Slice", places[: self._spec.max_tokens] + segments[:1], [0], length, [0])
        return self._normalised(self.add("Add", found, placed), "embeddings.LayerNorm")

    def _attention(self, x: str, prefix: str) -> str:
        numbers, scales, zeros, bias = self._matrix(
            *(f"{prefix}.{part}" for part in ("query", "key", "value"))
        )
        steps, step, zero = outputs = [f"{prefix}.{output}" for output in ("steps", "step", "zero")]
        self.add("DynamicQuantizeLinear", x, outputs=outputs)
        return self.add("QAttention", steps, numbers, bias, step, scales, "", zero, zeros, num_heads=HEADS)

    def _feed_forward(self, x: str, prefix: str) -> str:
        """Writes the feed-forward part, where the first token goes through alone.

        MiniLM has its largest activations there, four to ten times those of any word. One scale for all rows
        would leave the words few levels (mean cosine to float32 .994, lowest .980; separately .997 and .995).
        """
        widen, narrow = self._matrix(f"{prefix}.intermediate.dense"), self._matrix(f"{prefix}.output.dense")
        through = []
        for start, end in ((0, 1), (1, self._spec.max_tokens)):
            rows = self.add("Slice", x, [start], [end], [1])
            wide = self.add("Gelu", self.add("DynamicQuantizeMatMul", rows, *widen))
            through.append(self.add("DynamicQuantizeMatMul", wide, *narrow))
        return self.add("Concat", *through, axis=1)

    def _matrix(self, *names: str) -> tuple[Array, Array, Array, Array]:
        """Returns the numbers of matrices side by side, and the scale, zero point and bias of each output.

        One scale for the whole matrix would cost cosine .05.
        """
        matrix = np.concatenate([self._weights[f"{name}.weight"] for name in names])
        bias = np.concatenate([self._weights[f"{name}.bias"] for name in names])
        numbers, scales = quantised(matrix.T, levels=WEIGHT_LEVELS, axis=0)
        return numbers, scales[0], np.zeros(len(matrix), np.int8), bias

    def _normalised(self, x: str, prefix: str) -> str:
        weight, bias = (self._weights[f"{prefix}.{kind}"] for kind in ("weight", "bias"))
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)
