#!/bin/bash
# fuzz.sh FOLDER SECONDS: runs every fuzzer in FOLDER that long, all at once, from the
# stored corpus tests/fuzz/corpus/<name>/. New inputs of interest stay in FOLDER/found/<name>/, an input that breaks something in FOLDER/broken-<name>-*.
set -euo pipefail

one() {
    local folder=$1 seconds=$2 program=$3 name status=0
    name=${program##*/fuzz_}
    local found=$folder/found/$name corpus=tests/fuzz/corpus/$name log=$folder/$name.log
    mkdir -p "$found"
    local folders=("$found")
    [ ! -d "$corpus" ] || folders+=("$corpus")
    "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$folder/broken-$name-" "${folders[@]}" >"$log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        tail -n 40 "$log"
        echo "fuzz $name: FAILED, status $status, all output in $log"
        return 1
    fi
    echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs in $seconds s, nothing broke"
}

if [ "$1" = --one ]; then
    one "$2" "$3" "$4"
    exit
fi

folder=$1
seconds=$2
shopt -s nullglob
programs=()
for source in tests/fuzz/fuzz_*.c; do
    name=${source##*/}
    programs+=("$folder/${name%.c}")
done
[ ${#programs[@]} -gt 0 ] || { echo "there is nothing to fuzz"; exit 1; }
printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "${#programs[@]}" "$0" --one "$folder" "$seconds"
