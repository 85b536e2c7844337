#!/usr/bin/env bash
# Looks for the browser of the browser tests; as root on a Debian-like system it installs Chromium. Never fails: without one
# those tests are skipped, and this says why. BROWSER_INSTALL=no leaves the system alone.
set -uo pipefail

find_browser() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

install_chromium() {
    local log
    log=$(mktemp)
    echo "browser: none found, installing Chromium (at most 5 minutes)"
    DEBIAN_FRONTEND=noninteractive timeout 300 \
        sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium' </dev/null >"$log" 2>&1 ||
        echo "browser: apt-get failed: $(tail -n 1 "$log")"
    rm -f "$log"
}

if ! find_browser >/dev/null && [ "${BROWSER_INSTALL:-yes}" = yes ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    install_chromium
fi
if found=$(find_browser); then
    echo "browser: $found"
else
    echo "browser: no Chromium on PATH, so the browser tests will be skipped. With root, on Debian: apt-get install chromium"
fi
