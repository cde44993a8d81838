#!/usr/bin/env bash
# Installs the pinned Yosys, as a Python module, into .tools.
#
#   .setup/pyosys.sh                    make sure that it is there
#   .setup/pyosys.sh SCRIPT.py ARG...   run a Python script that imports pyosys
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=0.70
need python3 python3
python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# The wheel is made for one Python, so another Python gets another folder.
dir=$tools/pyosys-$version-python$python
pin=$(pin_of "$setup/pyosys.txt")

if ! is_installed "$dir" "$pin"; then
    need_platform pyosys "$version"
    need_pip
    need flock util-linux
    if ! at_least 3.10 "$python" || ! at_least "$python" 3.14; then
        die "pyosys $version is made for Python 3.10 to 3.14, and python3 is $python."
    fi
    (
        lock_tools # until the end of these brackets
        is_installed "$dir" "$pin" && exit # another run was faster
        say "installing Yosys $version (pyosys) into .tools (once)"
        make_tmp
        fetch_wheel "$setup/pyosys.txt" "$tmp/unpacked"
        chmod +x "$tmp/unpacked/pyosys/yosys-abc"
        PYTHONPATH=$tmp/unpacked python3 -c 'from pyosys import libyosys' ||
            die "the downloaded pyosys does not run on this machine; nothing was installed."
        put_in_place "$tmp/unpacked" "$dir" "$pin"
    )
fi

(($# > 0)) || exit 0
PYTHONPATH=$dir exec python3 "$@"
