# shellcheck shell=bash
# The tools a test run needs. What is missing is installed, or a plain sentence says what to install.

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf '%s: %s\n' "$0" "$*" >&2
    exit 1
}

# The command that may install Debian packages; nothing where nobody may.
apt() {
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    fi
}

may_install() {
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null
}

# install WHAT PACKAGE…: the Debian packages that bring WHAT.
install() {
    local what=$1
    shift
    may_install || fail "$what is missing. Install it (on Debian: apt-get install $*) and run this again."
    say "Installing $what"
    # A new machine may have no list of packages yet, or an old one.
    apt install -y --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt update -qq || fail "$what is missing, and the list of Debian packages cannot be fetched."
    apt install -y --no-install-recommends "$@" >/dev/null || fail "$what could not be installed (packages: $*)."
}

need_rust() {
    command -v cargo >/dev/null || fail "Rust is missing. Install a stable toolchain (https://rustup.rs) and run this again."
    # The embedded database is compiled from C.
    command -v cc >/dev/null || install "a C compiler" build-essential
}

need_node() {
    command -v node >/dev/null || fail "Node.js is missing. Install version 20 or newer and run this again."
    local major
    major=$(node -p 'process.versions.node.split(".")[0]')
    [ "$major" -ge 20 ] || fail "Node.js 20 or newer is needed; this is version $major."
    command -v npm >/dev/null || fail "npm is missing. Install it beside Node.js and run this again."
}

# Sets CHROMIUM to a browser that Playwright can drive.
need_chromium() {
    local candidate
    for candidate in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
        if [ -n "$candidate" ] && [ -x "$candidate" ]; then
            export CHROMIUM=$candidate
            return
        fi
    done
    # Text without a font has no width, and what has no width cannot be clicked.
    install "Chromium" chromium fonts-liberation
    export CHROMIUM=/usr/bin/chromium
    [ -x "$CHROMIUM" ] || fail "Chromium was installed, but there is no $CHROMIUM. Name it in the variable CHROMIUM."
}

# The test runner's own packages, exactly as locked.
need_packages() {
    local folder=$1
    [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return
    say "Installing the browser tests' packages"
    (cd "$folder" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund)
}

# The packages of the agents that are written in Python, in an environment of their own.
need_python_packages() {
    local folder=$1 venv=$1/.venv
    [ "$venv/installed" -nt "$folder/requirements.txt" ] && return
    command -v python3 >/dev/null || install "Python" python3 python3-venv
    say "Installing the Python agents' packages"
    rm -rf "$venv"
    python3 -m venv "$venv" 2>/dev/null || {
        install "Python's venv" python3-venv
        python3 -m venv "$venv"
    }
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$folder/requirements.txt"
    touch "$venv/installed"
}

# A free port on loopback.
free_port() {
    node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); });'
}
