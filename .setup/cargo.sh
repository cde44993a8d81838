#!/usr/bin/env -S bash -p
# Runs `cargo ARG...` for a recipe that hands on what its user has given: relative paths among cargo's options are found from
# where the user is.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=environment.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/environment.sh"

# --config takes a path or KEY=VALUE.
config() {
    if [[ $1 != *=* || -e $from/$1 ]]; then absolute "$1"; else printf '%s' "$1"; fi
}

args=()
while (($# > 0)); do
    case $1 in
        --) break ;; # what follows is not cargo's
        --target-dir | --manifest-path | --lockfile-path | --artifact-dir)
            args+=("$1")
            if (($# > 1)); then shift; args+=("$(absolute "$1")"); fi
            ;;
        --target-dir=* | --manifest-path=* | --lockfile-path=* | --artifact-dir=*)
            args+=("${1%%=*}=$(absolute "${1#*=}")")
            ;;
        --config)
            args+=("$1")
            if (($# > 1)); then shift; args+=("$(config "$1")"); fi
            ;;
        --config=*) args+=("--config=$(config "${1#*=}")") ;;
        *) args+=("$1") ;;
    esac
    shift
done
exec cargo "${args[@]}" "$@"
