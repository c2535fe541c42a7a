#!/bin/bash
# lint.sh FOLDER FLAG...: clang-tidy (.clang-tidy holds its checks) and cppcheck over our
# own sources; both must find nothing.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder/cppcheck"
jobs=$(nproc)

sources() { find core chapters viz tests -name '*.c' | sort; }

# One file a run: with several, clang-tidy 14 takes every later va_list for uninitialized.
sources | xargs -P "$jobs" -n 1 sh -c '
    out=$(clang-tidy --quiet "$2" -- $1 2>&1) || { printf "%s\n" "$out"; exit 1; }' tidy "$*"
echo "clang-tidy: clean"

defines=()
for flag in "$@"; do
    case $flag in -D*) defines+=("$flag") ;; esac
done
sources | cppcheck --file-list=- --quiet -j "$jobs" --cppcheck-build-dir="$folder/cppcheck" \
    --std=c11 --library=posix --enable=warning,performance --inline-suppr \
    --suppress=missingIncludeSystem --suppress=arrayIndexThenCheck \
    '--suppress=invalidFunctionArg:tests/*' --error-exitcode=1 \
    -I . "${defines[@]}"
echo "cppcheck: clean"
