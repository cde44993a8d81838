#!/usr/bin/env -S bash -p
# Runs `cargo test ARG...`, and says once more at the end what has failed, as
# that may stand thousands of lines further up.
set -uo pipefail

log=$(mktemp) || exit
trap 'rm -f "$log"' EXIT

# With this, snapshots that differ would pass.
unset INSTA_FORCE_PASS
"$(dirname -- "${BASH_SOURCE[0]}")/cargo.sh" test "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

if ((status != 0)); then
    printf '\n== what has failed, once more\n'
    # A test program ends with "failures:", what each has printed, their names, and its result. A program that crashes, or
    # does not compile, has an error of cargo instead. The user may have asked for colours, which are no part of the text.
    awk '{gsub(/\033(\[[0-9;]*[A-Za-z]|\(B)/, "")}
         /^     Running |^   Doc-tests /{program = $0}
         /^failures:$/ && !inside{inside = 1; print program}
         inside{print}
         /^test result: FAILED/{inside = 0}
         /^error/ || /: error while loading/ || /^Caused by:/ || /^  process did/{print}' "$log"
fi
exit "$status"
