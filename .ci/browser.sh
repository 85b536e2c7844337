#!/usr/bin/env bash
# Looks for the system programs that tests need: Chromium for the browser tests, strace for the test that
# watches what leaves the machine and, where CI is set, Caddy for the tests of deploy/. As root on a
# Debian-like system it installs what is missing.
# BROWSER_INSTALL=no leaves the system alone. It never fails: without these programs those tests are skipped,
# and this script says why.
# Then it fetches axe-core, which judges how accessible the pages are, into .venv/, where npm and its registry
# can be reached; without axe-core only that test is skipped.
set -uo pipefail

find_browser() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

install() {
    local log
    log=$(mktemp)
    echo "browser: installing $* (at most 5 minutes)"
    DEBIAN_FRONTEND=noninteractive timeout 300 \
        sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@" \
        </dev/null >"$log" 2>&1 ||
        echo "browser: apt-get failed: $(tail -n 1 "$log")"
    rm -f "$log"
}

missing=()
find_browser >/dev/null || missing+=(chromium)
command -v strace >/dev/null || missing+=(strace)
# Its package also starts a server on port 80, which nobody wants who only runs tests.
[ -z "${CI:-}" ] || command -v caddy >/dev/null || missing+=(caddy)
if [ "${#missing[@]}" -gt 0 ] && [ "${BROWSER_INSTALL:-yes}" = yes ] &&
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    install "${missing[@]}"
fi
if found=$(find_browser); then
    echo "browser: $found"
else
    echo "browser: no Chromium on PATH, so the browser tests will be skipped." \
        "With root, on Debian: apt-get install chromium"
fi
command -v strace >/dev/null ||
    echo "browser: no strace on PATH, so nobody watches what leaves the machine." \
        "With root, on Debian: apt-get install strace"
command -v caddy >/dev/null ||
    echo "browser: no Caddy on PATH, so what deploy/ puts together is not run." \
        "With root, on Debian: apt-get install caddy"

axe_version=4.14.1
axe_integrity=sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
axe=.venv/axe-core/axe.min.js

fetch_axe() {
    local folder digest
    command -v npm >/dev/null || { echo "there is no npm"; return 1; }
    folder=$(mktemp -d)
    if ! (cd "$folder" && timeout 60 npm pack --silent "axe-core@$axe_version") \
        >/dev/null 2>&1 </dev/null; then
        echo "npm could not fetch it"
        rm -rf "$folder"
        return 1
    fi
    digest=$(openssl dgst -sha512 -binary "$folder/axe-core-$axe_version.tgz" | base64 -w 0)
    if [ "sha512-$digest" != "$axe_integrity" ]; then
        echo "what npm fetched is not what was expected"
        rm -rf "$folder"
        return 1
    fi
    mkdir -p "${axe%/*}"
    tar -xzf "$folder/axe-core-$axe_version.tgz" -C "$folder" package/axe.min.js
    mv "$folder/package/axe.min.js" "$axe"
    rm -rf "$folder"
}

cd "$(dirname "$0")/.." || exit 0
if [ -d .venv ] && ! head -c 200 "$axe" 2>/dev/null | grep -q "v$axe_version"; then
    reason=$(fetch_axe) || echo "browser: no axe-core ($reason), so the test of accessibility will be skipped"
fi
exit 0
