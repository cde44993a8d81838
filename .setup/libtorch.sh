#!/usr/bin/env bash
# Finds libtorch, or installs the pinned one into .tools.
#
#   .setup/libtorch.sh                 make sure that it is there
#   .setup/libtorch.sh COMMAND ARG...  run a COMMAND that needs it
#
# COMMAND finds LIBTORCH, a folder with include/ and lib/, in its environment.
# A LIBTORCH that is set already is used as it is. Programs that were linked to
# the library know where it is (trainer/build.rs), and need no wrapper to run.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=2.11.0
dir=$tools/libtorch-$version
pin=$(pin_of "$setup/libtorch.txt")

if [[ -n ${LIBTORCH:-} ]]; then
    (($# > 0)) || say "using your own libtorch ($LIBTORCH)"
elif ! is_installed "$dir" "$pin"; then
    need_platform libtorch "$version"
    need_pip
    need flock util-linux
    need g++ g++
    (
        lock_tools # until the end of these brackets
        is_installed "$dir" "$pin" && exit # another run was faster
        say "installing libtorch $version into .tools (once; downloads 540 MB, keeps 520 MB)"
        make_tmp
        # The platform flags take the wheels on any Python: nothing of what is
        # used is a Python extension, but the tags name one that it was made for.
        fetch_wheel "$setup/libtorch.txt" "$tmp/unpacked" \
            --python-version 3.12 --implementation cp --abi cp312 --abi none \
            --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64
        new=$tmp/libtorch
        mkdir -p "$new/lib"
        mv "$tmp/unpacked/torch/include" "$new/include"
        mv "$tmp"/unpacked/torch/lib/lib{torch_cpu,c10}.so "$tmp"/unpacked/torch/lib/libgomp* \
            "$tmp"/unpacked/nvidia/cu13/lib/lib{cudart,cupti}.so.13 "$new/lib"
        # PyTorch's libtorch.so brings CUDA's part along; this one does not.
        printf '' | g++ -shared -x c++ - -o "$new/lib/libtorch.so" \
            -L"$new/lib" -Wl,--no-as-needed -ltorch_cpu -Wl,-rpath,"\$ORIGIN"
        python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$new/lib/libtorch.so" ||
            die "the downloaded libtorch does not load on this machine; nothing was installed."
        put_in_place "$new" "$dir" "$pin"
    )
fi

(($# > 0)) || exit 0
export LIBTORCH=${LIBTORCH:-$dir}
exec "$@"
