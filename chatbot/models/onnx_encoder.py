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

import fcntl
import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    "Packed",
    "built_graph",
    "checked_file",
    "graph_path",
    "kept_folder",
    "model_folder",
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
TABLE_LEVELS = 127  # the word table is only looked up, never multiplied

_CONTRIB = "com.microsoft"
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Packed:
    """A table in blocks of 32 four-bit numbers, as it stands in a file.

    A number is (four bits - 8) * the block's scale. The first 16 are in the lower halves of the bytes.

    halves: (rows, blocks, 16) bytes.
    scales: (rows, blocks, 1), float16.
    """

    halves: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def numbers(self) -> NDArray[np.float32]:
        """Returns the table itself, (rows, columns)."""
        whole = np.concatenate([self.halves & 15, self.halves >> 4], axis=-1).astype(np.float32) - 8
        return (whole * self.scales.astype(np.float32)).reshape(len(whole), -1)


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """An embedded model of 12 heads and vectors of 384.

    name: how fingerprints and the graph's file begin.
    package, folder: where its files are, in a package that is not imported.
    files: name -> sha256, the weights first.
    lock: the file beside this module with the package's version and hashes, for pip.
    setup: the command that downloads the files.
    builder: raised with every change to the graph's arithmetic, as vectors of two builders must not be mixed.
    form: raised with every other change to the graph.
    max_tokens: of a text with all special tokens and the prefix.
    prefixes: what stands before a passage and before a query.
    weights: makes BERT's tensors from the checked file of weights, by the names of its checkpoint, float32. A
        matrix has the shape (outputs, inputs); the word table may be Packed.
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
    def setup_hint(self) -> str:
        """What to do if the files are missing or damaged."""
        return f"Run `{self.setup}`."

    @property
    def weights_file(self) -> str:
        """The name of the file of weights."""
        return next(iter(self.files))

    @property
    def tokenizer_file(self) -> str:
        """The name of the tokenizer's file, which may be the same file."""
        return list(self.files)[-1]

    @property
    def graph_key(self) -> str:
        """The key of the graph's arithmetic."""
        return f"{self.files[self.weights_file][:12]}-b{self.builder}"

    @property
    def file_key(self) -> str:
        """The key of the graph's file."""
        return f"{self.graph_key}-{self.form}"

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
        self._tokenizer = spec.tokenizer(checked_file(spec, folder, spec.tokenizer_file))
        self._session = _open_graph(spec, cache, folder)
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
        prefix = self._prefixes[query]
        most = self._spec.max_tokens
        seen = []
        for text in texts:
            first, *others = self._encoded(text).ids
            tokens = [first, *prefix, *others]
            seen.append(tokens if len(tokens) <= most else [*tokens[: most - 1], tokens[-1]])
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
            f"The package {name} with the embedded model is not installed.", hint=spec.setup_hint
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
            f"The embedded model's file {str(path)!r} cannot be read: {error.strerror}.", hint=spec.setup_hint
        ) from error
    if found != spec.files[name]:
        raise ModelError(
            f"The embedded model's file {str(path)!r} is not the expected one: its sha256 starts with "
            f"{found[:12]}.",
            hint=spec.setup_hint,
        )
    return path


def graph_path(spec: EncoderSpec, cache: Path) -> Path:
    """Returns where in `cache` the built graph is, or would be."""
    return cache / f"{spec.name}-{spec.file_key}.onnx"


def built_graph(spec: EncoderSpec, cache: Path, folder: Path, *, again: bool = False) -> Path:
    """Returns the graph's file in `cache`, built from `folder` if it is missing or `again` is set.

    Building takes about a second, later calls a few milliseconds. Any number of processes may call this at
    once: one builds, the others wait. The graph's metadata hold the spec's file_key as `key`. Raises
    ModelError if the model's files are wrong or `cache` cannot be written.
    """
    path = graph_path(spec, cache)
    if again or not path.is_file():
        with _alone_in(cache):
            if again or not path.is_file():
                _replace(path, _build(spec, folder))
    return path


def _open_graph(spec: EncoderSpec, cache: Path, folder: Path) -> InferenceSession:
    try:
        return _session(spec, built_graph(spec, cache, folder))
    except _UnusableGraphError:
        return _session(spec, built_graph(spec, cache, folder, again=True))


class _UnusableGraphError(ModelError):
    """The built graph is damaged, or was made by another builder."""


def _session(spec: EncoderSpec, path: Path) -> InferenceSession:
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL  # see the module's docstring
    options.log_severity_level = 4  # a damaged file is built again, not reported
    unusable = _UnusableGraphError(
        f"The embedded model's graph {str(path)!r} cannot be used.",
        hint=f"Remove that file. {spec.setup_hint}",
    )
    try:
        session = InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen error types without a common base
        raise unusable from error
    if session.get_modelmeta().custom_metadata_map.get("key") != spec.file_key:
        raise unusable
    return session


@contextmanager
def _alone_in(cache: Path) -> Iterator[None]:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "build.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        message = f"The folder for the embedded model, {str(cache)!r}, cannot be written: {error.strerror}."
        raise ModelError(message, hint="Set FINPOLICY_MODEL_CACHE to a folder you can write to.") from error


def _replace(path: Path, data: bytes) -> None:
    """Puts the file in place at once: a reader sees the old file, none, or this one."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _build(spec: EncoderSpec, folder: Path) -> bytes:
    """Returns the whole graph, serialised: 22 MB for MiniLM."""
    from onnx import TensorProto, helper

    model = _Builder(spec, spec.weights(checked_file(spec, folder, spec.weights_file)))
    model.all_vectors()
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [name]) for name in ("tokens", "bounds")]
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", 1, DIMENSION])
    graph = helper.make_graph(model.nodes, spec.name, inputs, [vectors], model.initializers())
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(_CONTRIB, 1)]
    made = helper.make_model(graph, opset_imports=versions, ir_version=9, producer_name=__name__)
    helper.set_model_props(made, {"key": spec.file_key})
    data: bytes = made.SerializeToString()
    return data


def _quantised(table: Array, *, levels: int, axis: int) -> tuple[Array, Array]:
    """Returns whole numbers in [-levels, levels] and the scale of each row or column.

    The table equals numbers * scales.

    axis: the axis that shares a scale.
    """
    scales = np.abs(table).max(axis=axis, keepdims=True) / levels
    return np.rint(table / scales).astype(np.int8), scales.astype(np.float32)


class _Builder:
    """Writes the graph node by node. Each method returns the name of the value it makes.

    weights: as in EncoderSpec.
    """

    def __init__(self, spec: EncoderSpec, weights: Mapping[str, Any]) -> None:
        self.nodes: list[NodeProto] = []
        self._spec = spec
        self._weights = weights
        self._constants: dict[str, Array] = {}

    def initializers(self) -> list[Any]:
        """Returns the constants as ONNX tensors."""
        from onnx import numpy_helper

        return [
            numpy_helper.from_array(np.ascontiguousarray(array), name)
            for name, array in self._constants.items()
        ]

    def all_vectors(self) -> None:
        """Writes the whole graph, from `tokens` and `bounds` to `vectors`."""
        from onnx import TensorProto, helper

        zero = self._number(0)
        one = self._number(1)
        place = self._node("Unsqueeze", "text", zero)
        ends = [self._node("Gather", "bounds", at) for at in (place, self._node("Add", place, one))]
        self._sentence_vector(self._node("Unsqueeze", self._node("Slice", "tokens", *ends), zero))
        self._nodes("Identity", ("going",), ("going on",))
        inputs = [
            helper.make_tensor_value_info("text", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
        ]
        outputs = [
            helper.make_tensor_value_info("going on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIMENSION]),
        ]
        one_text = helper.make_graph(self.nodes, "text", inputs, outputs)
        self.nodes = []
        self._nodes(
            "Loop", (self._node("Sub", self._node("Size", "bounds"), one), ""), ("vectors",), body=one_text
        )

    def _sentence_vector(self, ids: str) -> None:
        """Writes the graph of one text, from its tokens to `vector`."""
        x = self._embedded(ids)
        for layer in range(self._spec.layers):
            prefix = f"encoder.layer.{layer}"
            attended = self._linear(
                self._attention(x, f"{prefix}.attention.self"), f"{prefix}.attention.output.dense"
            )
            x = self._normalised(self._node("Add", attended, x), f"{prefix}.attention.output.LayerNorm")
            x = self._normalised(
                self._node("Add", self._feed_forward(x, prefix), x), f"{prefix}.output.LayerNorm"
            )
        mean = self._node("ReduceMean", x, self._number(1), keepdims=0)
        self._nodes("LpNormalization", (mean,), ("vector",), axis=-1, p=2)

    def _embedded(self, ids: str) -> str:
        table = self._weights["embeddings.word_embeddings.weight"]
        if isinstance(table, Packed):
            found = self._unpacked(table, ids)
        else:
            found = self._looked_up(table, ids)
        # A text is one segment, so the first row of the segment table belongs to every position.
        places, segments = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("position", "token_type")
        )
        placing = self._constant("places", places[: self._spec.max_tokens] + segments[:1])
        length = self._node("Shape", ids, start=1, end=2)
        placed = self._node("Slice", placing, self._number(0), length, self._number(0))
        return self._normalised(self._node("Add", found, placed), "embeddings.LayerNorm")

    def _looked_up(self, table: Array, ids: str) -> str:
        words, scales = _quantised(table, levels=TABLE_LEVELS, axis=1)
        numbers = self._node("Cast", self._node("Gather", self._constant("words", words), ids), to=1)
        return self._node("Mul", numbers, self._node("Gather", self._constant("word scales", scales), ids))

    def _unpacked(self, table: Packed, ids: str) -> str:
        """Keeps a table in four bits, which is exact and half as large as in eight."""
        halves = self._node("Gather", self._constant("words", table.halves), ids)
        lower = self._node("BitwiseAnd", halves, self._constant("lower half", np.array([15], np.uint8)))
        upper = self._node(
            "BitShift", halves, self._constant("upper half", np.array([4], np.uint8)), direction="RIGHT"
        )
        whole = self._node("Cast", self._node("Concat", lower, upper, axis=-1), to=1)
        centred = self._node("Sub", whole, self._constant("centre", np.array([8], np.float32)))
        scales = self._node(
            "Cast", self._node("Gather", self._constant("word scales", table.scales), ids), to=1
        )
        return self._node(
            "Reshape",
            self._node("Mul", centred, scales),
            self._constant("rows", np.array([0, 0, -1], np.int64)),
        )

    def _attention(self, x: str, prefix: str) -> str:
        parts = [f"{prefix}.{part}" for part in ("query", "key", "value")]
        numbers, scales, zeros = self._quantised_matrix(
            prefix, np.concatenate([self._weights[f"{part}.weight"] for part in parts])
        )
        bias = self._constant(
            f"{prefix}.bias", np.concatenate([self._weights[f"{part}.bias"] for part in parts])
        )
        steps, step, zero = self._nodes(
            "DynamicQuantizeLinear", (x,), [f"{prefix}.{output}" for output in ("steps", "step", "zero")]
        )
        return self._node(
            "QAttention",
            steps,
            numbers,
            bias,
            step,
            scales,
            "",
            zero,
            zeros,
            domain=_CONTRIB,
            num_heads=HEADS,
        )

    def _feed_forward(self, x: str, prefix: str) -> str:
        """Writes the feed-forward part, where the first token goes through alone.

        MiniLM has its largest activations there, four to ten times those of any word. One scale for all rows
        would leave the words few levels (mean cosine to float32 .994, lowest .980; separately .997 and .995).
        """
        first = self._node("Slice", x, self._number(0), self._number(1), self._number(1))
        rest = self._node("Slice", x, self._number(1), self._number(self._spec.max_tokens), self._number(1))
        through = []
        for rows in (first, rest):
            wide = self._node("Gelu", self._linear(rows, f"{prefix}.intermediate.dense"), domain=_CONTRIB)
            through.append(self._linear(wide, f"{prefix}.output.dense"))
        return self._node("Concat", *through, axis=1)

    def _linear(self, x: str, prefix: str) -> str:
        matrix = self._quantised_matrix(prefix, self._weights[f"{prefix}.weight"])
        return self._node(
            "DynamicQuantizeMatMul", x, *matrix, self._weight(f"{prefix}.bias"), domain=_CONTRIB
        )

    def _quantised_matrix(self, prefix: str, matrix: Array) -> tuple[str, str, str]:
        """Returns numbers, scales and zero points, one of each for every output.

        One scale for the whole matrix would cost cosine .05.
        """
        numbers, scales = _quantised(matrix.T, levels=WEIGHT_LEVELS, axis=0)
        zeros = np.zeros(len(matrix), np.int8)
        named = ((f"{prefix}.numbers", numbers), (f"{prefix}.scales", scales[0]), (f"{prefix}.zeros", zeros))
        one, two, three = (self._constant(name, array) for name, array in named)
        return one, two, three

    def _normalised(self, x: str, prefix: str) -> str:
        return self._node(
            "LayerNormalization",
            x,
            self._weight(f"{prefix}.weight"),
            self._weight(f"{prefix}.bias"),
            axis=-1,
            epsilon=EPSILON,
        )

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _number(self, number: int) -> str:
        return self._constant(f"number {number}", np.array([number], np.int64))

    def _constant(self, name: str, array: Array) -> str:
        self._constants[name] = array
        return name

    def _node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        (output,) = self._nodes(kind, inputs, [f"{kind} {len(self.nodes)}"], domain=domain, **attributes)
        return output

    def _nodes(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "", **attributes: Any
    ) -> Sequence[str]:
        from onnx import helper

        node = helper.make_node(kind, inputs, outputs, domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self.nodes.append(node)
        return outputs
