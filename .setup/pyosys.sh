#!/usr/bin/env -S bash -p
# Installs the pinned Yosys, as a Python module, into .tools.
#
#   .setup/pyosys.sh                    make sure that it is there
#   .setup/pyosys.sh SCRIPT.py ARG...   run a Python script that imports pyosys
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=0.70
need python3 python3
python=$(python3 -I -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# The wheel is made for one Python, so another Python gets another folder.
dir=$tools/pyosys-$version-python$python

if ! at_least 3.10 "$python" || ! at_least "$python" 3.14; then
    die "pyosys $version is made for Python 3.10 to 3.14, and python3 is $python."
fi
ready() {
    new=$1
    chmod +x "$new/pyosys/yosys-abc"
    lone_python "$new" -c 'from pyosys import libyosys' || wrong pyosys
}
install pyosys "$version" "$dir" "$setup/pyosys.txt" ready

(($# > 0)) || exit 0
need_place "$target_dir" # what is run writes its logs there
unset "${!PYTHON@}"
PYTHONPATH=$dir exec python3 "$@"
