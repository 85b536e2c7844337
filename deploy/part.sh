#!/usr/bin/env bash
# Becomes one part of the installation in deploy/Procfile: postgres, chroma, server1, server2, worker1,
# worker2 or proxy. All of them listen on this machine only. Settings, beside those of docs/deploy.md:
#   DEPLOY_DATA  the folder of everything that is kept (default: ~/.local/share/finpolicy-served)
#   POSTGRES_PORT, CHROMA_PORT, SERVER1_PORT, SERVER2_PORT, PROXY_PORT
set -euo pipefail
cd "$(dirname "$0")/.."

part=${1:?Name a part.}
data=${DEPLOY_DATA:-$HOME/.local/share/finpolicy-served}
postgres_port=${POSTGRES_PORT:-5440}
chroma_port=${CHROMA_PORT:-8440}
python=${PYTHON:-$PWD/.venv/bin/python}
mkdir -p "$data/documents"

fail() {
    printf '%s: %s\n' "$part" "$@" >&2
    exit 1
}

# Of the system, or else of the Python package for tests; the newest.
postgres_programs() {
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    [ -n "$found" ] || found=$("$python" -c 'from tests.embedded_postgres import postgres_programs
print(postgres_programs())' 2>/dev/null)
    [ -n "$found" ] || fail "There is no Postgres. Install it: apt-get install postgresql, or make setup-dev"
    echo "$found"
}

# Postgres does not run as root.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        chmod a+x "$data"
        chown -R nobody "$data/postgres"
        setpriv --reuid nobody --regid nogroup --clear-groups test -x "$data/postgres" ||
            fail "Postgres runs as nobody, who cannot reach $data. Set DEPLOY_DATA to a folder such as /srv/finpolicy."
        exec setpriv --reuid nobody --regid nogroup --clear-groups "$@"
    fi
    exec "$@"
}

# A part that needs another one waits for it, so that all can be started at once, in any order.
wait_for() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
        sleep 0.2
    done
    fail "Nothing answers on port $1."
}

# A home for each server and worker, and one folder of kept copies for all of them, unless the environment
# names other places. The addresses are in the home's .env, so that they hold for commands given there too.
prepare_home() {
    local places
    export FINPOLICY_HOME="$data/$part"
    mkdir -p "$FINPOLICY_HOME"
    [ -n "${FINPOLICY_DATABASE_URL:-}" ] || wait_for "$postgres_port"
    [ -n "${FINPOLICY_CHROMA_URL:-}" ] || wait_for "$chroma_port"
    places="FINPOLICY_DATABASE_URL=${FINPOLICY_DATABASE_URL:-postgresql://finpolicy@127.0.0.1:$postgres_port/finpolicy}
FINPOLICY_CHROMA_URL=${FINPOLICY_CHROMA_URL:-http://127.0.0.1:$chroma_port}
FINPOLICY_FILES=${FINPOLICY_FILES:-$data/documents}"
    (umask 077 && touch "$FINPOLICY_HOME/.env")
    places+=$'\n'$(grep -vE '^FINPOLICY_(DATABASE_URL|CHROMA_URL|FILES)=' "$FINPOLICY_HOME/.env" || true)
    echo "$places" >"$FINPOLICY_HOME/.env"
    unset FINPOLICY_DATABASE_URL FINPOLICY_CHROMA_URL FINPOLICY_FILES
}

case $part in
postgres)
    programs=$(postgres_programs)
    folder=$data/postgres
    if [ ! -e "$folder/made" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        (as_user "$programs/initdb" -D "$folder/data" -U finpolicy --auth=trust --encoding=UTF8 --locale=C \
            >"$data/initdb.log" 2>&1) || fail "The database could not be made: $(tail -n 1 "$data/initdb.log")"
        echo 'create database finpolicy' | (as_user "$programs/postgres" --single -D "$folder/data" postgres \
            >>"$data/initdb.log" 2>&1) || fail "The database could not be made: $(tail -n 1 "$data/initdb.log")"
        touch "$folder/made"
    fi
    as_user "$programs/postgres" -D "$folder/data" -c listen_addresses=127.0.0.1 -c port="$postgres_port" \
        -c unix_socket_directories= -c max_connections=200
    ;;
chroma)
    umask 077
    exec "$(dirname "$python")/chroma" run --path "$data/chroma" --host 127.0.0.1 --port "$chroma_port"
    ;;
server1 | server2)
    prepare_home
    export FINPOLICY_SERVER_ADDS=${FINPOLICY_SERVER_ADDS:-0}  # workers read what is added
    port=${part^^}_PORT
    [ "$part" = server1 ] && default=8441 || default=8442
    exec "$python" -m chatbot serve --port "${!port:-$default}"
    ;;
worker1 | worker2)
    prepare_home
    exec "$python" -m chatbot worker
    ;;
proxy)
    command -v caddy >/dev/null || fail "There is no Caddy. Install it: apt-get install caddy"
    # Servers take whoever comes by way of localhost for a user of this machine.
    export BIND=${BIND:-127.0.0.1 ::1}
    export XDG_DATA_HOME="$data/proxy" XDG_CONFIG_HOME="$data/proxy"
    export SITE=${SITE:-https://localhost:${PROXY_PORT:-8443}}
    export SERVERS=${SERVERS:-127.0.0.1:${SERVER1_PORT:-8441} 127.0.0.1:${SERVER2_PORT:-8442}}
    exec caddy run --config deploy/Caddyfile --adapter caddyfile
    ;;
*)
    fail "There is no such part."
    ;;
esac
