#!/bin/sh
# probe.sh build|test OUT: asks the compiler ($CC) whether it finds the libraries of the
# tier, has deps.sh install them if not, and writes the Makefile fragment OUT: their flags,
# and every header of theirs as something OUT depends on.
set -eu
tier=$1 out=$2
here=$(dirname "$0")
viz="cairo pangocairo pangoft2 fontconfig"

# -isystem: their headers are not ours to warn about.
cflags() { pkg-config --cflags "$@" | sed 's/-I/-isystem /g'; }

headers() {
    printf '#include <%s>\n' jansson.h xxhash.h cairo.h pango/pangocairo.h \
        pango/pangoft2.h fontconfig/fontconfig.h
    if [ "$tier" = test ]; then echo '#include <check.h>'; fi
}

# gcc has it; clang needs a package more and does without: one thread.
openmp() {
    echo 'int main(void) { return 0; }' | $CC -fopenmp -x c - -o "$out.openmp" && rm "$out.openmp"
}

probe() {
    modules="jansson $viz"
    if [ "$tier" = test ]; then modules="$modules check"; fi
    # shellcheck disable=SC2086
    pkg-config --exists $modules || return 1
    mkdir -p "$(dirname "$out")"
    {
        if openmp; then echo "HAVE_OPENMP := -fopenmp"; fi
        echo "JSON_CFLAGS := $(cflags jansson)"
        echo "JSON_LIBS := $(pkg-config --libs jansson)"
        # shellcheck disable=SC2086
        echo "VIZ_CFLAGS := $(cflags $viz)"
        # shellcheck disable=SC2086
        echo "VIZ_LIBS := $(pkg-config --libs $viz)"
        if [ "$tier" = test ]; then
            echo "CHECK_CFLAGS := $(cflags check)"
            echo "CHECK_LIBS := $(pkg-config --libs check)"
        fi
    } >"$out.new"
    # shellcheck disable=SC2046,SC2086
    headers | $CC $(cflags $modules) -M -MP -MT "$out" -x c - >>"$out.new"
    mv "$out.new" "$out"
}

if probe 2>/dev/null; then exit 0; fi
case $tier in
test) "$here/deps.sh" build test ;;
*) "$here/deps.sh" build ;;
esac
if probe; then exit 0; fi
echo "kvstep: $CC does not find all of jansson, xxHash, cairo, pango, fontconfig (and Check" \
    "for tests), though their packages are there; make MINIMAL=yes builds without" >&2
exit 2
