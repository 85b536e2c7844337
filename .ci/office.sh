#!/usr/bin/env bash
# Looks for LibreOffice, by which the tests read Word, slides, OpenDocument, RTF and HTML. As root on a
# Debian-like system it installs what is missing.
# OFFICE_INSTALL=no leaves the system alone. It never fails: without LibreOffice those tests are skipped, and
# this script says why.
set -uo pipefail

packages=(libreoffice-writer-nogui libreoffice-impress-nogui libreoffice-calc-nogui)

find_office() {
    command -v "${FINPOLICY_SOFFICE:-soffice}" || command -v libreoffice
}

if ! find_office >/dev/null && [ "${OFFICE_INSTALL:-yes}" = yes ] &&
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    log=$(mktemp)
    echo "office: installing LibreOffice (at most 10 minutes)"
    DEBIAN_FRONTEND=noninteractive timeout 600 \
        sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh \
        "${packages[@]}" </dev/null >"$log" 2>&1 ||
        echo "office: apt-get failed: $(tail -n 1 "$log")"
    rm -f "$log"
fi
if found=$(find_office); then
    echo "office: $found"
else
    echo "office: no soffice on PATH, so the tests that need LibreOffice will be skipped." \
        "With root, on Debian: apt-get install ${packages[*]}"
fi
exit 0
