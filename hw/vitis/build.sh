#!/usr/bin/env -S bash -p
# Builds the xclbin of a board: packages the kernel with Vivado, then links three of them with v++.
#
# usage: hw/vitis/build.sh BOARD [MHZ] [hw|hw_emu]
#
# Needs Vitis with the board's platform (docs/alveo.md). What is missing is said before anything is written, with exit code
# 2. The build goes on in target/vitis/BOARD/work, which stays for its reports and logs; the xclbin appears beside it when
# all is done, under a name that says board, channels, clock and commit.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../.setup/environment.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../.setup/environment.sh"

refuse() { printf 'hw-build: %s\n' "$*" >&2; exit 2; }
fail() { printf 'hw-build: %s\n' "$*" >&2; exit 1; }
say() { printf 'hw-build: %s\n' "$*" >&2; }

# ---- What is asked for ------------------------------------------------------------------------------------------------
[[ $# -ge 1 && $# -le 3 ]] || refuse "usage: ./just hw-build BOARD [MHZ] [hw|hw_emu]; boards are U200, U280 and U55C"
mhz=${2:-300} target=${3:-hw}
[[ $mhz =~ ^[1-9][0-9]{1,2}$ && $mhz -ge 50 && $mhz -le 500 ]] ||
    refuse "the frequency '$mhz' is not a whole number of MHz from 50 to 500"
[[ $target == hw || $target == hw_emu ]] || refuse "the target '$target' is not known; there are hw and hw_emu"

# Tests name the program; otherwise cargo builds it.
kernel_files() {
    if [[ -n ${TRISAGE_KERNEL_FILES:-} ]]; then "$TRISAGE_KERNEL_FILES" "$@"
    else (cd -- "$root" && cargo run --quiet --release -p hw --bin kernel-files -- "$@"); fi
}
facts=$(kernel_files "$1") || exit 2
read -r platform channels <<<"$facts"
board=${1,,}
platform=${TRISAGE_PLATFORM:-$platform}

# ---- What is there ----------------------------------------------------------------------------------------------------
for tool in vivado v++; do
    command -v "$tool" >/dev/null ||
        refuse "$tool is not on PATH; source settings64.sh of Vitis first (it brings Vivado and v++)"
done
[[ $target == hw ]] || command -v emconfigutil >/dev/null ||
    refuse "emconfigutil is not on PATH; source settings64.sh of Vitis first (hw_emu needs it)"

# A platform is a file, or a name that is looked for where v++ looks.
find_platform() {
    local folder folders
    if [[ $platform == *.xpfm ]]; then
        [[ -f $platform ]] || refuse "the platform file $platform (TRISAGE_PLATFORM) does not exist"
        return
    fi
    IFS=: read -ra folders <<<"${PLATFORM_REPO_PATHS:-}:/opt/xilinx/platforms"
    for folder in "${folders[@]}"; do
        [[ -n $folder ]] || continue
        if [[ -f $folder/$platform.xpfm ]]; then platform=$folder/$platform.xpfm; return; fi
        if [[ -f $folder/$platform/$platform.xpfm ]]; then platform=$folder/$platform/$platform.xpfm; return; fi
    done
    refuse "the platform $platform was found neither in PLATFORM_REPO_PATHS ('${PLATFORM_REPO_PATHS:-}') nor in" \
        "/opt/xilinx/platforms; install its development package, or name another one in TRISAGE_PLATFORM"
}
find_platform
platform=$(realpath -- "$platform") # tools run in another folder

# Which licence a device needs, only Vivado knows; but a file that is named has to be there.
for name in XILINXD_LICENSE_FILE LM_LICENSE_FILE; do
    IFS=: read -ra licences <<<"${!name:-}"
    for i in "${!licences[@]}"; do
        licence=${licences[i]}
        [[ -z $licence || $licence == *@* || -e $licence ]] ||
            refuse "the licence file $licence (XILINXD_LICENSE_FILE or LM_LICENSE_FILE) does not exist"
        [[ $licence == *@* ]] || licences[i]=$(absolute "$licence")
    done
    [[ -z ${!name:-} ]] || export "$name=$(IFS=:; printf '%s' "${licences[*]}")"
done

# ---- Build ------------------------------------------------------------------------------------------------------------
commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null) || commit=unknown
[[ -z $(git -C "$root" status --porcelain -- hw 2>/dev/null) ]] || commit+=-changed
suffix=
[[ $target == hw ]] || suffix=-$target
name=trisage-$board-${channels}ch-${mhz}mhz-$commit$suffix

out=${TRISAGE_VITIS_OUT:-$target_dir/vitis}/$board
work=$out/work
link=$root/hw/vitis/$board.cfg
can_write "$out" ||
    refuse "$out cannot be written by $(id -un); name a folder that can in TRISAGE_VITIS_OUT, or in TRISAGE_HOME"
mkdir -p "$out"
exec 9>"$out/.lock"
flock -n 9 || refuse "another build for this board is running in $out"
rm -rf "$work"
mkdir -p "$work/kernel" "$work/temp" "$work/logs" "$work/reports"
kernel_files "$1" "$link" "$work/kernel" || exit 2

# run LOG COMMAND...: says where to look when it fails, and what a missing licence looks like.
run() {
    local log=$1
    shift
    (cd "$work" && "$@") >"$log" 2>&1 && return
    rm -f "$work"/*.xclbin # what it has left is not to be taken for one
    if grep -q 'Common 17-345' "$log"; then
        refuse "Vivado has no licence for this device; set XILINXD_LICENSE_FILE (its words are in $log)"
    fi
    tail -n 20 "$log" >&2
    fail "$1 failed; its output is in $log"
}

say "packaging the kernel with $channels index channels"
run "$work/package.log" vivado -mode batch -nojournal -nolog -source "$root/hw/vitis/package.tcl" \
    -tclargs "$root/hw/rtl/files.f" "$work/kernel" "$work" "$work/trisage_sampler.xo"
[[ -s $work/trisage_sampler.xo ]] || fail "Vivado made no trisage_sampler.xo; its output is in $work/package.log"

say "linking for $platform at $mhz MHz, target $target; this takes hours"
run "$work/link.log" v++ --link --target "$target" --platform "$platform" --config "$link" --kernel_frequency "$mhz" \
    --temp_dir "$work/temp" --log_dir "$work/logs" --report_dir "$work/reports" \
    --output "$work/$name.xclbin" "$work/trisage_sampler.xo"
[[ -s $work/$name.xclbin ]] || fail "v++ made no xclbin; its output is in $work/link.log"
[[ $target == hw ]] || run "$work/emconfig.log" emconfigutil --platform "$platform" --nd 1 --od "$work"

[[ $target == hw ]] || mv "$work/emconfig.json" "$out/emconfig.json"
mv "$work/$name.xclbin" "$out/$name.xclbin"
say "built $out/$name.xclbin"
