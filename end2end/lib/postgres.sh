# shellcheck shell=bash
# A throwaway PostgreSQL cluster: its own folder, its own free port on loopback, gone when the tests end.
# Needs tools.sh.

PG_FOLDER=""
PG_USER=""

# Sets PG_BIN to the folder with initdb, the newest version first.
need_postgres() {
    PG_BIN=$(find_postgres) || {
        install "PostgreSQL" postgresql
        PG_BIN=$(find_postgres) || fail "PostgreSQL was installed, but there is no initdb under /usr/lib/postgresql."
    }
    export PG_BIN
}

find_postgres() {
    local folder
    folder=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -t/ -k5,5Vr | head -n 1)
    if [ -n "$folder" ] && [ -x "$folder/initdb" ]; then
        printf '%s\n' "$folder"
    elif command -v initdb >/dev/null && command -v pg_ctl >/dev/null; then
        dirname "$(command -v initdb)"
    else
        return 1
    fi
}

# PostgreSQL refuses to run as root, so root lends it another user.
as_postgres() {
    if [ -z "$PG_USER" ]; then
        "$@"
    else
        (cd / && exec setpriv --reuid "$PG_USER" --regid "$(id -g "$PG_USER")" --clear-groups env HOME="$PG_FOLDER" "$@")
    fi
}

# Starts the cluster and sets TEST_DATABASE_URL, with which a test makes databases of its own.
start_postgres() {
    need_postgres
    say "Starting a throwaway PostgreSQL ($("$PG_BIN/postgres" --version))"
    if [ "$(id -u)" -eq 0 ]; then
        # TMPDIR may be closed to others; /tmp never is.
        PG_FOLDER=$(mktemp -d /tmp/countersign-pg.XXXXXX)
        PG_USER=postgres
        id -u "$PG_USER" >/dev/null 2>&1 || PG_USER=nobody
        chown "$PG_USER" "$PG_FOLDER"
    else
        PG_FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/countersign-pg.XXXXXX")
    fi
    as_postgres "$PG_BIN/initdb" --pgdata "$PG_FOLDER/data" --username countersign --auth trust \
        --encoding UTF8 --locale C --locale-provider icu --icu-locale en-US --no-sync >"$PG_FOLDER/initdb.log" 2>&1 || {
        cat "$PG_FOLDER/initdb.log" >&2
        fail "PostgreSQL's initdb failed."
    }
    local port try
    # Another program may take the port between asking for it and using it.
    for try in 1 2 3 4 5; do
        port=$(free_port)
        # No fsync: a test never survives a power cut. synchronous_commit stays on, because the product relies on it.
        if as_postgres "$PG_BIN/pg_ctl" start --wait --silent --pgdata "$PG_FOLDER/data" --log "$PG_FOLDER/log" --options \
            "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c synchronous_commit=on -c max_connections=300" </dev/null; then
            export TEST_DATABASE_URL="postgres://countersign@127.0.0.1:$port/postgres"
            return
        fi
        printf 'Port %s was taken; try %s of 5.\n' "$port" "$try" >&2
    done
    cat "$PG_FOLDER/log" >&2
    fail "PostgreSQL did not start."
}

stop_postgres() {
    [ -n "$PG_FOLDER" ] || return 0
    if [ -f "$PG_FOLDER/data/postmaster.pid" ]; then
        as_postgres "$PG_BIN/pg_ctl" stop --wait --silent --mode immediate --pgdata "$PG_FOLDER/data" </dev/null || true
    fi
    rm -rf "$PG_FOLDER"
    PG_FOLDER=""
}
