#!/usr/bin/env -S bash -p
# Prints the path of a `just` that is new enough; installs the pinned one into
# .tools if there is none. Called by the script `just` at the root.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=1.59.0
oldest=1.40.0 # what the Justfile was tried with
dir=$tools/just-$version

# The user's own, unless what PATH finds is our own wrapper.
own=$(type -P just || true)
if [[ -n $own && ! $own -ef $root/just ]]; then
    found=$("$own" --version 2>/dev/null || true)
    if [[ $found =~ ^just\ ([0-9.]+) ]] && at_least "$oldest" "${BASH_REMATCH[1]}"; then
        printf '%s\n' "$own"
        exit
    fi
fi

ready() {
    new=$1/rust_just-$version.data/scripts
    chmod +x "$new/just"
    [[ $("$new/just" --version) == "just $version" ]] || wrong just
}
install just "$version" "$dir" "$setup/just.txt" ready
printf '%s\n' "$dir/just"
