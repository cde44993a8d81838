#!/usr/bin/env -S bash -p
# Checks for the compilers that every recipe needs and that we do not install, and for the place where they write.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

command -v cargo >/dev/null ||
    die "cargo is missing; install Rust first (with rustup; Cargo.toml says which version is needed)."
need g++ g++ # compiles the RTL models, and its package brings the linker
need_place "$target_dir"
[[ -e $cargo_home ]] || can_write "$cargo_home" ||
    die "cargo's folder $cargo_home cannot be made; set CARGO_HOME, or TRISAGE_HOME, which then takes that too."
