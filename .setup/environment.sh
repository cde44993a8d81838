# The environment in which everything of ours runs; sourced, never run.
#
# A user's environment is made for other projects as well. Here, what would steer our tools in a way that no README of ours
# speaks of is unset; relative paths in variables are made absolute, as recipes run in another folder than the user's; and
# one variable, TRISAGE_HOME, takes what would be written into the checkout somewhere else.
# shellcheck shell=bash disable=SC2034 # what is set is for those who source this

root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." >/dev/null && pwd)

# ---- What is not for us -----------------------------------------------------------------------------------------------
# Other places for `cd`, other rules for the shell and its tools, and options for a make that started us.
unset CDPATH GLOBIGNORE POSIXLY_CORRECT GREP_OPTIONS MAKEFLAGS MFLAGS
# Programs for another machine, and flags that take the place of those that a recipe sets.
unset CARGO_BUILD_TARGET CARGO_ENCODED_RUSTFLAGS
# Flags for other C++ programs: they come after ours, and another standard or library ABI does not go with libtorch. The
# variables may name a target, as in CXXFLAGS_x86_64_unknown_linux_gnu.
unset "${!CFLAGS@}" "${!CXXFLAGS@}" CPPFLAGS {HOST,TARGET}_C{,XX}FLAGS LIBZ_SYS_STATIC
# LIBTORCH alone says which libtorch is used; tch also knows variables for its parts, its ABI and another way to find it.
unset "${!LIBTORCH_@}"

# ---- Where the user is ------------------------------------------------------------------------------------------------
# The Justfile sets TRISAGE_FROM, as recipes run in the checkout's folder.
from=${TRISAGE_FROM:-$PWD}

# absolute PATH: prints it as seen from the user's folder.
absolute() {
    case $1 in
        '' | /*) printf '%s' "$1" ;;
        *) printf '%s' "$from/$1" ;;
    esac
}

for _name in TRISAGE_{HOME,CACHE,RTL,GRAPHS,VECTORS,COVERAGE,LIBTORCH,VITIS_OUT} \
    LIBTORCH VERILATOR_ROOT XILINX_XRT CARGO_HOME CARGO_TARGET_DIR; do
    [[ -z ${!_name:-} ]] || export "$_name=$(absolute "${!_name}")"
done
# Programs: only a name with a folder in it is a path. Arguments may follow.
for _name in TRISAGE_VERILATOR CC CXX; do
    _program=${!_name:-}
    if [[ ${_program%% *} == */* ]]; then export "$_name=$(absolute "$_program")"; fi
done
unset _name _program

# ---- Where things are written -----------------------------------------------------------------------------------------
# `.tools` and `target` are in the checkout, or where TRISAGE_HOME says.
home=${TRISAGE_HOME:-$root}
tools=$home/.tools
if [[ -n ${TRISAGE_HOME:-} ]]; then export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$home/target}; fi
target_dir=${CARGO_TARGET_DIR:-$root/target}

# can_write FOLDER: it can be written, or made and then written.
can_write() {
    local folder=$1
    until [[ -e $folder || $folder == / ]]; do folder=$(dirname -- "$folder"); done
    [[ -d $folder && -w $folder ]]
}

# Cargo keeps what it downloads in the user's home, which may not be there at all.
cargo_home=${CARGO_HOME:-${HOME:-$(getent passwd "$EUID" | cut -d : -f 6 || true)}/.cargo}
if [[ -n ${TRISAGE_HOME:-} && ! -d $cargo_home ]] && ! can_write "$cargo_home"; then
    cargo_home=$home/.cargo
    export CARGO_HOME=$cargo_home
fi
