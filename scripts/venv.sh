# Sourced by scripts/up and scripts/test from the checkout's root: makes sure that .venv holds exactly
# what requirements.lock names. Safe to interrupt: the stamp is written last.

find_python() {
    for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "error: Python 3.11 or newer with the venv module was not found" >&2
    echo "  fix: install it (Debian, Ubuntu: apt-get install python3 python3-venv), or set PYTHON to one" >&2
    exit 1
}

make_venv() {
    # What one agent needs beside what all have; see scripts/lock.
    own="$(find agents -mindepth 2 -maxdepth 2 -name requirements.lock | sort)"
    # The path is part of the stamp: a venv does not survive being moved.
    wanted="$(pwd) $(cat requirements.lock pyproject.toml $own | cksum)"
    if [ "$(cat .venv/stamp 2>/dev/null)" = "$wanted" ] && .venv/bin/python -c '' 2>/dev/null; then
        return
    fi
    python="$(find_python)"
    echo "Installing what requirements.lock names into .venv (about a minute, once) …" >&2
    rm -f .venv/stamp
    "$python" -m venv --clear .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
    for lock in $own; do
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
    done
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    echo "$wanted" > .venv/stamp
}

make_venv
