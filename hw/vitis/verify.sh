#!/usr/bin/env -S bash -p
# Tries an xclbin on the card of this machine: `trisage device validate`, then a comparison of what the card samples with the
# reference.
#
# usage: hw/vitis/verify.sh [XCLBIN] [OPTION...]
#
# Without XCLBIN it takes the one under target/vitis, if there is one alone. Options go to both commands. What is missing is
# said in one sentence, with exit code 2. docs/alveo.md says how to set up such a machine.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../.setup/environment.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../.setup/environment.sh"

refuse() { printf 'hw-verify: %s\n' "$*" >&2; exit 2; }

xclbin=
if [[ $# -gt 0 && $1 != -* ]]; then
    xclbin=$1
    shift
    [[ -f $xclbin ]] || refuse "the xclbin $xclbin does not exist"
else
    shopt -s nullglob
    built=()
    for file in "${TRISAGE_VITIS_OUT:-$target_dir/vitis}"/*/*.xclbin; do
        [[ $file == *-hw_emu.xclbin ]] || built+=("$file")
    done
    case ${#built[@]} in
        0) refuse "there is no xclbin under target/vitis; build one with ./just hw-build BOARD, or name one" ;;
        1) xclbin=${built[0]} ;;
        *) refuse "there are ${#built[@]} xclbins under target/vitis; name one of them: ./just hw-verify XCLBIN" ;;
    esac
fi

[[ -z ${XCL_EMULATION_MODE:-} ]] ||
    refuse "XCL_EMULATION_MODE is '$XCL_EMULATION_MODE', so XRT would not use the card; unset it"
[[ -n ${XILINX_XRT:-} ]] || refuse "XILINX_XRT is not set; source /opt/xilinx/xrt/setup.sh first"
[[ -e $XILINX_XRT/lib/libxrt_core.so.2 ]] ||
    refuse "XRT's library for cards, $XILINX_XRT/lib/libxrt_core.so.2, does not exist; install XRT, or set XILINX_XRT to its folder"
# Each card that the driver has is a link with its place on the bus.
cards=("${TRISAGE_SYSFS:-/sys}"/bus/pci/drivers/xocl/*:*:*.*)
[[ -e ${cards[0]:-} ]] ||
    refuse "XRT's driver xocl has no card; look with lspci -d 10ee: and 'modprobe xocl' (docs/alveo.md, \"When it does not work\")"

# Tests name the program; otherwise cargo builds it, in the checkout, and it runs where the user is.
trisage() {
    if [[ -n ${TRISAGE_PROGRAM:-} ]]; then "$TRISAGE_PROGRAM" "$@"
    else (cd -- "$root" && cargo run --quiet --release --bin trisage -- -C "$from" "$@"); fi
}

xclbin=$(realpath "$xclbin")
trisage device validate --xclbin "$xclbin" "$@"
for graph in "$root/tests/data/cora" gen:hub:nodes=3000,hubs=4 gen:star:nodes=5000 gen:empty:nodes=100 gen:multi:nodes=500; do
    printf '\n== xrt: %s\n' "$graph"
    trisage verify --backend xrt --xclbin "$xclbin" "$@" --graph "$graph" --fanouts 10,10,10 --iterations 6 --seed 1
done
