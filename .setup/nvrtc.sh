#!/usr/bin/env -S bash -p
# Finds CUDA's run-time compiler, libnvrtc, or installs the pinned one into .tools. It compiles without a GPU or a driver.
#
#   .setup/nvrtc.sh                 make sure that it is there
#   .setup/nvrtc.sh COMMAND ARG...  run a COMMAND that loads it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=13.0.88
dir=$tools/nvrtc-$version

ready() {
    new=$1/nvidia/cu13
    LD_LIBRARY_PATH=$new/lib lone_python / -c 'import ctypes; ctypes.CDLL("libnvrtc.so.13")' || wrong libnvrtc
}
install libnvrtc "$version" "$dir" "$setup/nvrtc.txt" ready \
    --python-version 3.12 --implementation py --abi none --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 \
    --platform manylinux2010_x86_64 --platform manylinux_2_12_x86_64

(($# > 0)) || exit 0
# Behind the others: libtorch's part for GPUs brings its own.
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$dir/lib
exec "$@"
