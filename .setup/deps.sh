#!/bin/sh
# deps.sh [--list] TIER...: which packages of these tiers are missing, how big they are;
# asks on a terminal, then installs them. Says nothing and touches no network when all are
# there. Status 2: still missing. Tiers (build, test, maintainer) and packages come from the
# Makefile by the environment; YES=1 skips the question, TERMINAL=yes allows it.
set -eu
export LC_ALL=C

list=
if [ "${1-}" = --list ]; then list=yes; shift; fi
say() { printf '%s\n' "$*" >&2; }

packages_of() {
    case $1 in
    build) echo "$BUILD_PACKAGES" ;;
    test) echo "$TEST_PACKAGES" ;;
    maintainer) echo "$MAINTAINER_PACKAGES" ;;
    esac
}

# Several packages can give one program; any of them will do.
program_of() {
    case $1 in
    nodejs) echo node ;;
    pkg-config) echo pkg-config ;;
    esac
}

have_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

is_here() {
    program=$(program_of "$1")
    if [ -n "$program" ] && command -v "$program" >/dev/null; then return 0; fi
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_of() {
    # One call for the usual case that all are there.
    # shellcheck disable=SC2046
    here=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $(packages_of "$1") 2>/dev/null |
        sed -n 's/ installed$//p')
    for package in $(packages_of "$1"); do
        case " $(echo $here) " in *" $package "*) continue ;; esac
        is_here "$package" || printf '%s ' "$package"
    done
}

# What apt-get itself says the packages take, with all they pull in.
size_of() {
    # shellcheck disable=SC2086
    apt-get install --assume-no --no-install-recommends -o Debug::NoLocking=1 $1 2>/dev/null |
        sed -n 's/^After this operation, \(.*\) of additional disk space.*/\1/p'
}

no_apt() {
    say "kvstep needs libraries that the compiler does not find here, and this system has no"
    say "apt-get to install them: jansson, xxHash (its header), cairo, pango with FreeType,"
    say "pkg-config; for the tests also Check. Install them, or build without them:"
    say "  make MINIMAL=yes"
    exit 2
}

# How to become root without asking anybody; empty and failing when there is no way.
rights() {
    if [ "$(id -u)" = 0 ]; then return 0; fi
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then echo "sudo -n"; return 0; fi
    if [ "${TERMINAL-}" = yes ] && command -v sudo >/dev/null; then echo sudo; return 0; fi
    return 1
}

lists_are_here() { apt-cache show "$1" >/dev/null 2>&1; }

give_up() {
    sudo="sudo "
    [ "$(id -u)" != 0 ] || sudo=
    lists_are_here "${missing%% *}" || update="${sudo}apt-get update && "
    say "Install them with this one command:"
    say "  ${update-}${sudo}apt-get install -y --no-install-recommends $missing"
    case " $tiers " in *" build "*)
        say "or build without pictures, JSON and digests, with compiler, make and libc alone:"
        say "  make MINIMAL=yes"
        ;;
    esac
    exit 2
}

# apt-get's own output is shown on a terminal, else only when it fails.
quietly() {
    if [ "${TERMINAL-}" = yes ]; then "$@" >&2; return; fi
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then rm -f "$log"; return 0; fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    return 1
}

install_all() {
    # shellcheck disable=SC2086
    quietly $root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing
}

have_apt || no_apt
tiers=
missing=
for tier in "$@"; do
    lacking=$(missing_of "$tier")
    if [ -n "$lacking" ]; then tiers="$tiers $tier" missing="$missing$lacking"
    elif [ -n "$list" ]; then say "$tier: all there ($(packages_of "$tier"))"; fi
done
missing=${missing% }
[ -n "$missing" ] || exit 0

if root=$(rights); then may=yes; else may=; fi
if [ -n "$may" ] && [ "$root" != sudo ] && ! lists_are_here "${missing%% *}"; then
    say "apt-get has no list of packages yet: apt-get update"
    # shellcheck disable=SC2086
    quietly $root apt-get update || true
fi

say "kvstep needs packages that are not installed here:"
for tier in $tiers; do
    lacking=$(missing_of "$tier")
    size=$(size_of "$lacking")
    say "  $tier: $lacking($(if [ -n "$size" ]; then echo "$size on disk"; else echo "size unknown before apt-get update"; fi))"
done
[ -n "$may" ] || give_up
if [ "${YES-}" != 1 ] && [ "${TERMINAL-}" = yes ]; then
    printf 'Install them now? [Y/n] ' >/dev/tty
    read -r answer </dev/tty || answer=n
    case $answer in '' | [Yy]*) ;; *) give_up ;; esac
fi

say "installing ..."
if ! install_all; then
    # An old list names packages that are gone from the server: fetch it anew, once.
    # shellcheck disable=SC2086
    quietly $root apt-get update || true
    install_all || give_up
fi
