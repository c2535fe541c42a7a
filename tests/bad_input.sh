#!/bin/bash
# Bad input to the real program ($KVSTEP): each case must end with status 2, exactly one
# line on stderr that begins with "kvstep: ", nothing on stdout, and no file left behind.
# A few good runs in between show that the files the bad ones are made from are good.
set -u
cd "$(dirname "$0")/.." || exit 1
K=$(realpath "${KVSTEP:-build/kvstep}")
[ -x "$K" ] || { echo "$K: is not there; build it first"; exit 1; }
S=$(mktemp -d) # what was printed
W=$(mktemp -d) # where the program runs; must stay as it is
trap 'rm -rf "$S" "$W"' EXIT
cd "$W" || exit 1
cases=0 failed=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    stderr: /' "$S/err" | head -n 5
    failed=$((failed + 1))
}

# The files in the folder and what they are, to see a leftover or a touched one.
listing() { ls -lA --time-style=full-iso "$W"; }

# judge WHAT...: of a run with status $status
judge() {
    cases=$((cases + 1))
    [ "$status" = 2 ] || { fail "status $status, not 2: $*"; return; }
    [ "$(wc -l <"$S/err")" = 1 ] || { fail "not one line on stderr: $*"; return; }
    grep -q '^kvstep: .' "$S/err" || { fail "the line does not begin with kvstep: $*"; return; }
    [ ! -s "$S/out" ] || { fail "something on stdout: $*"; return; }
    [ "$(listing)" = "$before" ] || fail "a file was left or changed: $*"
}

# refuses ARGUMENT...
refuses() {
    before=$(listing) status=0
    timeout 60 "$K" "$@" >"$S/out" 2>"$S/err" </dev/null || status=$?
    judge "$@"
}

# says TEXT ARGUMENT...: refuses, and the line contains the text
says() {
    local text=$1
    shift
    refuses "$@"
    grep -qF -- "$text" "$S/err" || fail "the line does not say '$text': $*"
}

# accepts ARGUMENT...: status 0 and nothing on stderr
accepts() {
    status=0 cases=$((cases + 1))
    timeout 60 "$K" "$@" >"$S/out" 2>"$S/err" </dev/null || status=$?
    if [ "$status" != 0 ] || [ -s "$S/err" ] || [ ! -s "$S/out" ]; then
        fail "status $status: $*"
    fi
}

# int32 NUMBER... and floats 0, as bytes of a file, little-endian
int32() {
    local n
    for n in "$@"; do
        # shellcheck disable=SC2059
        printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((n & 255)) $((n >> 8 & 255)) \
            $((n >> 16 & 255)) $((n >> 24 & 255)))"
    done
}
zeros() { head -c $(($1 * 4)) /dev/zero; }

# put FILE OFFSET: overwrites from there with stdin
put() { dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

echo "commands"
accepts
accepts help
accepts help cache
accepts cache --help
accepts --version
accepts cache --tokens 2 --quiet
for command in forward generate attention; do
    accepts $command
    accepts $command --quiet
    accepts help $command
done
accepts 0
accepts 1 --tokens 2
accepts 2
says "did you mean cache?" cahce
says "did you mean forward?" foward
says "did you mean generate?" generat
says "did you mean attention?" atention
says "did you mean compare?" compar
says "unknown command 'nothing'" nothing
says "unknown command ''" ""
says "did you mean cache?" help cahce
refuses help cache cache
says "kvstep cache --json" --json

echo "options"
says "did you mean --tokens?" cache --tokns 3
says "did you mean --tokens?" cache --token 3
says "did you mean --prompt?" cache --promt x
refuses cache --nope
refuses cache -x
refuses cache --
refuses cache word
says "needs a value" cache --tokens
says "needs a value" cache --prompt
says "needs a value" cache --tokens --quiet
says "takes no value" cache --quiet=1
for value in 0 -3 +3 '' ' 3' 3x 0x3 3.5 1e3 99999999999999999999 1073741825; do
    says "--tokens is '$value'" cache --tokens "$value"
done
for value in -1 nan inf 1e999 0x1 x '' 101; do refuses cache --temperature "$value"; done
for value in 0 -0.5 1.5 nan x ''; do refuses cache --top-p "$value"; done
for value in -1 18446744073709551616 x; do refuses cache --seed "$value"; done
for option in ctx chunk; do
    for value in 0 -1 x 99999999999999999999; do refuses cache --$option "$value"; done
done
says "ring" cache --cache rings
says "f32" cache --cache-type-k f31
says "full rule" cache --window 8 --scores dense
says "give one" cache --window 8 --max-cached 8
says "max-cached" cache --evict sinks
says "no room" cache --max-cached 4 --evict sinks --sinks 4
says "over the model" cache --window 513
says "over the model" cache --max-cached 513
says "cannot be stored as q8_0" cache --model random:dim=24 --cache-type-k q8_0
for option in window max-cached sinks block-size; do
    for value in 0 -1 x 99999999999999999999; do refuses cache --$option "$value"; done
done
says "needs the cache to try" conform
says "cannot be loaded" conform nowhere.so
says "cannot be loaded" conform README.md
says "not an option" conform one.so two.so
says "fast" cache --kernels best
says "causal" cache --scores caussal
refuses cache --logits some
refuses cache --trace-attention

# An option of one command is none of another's.
refuses forward --tokens 3
refuses forward --layer 0
refuses generate --cache contiguous
refuses generate --no-mask
refuses attention --scores dense
says "--layer 2: the model has layers 0 to 1" attention --layer 2
says "--head 4: layer 0 has heads 0 to 3" attention --head 4
for option in layer head shift; do
    for value in -1 x '' 1e3 99999999999999999999; do
        says "--$option is '$value'" attention --$option "$value"
    done
done
says "shift by at most 500" attention --shift 501
says "shift by at most 500" attention --shift 1073741824
says "takes no value" attention --no-mask=1
accepts attention --shift 500 --layer 1 --head 3 --quiet
accepts attention --no-mask --quiet # rows that differ are no failure there

echo "length and prompt"
letters() { head -c "$1" /dev/zero | tr '\0' x; }
for command in forward generate attention; do
    says "over the context of 512" $command --prompt "$(letters 600)"
    says "not UTF-8" $command --prompt "$(printf 'a\xff\xfeb')"
done
says "over the context of 512" generate --tokens 513
says "attention opens at most 1024" attention --model random:ctx=4096 \
    --prompt "$(letters 1024)"
accepts forward --prompt "$(letters 511)"
accepts forward --prompt ""
accepts attention --prompt ""
says "over the context of 512" cache --tokens 513
says "over the context of 512" cache --tokens 512 --prompt x
says "over the context of 512" cache --tokens 1 --prompt "$(head -c 600 /dev/zero | tr '\0' x)"
says "over the context of 512" cache --tokens 1000000000
says "over the context of 20" cache --tokens 21 --ctx 20
refuses cache --ctx 513
says "not UTF-8" cache --prompt "$(printf 'a\xff\xfeb')"
says "not UTF-8" cache --prompt "$(printf '\xc0\xaf')"
says "not UTF-8" cache --prompt "$(printf 'half\xe2\x82')"
says "not UTF-8" cache --prompt "$(printf '\xed\xa0\x80')"
accepts cache --tokens 1 --prompt "$(printf 'h\xc3\xa9')" --quiet

echo "random: models"
for spec in dim=0 dim=-4 dim=x dim= dim dim=64,dim=64 colour=3 'dim=64,' dim=63 layers=0 \
    layers=257 heads=3 heads=0 kv_heads=3 kv_heads=0 heads=4,kv_heads=8 hidden=0 vocab=0 \
    vocab=1 ctx=0 window=0 head=0 rot=3 rot=64 tied=2 seed=-1 dim=99999999999999999999 \
    dim=1048576,hidden=1048576,layers=200 dim=64,layers=2,heads=3,kv_heads=2; do
    says random cache --tokens 1 --model "random:$spec"
done
says "leave out" cache --model random: --tokenizer none.bin
accepts cache --tokens 2 --quiet --model random:dim=8,heads=2,kv_heads=1,hidden=4,ctx=8

echo "checkpoints and tokenizers"
# dim hidden layers heads kv_heads vocab context: the smallest that can be run
{ int32 4 4 1 2 1 3 8; zeros $((12 + 4 + 16 + 8 + 8 + 16 + 4 + 48 + 4 + 16)); } >good.bin
{ int32 5 0 5; printf '<unk>'; int32 0 3; printf '<s>'; int32 0 4; printf '</s>'; } >good.tok
M=good.bin T=good.tok
accepts cache --model $M --tokenizer $T --tokens 3 --quiet
says "needs its vocabulary" cache --model $M
says "none.bin: " cache --model none.bin --tokenizer $T
says "none.tok: " cache --model $M --tokenizer none.tok
mkdir folder
says "folder: " cache --model folder --tokenizer $T
says "folder: " cache --model $M --tokenizer folder
says "/dev/null: " cache --model /dev/null --tokenizer $T
refuses cache --model "" --tokenizer $T
refuses cache --model $M --tokenizer ""

# truncated FILE STEP ARGUMENT...: every length from 0, STEP apart, as "bad"
truncated() {
    local file=$1 step=$2 length size
    shift 2
    size=$(wc -c <"$file")
    for ((length = 0; length < size; length += step)); do
        head -c $length "$file" >bad
        says "bad: " "$@"
    done
    head -c $((size - 1)) "$file" >bad
    says "bad: " "$@"
    { cat "$file"; printf x; } >bad
    says "bad: " "$@"
}
truncated $M 5 cache --model bad --tokenizer $T --tokens 1
truncated $T 1 cache --model $M --tokenizer bad --tokens 1

# Every number of the header: negative, zero, huge. A vocabulary of -3 is good in itself
# (its own output matrix), but then the file is too short.
for ((i = 0; i < 7; i++)); do
    for value in -1 -3 0 5 2147483647 -2147483648; do
        cp $M bad
        int32 $value | put bad $((4 * i))
        says "bad: " cache --model bad --tokenizer $T --tokens 1
    done
done
for ((i = 28; i < $(wc -c <$M); i += 60)); do # a weight that is NaN, or infinite
    for value in 0x7fc00000 0x7f800000; do
        # The last 16 floats are tables that nobody reads.
        [ $i -lt $(($(wc -c <$M) - 64)) ] || continue
        cp $M bad
        int32 $((value)) | put bad $i
        says "bad: " cache --model bad --tokenizer $T --tokens 1
    done
done
# The tokenizer's longest piece, first score and first length.
for place in "0 -1" "0 2" "4 0x7fc00000" "8 -1" "8 6" "8 2147483647"; do
    # shellcheck disable=SC2086
    set -- $place
    cp $T bad
    int32 $(($2)) | put bad "$1"
    says "bad: " cache --model $M --tokenizer bad --tokens 1
done
rm -rf bad folder

echo "output"
says "nowhere/t: " cache --tokens 1 --trace nowhere/t
says "/proc/nope/t: " cache --tokens 1 --trace /proc/nope/t
mkdir folder
says "folder: " cache --tokens 1 --trace folder
rmdir folder
says "context" cache --tokens 999 --trace t.jsonl
says "needs" cache --tokens 1 --trace
full() { # what was printed did not arrive
    before=$(listing) status=0
    : >"$S/out"
    timeout 60 "$K" "$@" >/dev/full 2>"$S/err" </dev/null || status=$?
    judge "$* >/dev/full"
}
closed() {
    before=$(listing) status=0
    : >"$S/out"
    timeout 60 "$K" "$@" >&- 2>"$S/err" </dev/null || status=$?
    judge "$* >&-"
}
for run in full closed; do
    $run
    $run help
    $run --version
    $run cache --help
    $run cache --tokens 2
    $run cache --tokens 2 --quiet
    $run forward
    $run generate --tokens 2
    $run attention
done
# A reader that goes away is no success, and nothing is left half-written.
before=$(listing)
"$K" cache --tokens 30 --trace t.txt 2>"$S/err" | :
status=${PIPESTATUS[0]}
cases=$((cases + 1))
if [ "$status" = 0 ] || [ -s "$S/err" ]; then
    fail "status $status when the reader went away"
fi
rm -f t.txt
[ "$(listing)" = "$before" ] || fail "a closed pipe left a file behind"

if "$K" cache --tokens 1 --json >/dev/null 2>&1; then
    accepts cache --tokens 2 --json
    accepts cache --tokens 2 --digest
    accepts generate --tokens 2 --digest
    for command in forward attention "generate --tokens 2"; do
        # shellcheck disable=SC2086
        accepts $command --json
        # shellcheck disable=SC2086
        full $command --json
    done
    full cache --tokens 2 --json
    says "/dev/full: " cache --tokens 2 --trace /dev/full --json
    # Pictures: no work before the folder is known to be good, no folder after a refusal.
    : >plain
    for command in forward attention "generate --tokens 2" "cache --tokens 2"; do
        # shellcheck disable=SC2086
        says "Not a directory" $command --out plain
        # shellcheck disable=SC2086
        says "--out plain: cannot be made" $command --out plain/below/it
        # shellcheck disable=SC2086
        refuses $command --out /proc
        # shellcheck disable=SC2086
        refuses $command --out made/here --prompt "$(printf '\xff')"
        # shellcheck disable=SC2086
        refuses $command --out
        # shellcheck disable=SC2086
        refuses $command --out made --format gif
        # shellcheck disable=SC2086
        accepts $command --out made/here --format svg
        [ -s made/here/"$(ls made/here | grep -m 1 svg)" ] || fail "no picture: $command"
        rm -rf made
    done
    rm -f plain
    says "--page needs --out" cache --page
    says "the model has layers 0 to 1" cache --layer 2 --out made
else # the MINIMAL build
    says "--json needs jansson" cache --json
    says "--digest needs xxHash" cache --digest
    says "--digest needs xxHash" generate --digest
    for command in forward generate attention; do
        says "--json needs jansson" $command --json
        says "--out needs cairo" $command --out pictures
    done
fi

echo "real weights"
if [ -r "${KVSTEP_MODELS:-}/stories260K.bin" ] && [ -r "$KVSTEP_MODELS/tok512.bin" ]; then
    M=$KVSTEP_MODELS/stories260K.bin T=$KVSTEP_MODELS/tok512.bin
    accepts cache --model "$M" --tokenizer "$T" --tokens 2 --prompt "Once upon a time"
    says "over the context" cache --model "$M" --tokenizer "$T" --tokens 5000
    says "not UTF-8" cache --model "$M" --tokenizer "$T" --prompt "$(printf '\xff')"
    says "needs its vocabulary" cache --model "$M"
    refuses cache --model "$T" --tokenizer "$M"
    refuses cache --model "$M" --tokenizer "$M"
    truncated "$M" 150001 cache --model bad --tokenizer "$T" --tokens 1
    truncated "$T" 997 cache --model "$M" --tokenizer bad --tokens 1
else
    echo "skipped: bad input made from real weights: KVSTEP_MODELS is not set"
fi

echo "$cases cases checked, $failed failed"
[ "$failed" = 0 ]
