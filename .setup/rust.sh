#!/usr/bin/env bash
# Checks for the compilers that every recipe needs and that we do not install.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v cargo >/dev/null ||
    die "cargo is missing; install Rust first (with rustup; Cargo.toml says which version is needed)."
need g++ g++ # compiles the RTL models, and its package brings the linker
