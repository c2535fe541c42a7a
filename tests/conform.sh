#!/bin/bash
# `kvstep conform` on caches that somebody else built (tests/conform/*.c): an honest one
# holds; one that is wrong, dies, ends the process or never answers does not, and the
# program itself survives all of them.
set -u
cd "$(dirname "$0")/.." || exit 1
K=$(realpath "${KVSTEP:-build/kvstep}")
[ -x "$K" ] || { echo "$K: is not there; build it first"; exit 1; }
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
cases=0 failed=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    stdout: /' "$W/out"
    sed 's/^/    stderr: /' "$W/err"
    failed=$((failed + 1))
}

build() { # build NAME: tests/conform/NAME.c -> $W/NAME.so
    ${CC:-cc} -std=gnu17 -g -O1 -Wall -Wextra -shared -fPIC -I. -o "$W/$1.so" \
        "tests/conform/$1.c" || { echo "tests/conform/$1.c cannot be built"; exit 1; }
}

# tried NAME STATUS: builds it and runs the program on it
tried() {
    build "$1"
    status=0 cases=$((cases + 1))
    timeout 600 "$K" conform "$W/$1.so" >"$W/out" 2>"$W/err" </dev/null || status=$?
    [ "$status" = "$2" ] || fail "$1: status $status, not $2"
}

lines() { grep -c -- "$1" "$W/out"; } # lines PATTERN: how many there are

# demand NAME PATTERN COUNT
demand() {
    cases=$((cases + 1))
    [ "$(lines "$2")" = "$3" ] || fail "$1: '$2' not $3 times but $(lines "$2")"
}

# Under sanitizers a foreign library is another matter: its symbols may be missing, and
# its crash is somebody else's.
sanitized() {
    nm -D "$K" 2>/dev/null | grep -qE '__(asan|tsan|msan)_init' && return
    build good
    timeout 600 "$K" conform "$W/good.so" >"$W/out" 2>"$W/err" </dev/null && return 1
    grep -qE 'cannot be loaded:.*_(asan|ubsan|tsan|msan)_' "$W/err"
}
if sanitized; then
    echo "skipped: conform on foreign caches: the program is built with sanitizers"
    exit 0
fi

tried good 0
properties=$(lines '^  holds   .')
[ "$properties" -ge 9 ] || fail "good: only $properties properties"
demand good BROKEN 0
demand good "^$properties of $properties properties hold\$" 1
[ ! -s "$W/err" ] || fail "good: something on stderr"

tried bad 1
demand bad '^  BROKEN  both branches of a fork give what fresh runs give$' 1
demand bad '^  BROKEN  random operations agree with a list of rows$' 1
demand bad '^  holds   each step gives the bits of the oracle$' 1
demand bad '^  holds   after a crop, other tokens give what a fresh run gives$' 1
demand bad 'BROKEN' "$(grep -c '^          .' "$W/out")" # each is followed by its why

tried crash 1
demand crash 'holds' 0
demand crash '^  BROKEN  .' "$properties"
demand crash '^          it ended with signal 11$' "$properties"

tried exit0 1
demand exit0 'holds' 0
demand exit0 '^  BROKEN  .' "$properties"
demand exit0 '^          it ended the process$' "$properties"

export KVSTEP_CONFORM_SECONDS=1
tried endless 1
demand endless 'holds' 0
demand endless '^          it did not end within 1 seconds*$' "$properties"
unset KVSTEP_CONFORM_SECONDS

tried nothing 2
[ "$(wc -l <"$W/err")" = 1 ] || fail "nothing: not one line on stderr"
grep -q '^kvstep: .*nothing\.so: has no function kvstep_cache_open' "$W/err" ||
    fail "nothing: the line does not say what is missing"
[ ! -s "$W/out" ] || fail "nothing: something on stdout"

# The same from where the file is: a name without a slash is no library of the system.
status=0 cases=$((cases + 1))
(cd "$W" && timeout 600 "$K" conform good.so >out 2>err </dev/null) || status=$?
[ "$status" = 0 ] || fail "good.so in the folder itself: status $status"

if [ "$failed" != 0 ]; then
    echo "$failed of $cases checks of kvstep conform failed"
    exit 1
fi
echo "$cases checks of kvstep conform, all passed"
