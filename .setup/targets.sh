#!/bin/bash
# targets.sh FOLDER: the same bits elsewhere. Builds core and tests/digests.c alone for
# every compiler, level and machine in the table, runs it, compares with the golden list,
# and prints one line per build.
set -euo pipefail

golden=tests/golden/digests.txt

# name | runner | make's variables
table() {
    local cc level arch
    if [ "$(uname -m)" = x86_64 ]; then
        for cc in gcc clang; do
            for level in 0 2 3; do
                # v2 has no fma instruction and gets the base kernels alone: fmaf is a call.
                echo "$cc-O$level-x86-64-v2||CC=$cc OPT=-O$level ARCH=x86-64-v2 KERNEL_TARGETS=base"
                for arch in x86-64-v3 native; do
                    echo "$cc-O$level-$arch||CC=$cc OPT=-O$level ARCH=$arch"
                done
            done
        done
    else
        for cc in gcc clang; do
            for level in 0 2 3; do echo "$cc-O$level||CC=$cc OPT=-O$level"; done
        done
    fi
    echo "gcc-O2-aarch64|qemu-aarch64-static|CC=aarch64-linux-gnu-gcc LDFLAGS=-static"
    echo "clang-O2-wasm32|node --no-warnings .setup/wasi.mjs|CC='clang --target=wasm32-wasi' LDFLAGS=-Wl,-z,stack-size=1048576"
}

one() {
    local folder=$1 name runner variables start=$EPOCHREALTIME
    IFS='|' read -r name runner variables <<<"$2"
    local build=$folder/$name verdict=equal
    if [[ $name == *v3 ]] && ! grep -qw avx2 /proc/cpuinfo; then
        printf '%-24s skipped: this machine has no AVX2\n' "$name"
        return
    fi
    mkdir -p "$build"
    if ! eval "make -s -j1 CORE_ONLY=yes BUILD=$build CFLAGS=-g0 CPPFLAGS='-isystem $folder/include' $variables $build/digests" >"$build/log" 2>&1; then
        verdict="DOES NOT BUILD, see $build/log"
    elif ! $runner "$build/digests" >"$build/digests.txt" 2>>"$build/log"; then
        verdict="DOES NOT RUN, see $build/log"
    elif ! diff "$golden" "$build/digests.txt" >"$build/difference"; then
        verdict="OTHER BITS, see $build/difference"
    fi
    [ "$verdict" = equal ] || echo "$name" >>"$folder/failed"
    awk -v n="$name" -v v="$verdict" -v a="$start" -v b="$EPOCHREALTIME" \
        'BEGIN { printf "%-24s %5.1f s  %s\n", n, b - a, v }'
}

if [ "$1" = --one ]; then
    one "$2" "$3"
    exit 0
fi

folder=$1
mkdir -p "$folder/include"
rm -f "$folder/failed"
unset MAKEFLAGS MAKELEVEL MFLAGS
# A folder with this one header: the system's own must not reach a cross compiler.
header=$(printf '#include <xxhash.h>\n' | gcc -M -x c - | grep -o '[^ ]*/xxhash\.h' | head -n 1)
ln -sf "$header" "$folder/include/xxhash.h"
table | tr '\n' '\0' | xargs -0 -n 1 -P "$(nproc)" "$0" --one "$folder"
if [ -e "$folder/failed" ]; then
    echo "targets: not the same bits: $(sort "$folder/failed" | tr '\n' ' ')"
    exit 1
fi
echo "targets: $(table | wc -l) builds, $(wc -l <"$golden") digests each, all equal"
