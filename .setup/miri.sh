#!/usr/bin/env -S bash -p
# Installs a pinned nightly Rust with Miri into .tools.
#
#   .setup/miri.sh             make sure that it is there
#   .setup/miri.sh test ARG... run `cargo miri test ARG...` with it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

nightly="nightly-2026-05-20"
need rustup rustup
dir=$tools/rust-$nightly

if ! is_installed "$dir" "$nightly"; then
    need flock util-linux
    (
        lock_tools # until the end of these brackets
        is_installed "$dir" "$nightly" && exit # another run was faster
        say "installing Rust $nightly with Miri into $tools (once)"
        make_tmp
        # Where rustup keeps toolchains must not move later, so it is installed in place, and counts when the pin is there.
        rm -rf "$dir"
        RUSTUP_HOME=$dir rustup toolchain install "$nightly" --no-self-update --profile minimal \
            --component miri --component rust-src >"$tmp/log" 2>&1 ||
            { cat "$tmp/log" >&2; die "the installation of Rust $nightly failed (see above)."; }
        printf '%s\n' "$nightly" >"$dir/.pin"
    )
fi

(($# > 0)) || exit 0
export RUSTUP_HOME=$dir RUSTUP_TOOLCHAIN=$nightly
exec cargo miri "$@"
