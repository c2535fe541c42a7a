#!/bin/bash
# run-tests.sh LOGS TEST...: runs Check programs and test scripts, as many at once as there
# are processors, and prints each one's closing line. A test fails by its status; a Check
# program also when it ran no check at all (an empty suite says 100% and 0). The whole
# output of every test stays in LOGS.
set -euo pipefail

one() {
    local test=$1 logs=$2 name log status=0 start=$EPOCHREALTIME closing
    name=$(basename "$test")
    log=$logs/$name.log
    case $test in
    *.sh) bash "$test" >"$log" 2>&1 </dev/null || status=$? ;;
    *) "$test" >"$log" 2>&1 </dev/null || status=$? ;;
    esac
    closing=$(grep -E '^[0-9]+%: Checks: [0-9]+, ' "$log" || true)
    case $test in
    *.sh) [ -n "$closing" ] || closing=$(tail -n 1 "$log") ;;
    *)
        if [ -z "$closing" ]; then
            closing="it ended before its last line"
            [ "$status" != 0 ] || status=no-closing-line
        elif [[ $closing == *"Checks: 0,"* ]]; then
            status=no-checks
        fi
        ;;
    esac
    local seconds
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    {
        echo "$name ($seconds s)"
        if [ "$status" != 0 ]; then
            tail -n 60 "$log" | grep -vxF -- "$closing" || true
            echo "FAILED: $test, status $status, all output in $log"
            echo "$name" >>"$logs/failed"
        else
            grep -iE '^skipped' "$log" || true
        fi
        echo "$closing"
    } >"$log.report"
    cat "$log.report" # in one write: two tests may end together
}

if [ "$1" = --one ]; then
    one "$3" "$2"
    exit 0
fi

# Tests run side by side: one thread each unless a test asks for more, and nobody spins.
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

logs=$1
shift
[ $# -gt 0 ] || { echo "there are no tests to run"; exit 1; }
rm -rf "$logs"
mkdir -p "$logs"
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "$0" --one "$logs"
if [ -e "$logs/failed" ]; then
    echo "failed: $(sort "$logs/failed" | tr '\n' ' ')"
    exit 1
fi
echo "$# test programs, all passed"
