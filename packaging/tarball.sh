#!/bin/sh
# SPDX-License-Identifier: MIT
# tarball.sh - `make tarball`: a folder that works wherever it is unpacked, with the libraries it
# needs beside it, for glibc 2.34 and later.
#
# The command finds its libraries in lib/sxsprof by $ORIGIN. In the target process are three more
# libraries, all of names that no host knows: libsxsxml.so, libsxsunwind.so and libsxsunwindremote.so.
# usage: BUILD=DIR VERSION=V tarball.sh
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}" "${CC:=cc}" "${VERSION:?}"
name=sxsprof-$VERSION-linux-x86_64
work=$BUILD/tarball
root=$work/$name
libraries=$root/lib/sxsprof
glibc_max=2.34

die() { printf 'tarball: %s\n' "$*" >&2; exit 1; }
command -v patchelf >/dev/null || die "patchelf is missing (make setup GROUPS=archives installs it)"

# Those of the C library are not brought.
needed() { ldd "$1" | sed -n 's,.* => \(/[^ ]*\) .*,\1,p' | grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so' || true; }
bring() { # FILE [NAME]
    to=$libraries/${2:-${1##*/}}
    cp -L "$1" "$to"
    chmod 644 "$to"
    patchelf --set-rpath '$ORIGIN' "$to"
}

rm -rf "$work"
VERSION=$VERSION BUILD=$BUILD sh packaging/files.sh install "$root" lib sxsprof libsxsil-dev
strip "$root/bin/sxsprof"
find "$libraries" -type f -name '*.so' -exec strip --strip-unneeded {} +
patchelf --set-rpath '$ORIGIN/../lib/sxsprof' "$root/bin/sxsprof"
patchelf --set-rpath '$ORIGIN' "$libraries/libsxsprof.so"
soname_of() { # MACRO of sxs_sonames.h
    sed -n "s/.*SXS_$1_SONAME *\"\(.*\)\"/\1/p" "$BUILD/gen/sxs_sonames.h"
}
path_of() { # SONAME: of a library that is opened when a verb needs it, so that no program names it
    file=$($CC -print-file-name="$1")
    [ -e "$file" ] || die "$1 is missing (make setup installs it)"
    printf '%s\n' "$file"
}
# `serve` and `top` open these. libcurl, which `push` and `fleet` open, is the system's: it needs the system's
# certificates, too.
opened="$(path_of "$(soname_of LIBMICROHTTPD)") $(path_of libncursesw.so.6) $(path_of libtinfo.so.6)"
brought=$({ needed "$BUILD/sxsprof"; for file in $opened; do printf '%s\n' "$file"; needed "$file"; done; } | sort -u)
for file in $brought; do
    bring "$file"
done

sh packaging/own_libxml2.sh "$libraries/libsxsxml.so"
chmod 644 "$libraries/libsxsxml.so"
# bring_own SONAME NAME: brings a library as NAME, and what it needs as libsxs*.so
bring_own() {
    local file other own soname
    file=$($CC -print-file-name="$1")
    bring "$file" "$2"
    patchelf --set-soname "$2" "$libraries/$2"
    for other in $(needed "$file"); do
        own=libsxs$(printf '%s\n' "${other##*/}" | sed 's/^lib\([a-z0-9]*\)\.so.*/\1/').so
        soname=$(objdump -p "$other" | sed -n 's/ *SONAME *//p')
        if [ ! -e "$libraries/$own" ]; then
            bring "$other" "$own"
            patchelf --set-soname "$own" "$libraries/$own"
        fi
        patchelf --replace-needed "$soname" "$own" "$libraries/$2"
    done
}
libunwind=$(soname_of LIBUNWIND)
bring_own "$libunwind" libsxsunwind.so
bring_own "$(soname_of LIBUNWIND_REMOTE)" libsxsunwindremote.so
file=$($CC -print-file-name="$libunwind")
# The licenses of the libraries that were brought, where Debian's packages have them.
for file in $brought "$($CC -print-file-name=libxml2.so)" "$file" $(needed "$file"); do
    file=$(realpath "$file")
    package=$(dpkg-query -S "$file" 2>/dev/null || dpkg-query -S "${file#/usr}" 2>/dev/null) || continue
    package=${package%%:*}
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/share/doc/sxsprof/licenses/$package"
done
cp LICENSE CHANGELOG.md README.md "$root/"

BUILD=$BUILD sh packaging/glibc.sh $glibc_max "$root/bin/sxsprof" "$libraries"/*.so*
tar -C "$work" --owner=0 --group=0 --numeric-owner --sort=name -cJf "$BUILD/$name.tar.xz" "$name"
printf 'tarball: %s\n' "$BUILD/$name.tar.xz"
