#!/usr/bin/env -S bash -p
# Runs COMMAND ARG... with the pinned libclang, which bindgen loads. Installs it into .tools first; without COMMAND it does
# just that.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=18.1.1
dir=$tools/libclang-$version

ready() {
    new=$(echo "$1"/libclang-*.data/platlib/clang/native)
    lone_python / -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$new/libclang.so" || wrong libclang
}
install libclang "$version" "$dir" "$setup/libclang.txt" ready

(($# > 0)) || exit 0
export LIBCLANG_PATH=$dir
unset BINDGEN_EXTRA_CLANG_ARGS
exec "$@"
