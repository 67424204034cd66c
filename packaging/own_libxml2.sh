#!/bin/sh
# SPDX-License-Identifier: MIT
# own_libxml2.sh - makes libsxsxml.so from the static libxml2 of this machine: the functions that
# instr/config/libxml.h lists, and everything that they call, except the C library. Other symbols are
# hidden, so that a host's libxml2 and this one do not meet. Converters of encodings other than
# UTF-8 are left out, because they bring 32 MB (ICU); instrumentation files are UTF-8.
# usage: own_libxml2.sh OUTPUT
set -u
cd "$(dirname "$0")/.." || exit 1
: "${CC:=cc}"
work=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-libxml2.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
die() { printf 'own_libxml2.sh: %s\n' "$*" >&2; exit 1; }

archive=$($CC -print-file-name=libxml2.a)
[ -e "$archive" ] || die "the compiler finds no libxml2.a (Debian: libxml2-dev)"
functions=$(sed -n '/define CONFIG_LIBXML_FUNCTIONS/,/[^\\]$/p' instr/config/libxml.h | grep -o 'X(xml[A-Za-z]*)' | sed 's/X(\(.*\))/\1/')
[ -n "$functions" ] || die "instr/config/libxml.h lists no functions"

# The archive's code is for programs: it reads variables of others by their address relative to the
# code, which a library cannot. So these variables get names and places inside of the library.
objcopy --redefine-sym stdin=own_stdin --redefine-sym stdout=own_stdout --redefine-sym stderr=own_stderr \
    --redefine-sym xmlFree=own_xmlFree "$archive" "$work/libxml2.a" || exit 1
{
    cat <<'SOURCE'
#include <stdio.h>
#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN FILE *own_stdin, *own_stdout, *own_stderr;
extern HIDDEN void (*own_xmlFree)(void *);
void (*xmlFree)(void *);
__attribute__((constructor)) static void set(void)
{
    own_stdin = stdin, own_stdout = stdout, own_stderr = stderr, xmlFree = own_xmlFree;
}
SOURCE
    # ICU: opening a converter fails with U_FILE_ACCESS_ERROR; without one, the others are not called.
    nm "$work/libxml2.a" 2>/dev/null | sed -n 's/^ *U \(u[a-z]*_[A-Za-z]*_[0-9]*\)$/\1/p; s/^ *U \(UCNV_[A-Z_]*_[0-9]*\)$/\1/p' | sort -u |
        while read -r name; do
            case $name in
            ucnv_open_*) echo "HIDDEN void *$name(const char *name, int *error) { (void)name; *error = 4; return NULL; }" ;;
            *) echo "HIDDEN void $name(void) { __builtin_trap(); }" ;;
            esac
        done
} >"$work/around.c"
{
    echo '{ global: xmlFree; xmlCtxtGetPrivate;'
    printf '%s;\n' $functions
    echo 'local: *; };'
} >"$work/exports"
keep=$(printf -- '-Wl,-u,%s ' $functions)
# shellcheck disable=SC2086
$CC -O2 -fPIC -w -shared -o "$1" "$work/around.c" -Wl,--version-script="$work/exports" -Wl,-z,defs,-z,now \
    -Wl,-soname,libsxsxml.so -Wl,--gc-sections -s $keep "$work/libxml2.a" -Wl,-Bstatic -lz -llzma -Wl,-Bdynamic \
    -lm -lpthread || die "libxml2.a cannot be linked into a library"
