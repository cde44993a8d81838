#!/usr/bin/env -S bash -p
# Finds libtorch, or installs the pinned one into .tools.
#
#   .setup/libtorch.sh                        make sure that it is there
#   .setup/libtorch.sh COMMAND ARG...         run a COMMAND that needs it
#   .setup/libtorch.sh --cuda [COMMAND ...]   the same, with its part for GPUs
#   .setup/libtorch.sh --built [COMMAND ...]  that part alone, for programs that
#                                             have been linked already
#
# COMMAND finds LIBTORCH, a folder with include/ and lib/, in its environment:
# the processor's part, to which programs are linked. They know where it was
# (trainer/learn/build.rs), and need no wrapper to run. What the user has in
# LD_LIBRARY_PATH comes after our folders, as it may have another torch.
#
# The part for GPUs is loaded by a program that is asked to use one, from
# TRISAGE_LIBTORCH: the folder of a Python package torch, or an unpacked
# libtorch, of this version and with lib/libtorch_cuda.so. With --cuda, that is
# the torch of the python3 on PATH if it fits, or else one that is installed
# into .tools. The processor's part is taken from it where there is none yet, so
# a machine that has such a torch needs no network.
#
# A LIBTORCH of this version, or a TRISAGE_LIBTORCH, that is set already is used.
# So is OMP_WAIT_POLICY: without it, libtorch's threads that have nothing to do
# spin instead of sleeping, and take the processor from the sampler's threads
# and whatever else runs; training is many times slower then on a busy machine.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=2.11.0
dir=$tools/libtorch-$version
pin=$(pin_of "$setup/libtorch.txt")
cuda_dir=$tools/libtorch-cuda-$version
cuda_pin=$(pin_of "$setup/libtorch-cuda.txt")

wants_cuda=false wants_cpu=true
case ${1:-} in
    --cuda) wants_cuda=true; shift ;;
    --built) wants_cuda=true wants_cpu=false; shift ;;
esac

# The platform flags take the wheels on any Python: nothing of what is used is a
# Python extension, but the tags name one that it was made for.
wheels=(--python-version 3.12 --implementation cp --abi cp312 --abi none
    --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64
    --platform manylinux_2_25_x86_64 --platform manylinux_2_18_x86_64
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64
    --platform manylinux_2_12_x86_64 --platform manylinux2010_x86_64)

# version_in FILE...: the first version that one of the files tells, if there is any.
version_in() { cat "$@" 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1; }

# Says what keeps FOLDER from being a libtorch of this version with CUDA; says
# nothing if it is one.
lacks() {
    local found
    if [[ ! -e $1/lib/libtorch_cuda.so ]]; then
        echo "it has no lib/libtorch_cuda.so"
    elif [[ ! -e $1/version.py && ! -e $1/build-version ]]; then
        echo "it does not tell its version, in version.py or build-version"
    else
        found=$(version_in "$1/version.py" "$1/build-version") || true
        [[ $found == "$version" ]] || echo "it is of version ${found:-unknown}"
    fi
}

# The same for the processor's part, whose headers tell the version, too.
lacks_cpu() {
    local found
    if [[ ! -e $1/lib/libtorch_cpu.so ]]; then
        echo "has no lib/libtorch_cpu.so"
    else
        found=$(version_in "$1/build-version" "$1"/include/torch/{headeronly,csrc/api/include/torch}/version.h) || true
        [[ -z $found || $found == "$version" ]] || echo "is of version $found"
    fi
}

# The folder of python3's torch, without running anything of it. It may be one that PYTHONPATH names; but modules in the
# current folder are not python3's, and a python3 that does not start has none.
python_torch() {
    command -v python3 >/dev/null || return 0
    (cd / && python3 -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' \
        2>/dev/null) || true
}

# Makes the processor's part from a LIBRARY folder and the INCLUDE folder, and
# whatever further folders hold the two libraries of CUDA that it is linked to.
make_cpu_part() {
    local new=$tmp/libtorch lib=$1 include=$2 library
    mkdir -p "$new/lib"
    cp -r "$include" "$new/include"
    for library in "$lib"/lib{torch_cpu,c10}.so "$lib"/libgomp*; do cp "$library" "$new/lib"; done
    find "$@" -maxdepth 1 \( -name 'libcudart*.so.13' -o -name 'libcupti*.so.13' \) -exec cp {} "$new/lib" \;
    # PyTorch's libtorch.so brings CUDA's part along; this one does not.
    printf '' | g++ -shared -x c++ - -o "$new/lib/libtorch.so" \
        -L"$new/lib" -Wl,--no-as-needed -ltorch_cpu -Wl,-rpath,"\$ORIGIN"
    LD_LIBRARY_PATH='' lone_python / -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$new/lib/libtorch.so" ||
        die "libtorch, as it is in $lib, does not load on this machine; nothing was installed."
    put_in_place "$new" "$dir" "$pin"
}

# The part for GPUs: sets $full to a whole libtorch, if there is one or is to be.
full=
if [[ -n ${TRISAGE_LIBTORCH:-} ]]; then
    full=$TRISAGE_LIBTORCH
    problem=$(lacks "$full")
    [[ -z $problem ]] || die "TRISAGE_LIBTORCH is $full, but $problem; libtorch $version with CUDA is needed."
elif is_installed "$cuda_dir" "$cuda_pin"; then
    full=$cuda_dir/torch
elif $wants_cuda; then
    theirs=$(python_torch)
    problem=${theirs:+$(lacks "$theirs")}
    if [[ -n $theirs && -z $problem ]]; then
        full=$theirs
        say "using the torch of $(command -v python3) ($full)"
    else
        [[ -z $problem ]] || say "the torch of $(command -v python3) does not do: $problem"
        need_platform libtorch "$version"
        need_pip
        need flock util-linux
        (
            lock_tools # until the end of these brackets
            is_installed "$cuda_dir" "$cuda_pin" && exit # another run was faster
            say "installing libtorch $version with CUDA into $tools (once; downloads 2.5 GB, keeps 4 GB)"
            make_tmp
            fetch_wheel "$setup/libtorch-cuda.txt" "$tmp/unpacked" "${wheels[@]}"
            put_in_place "$tmp/unpacked" "$cuda_dir" "$cuda_pin"
        )
        full=$cuda_dir/torch
    fi
fi

if [[ -n ${LIBTORCH:-} ]] && $wants_cpu; then
    problem=$(lacks_cpu "$LIBTORCH")
    if [[ -n $problem ]]; then
        (($# > 0)) || say "your own libtorch ($LIBTORCH) $problem, and $version is needed, so the pinned one is used"
        unset LIBTORCH
    elif (($# == 0)); then
        say "using your own libtorch ($LIBTORCH)"
    fi
fi
if $wants_cpu && [[ -z ${LIBTORCH:-} ]] && ! is_installed "$dir" "$pin"; then
    need_platform libtorch "$version"
    need python3 python3
    need flock util-linux
    need g++ g++
    [[ -n $full ]] || need_pip
    (
        lock_tools # until the end of these brackets
        is_installed "$dir" "$pin" && exit # another run was faster
        if [[ -n $full ]]; then
            say "taking the processor's part of libtorch from $full into $tools (once; 520 MB)"
            make_tmp
            others=()
            for folder in "$full"/../nvidia/*/lib; do [[ ! -d $folder ]] || others+=("$folder"); done
            make_cpu_part "$full/lib" "$full/include" "${others[@]}"
            exit
        fi
        say "installing libtorch $version into $tools (once; downloads 540 MB, keeps 520 MB)"
        make_tmp
        fetch_wheel "$setup/libtorch.txt" "$tmp/unpacked" "${wheels[@]}"
        make_cpu_part "$tmp/unpacked/torch/lib" "$tmp/unpacked/torch/include" "$tmp/unpacked/nvidia/cu13/lib"
    )
fi

(($# > 0)) || exit 0
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
ours=()
if $wants_cpu; then
    export LIBTORCH=${LIBTORCH:-$dir}
    # Only programs of crates that use libtorch themselves know where it is; those that use such a crate do not.
    ours+=("$LIBTORCH/lib")
fi
if [[ -n $full ]]; then
    export TRISAGE_LIBTORCH=$full
    # CUDA's libraries come with it, and no loader looks there by itself for the compiler among them.
    ours+=("$full/lib")
    for folder in "$full"/../nvidia/*/lib; do [[ ! -d $folder ]] || ours+=("$folder"); done
fi
for folder in "${ours[@]}" ${LD_LIBRARY_PATH:+"$LD_LIBRARY_PATH"}; do
    all=${all:+$all:}$folder
done
export LD_LIBRARY_PATH=$all
exec "$@"
