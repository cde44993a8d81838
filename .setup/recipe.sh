#!/usr/bin/env -S bash -p
# Runs one line of a recipe: `recipe.sh LINE RECIPE ARG...`, as the Justfile's `set shell` says.
#
# The line runs in the checkout's folder, wherever the user is ($TRISAGE_FROM), and in the environment of environment.sh.
# With -p, bash runs nothing of the user's first (BASH_ENV, functions that are exported), here and in all our scripts.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=environment.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/environment.sh"

cd -- "$root"
export target_dir
exec bash -p -euo pipefail -c "$@"
