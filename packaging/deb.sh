#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh - `make deb`: the packages sxsprof, libsxsil-dev and sxsprof-tests, into BUILD/deb/. Needs
# no root. usage: BUILD=DIR VERSION=V deb.sh
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}" "${VERSION:?}"
die() { printf 'deb: %s\n' "$*" >&2; exit 1; }
command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null ||
    die "dpkg-buildpackage or debhelper is missing (make setup GROUPS=archives installs them)"

# The libraries that are opened with dlopen() are found by no other means.
package_of() { # MACRO of sxs_sonames.h
    soname=$(sed -n "s/.*SXS_$1_SONAME *\"\(.*\)\"/\1/p" "$BUILD/gen/sxs_sonames.h")
    file=$(realpath "$(${CC:-cc} -print-file-name="$soname")")
    owner=$(dpkg-query -S "$file" 2>/dev/null || dpkg-query -S "${file#/usr}") || die "no package has $file"
    echo "${owner%%:*}"
}

work=$BUILD/deb/source
rm -rf "$BUILD/deb"
mkdir -p "$work"
cp -r packaging/debian "$work/debian"
cat >"$work/debian/changelog" <<END
sxsprof ($VERSION) unstable; urgency=medium

  * Version $VERSION; its changes are in /usr/share/doc/sxsprof/CHANGELOG.md.gz.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}")
END
SXS_TOP=$PWD SXS_BUILD=$(cd "$BUILD" && pwd) SXS_VERSION=$VERSION SXS_DEPENDS="$(package_of LIBUNWIND), $(package_of LIBXML2)"
export SXS_TOP SXS_BUILD SXS_VERSION SXS_DEPENDS
if ! (cd "$work" && DEB_BUILD_OPTIONS="noautodbgsym nocheck" dpkg-buildpackage -b -us -uc) >"$BUILD/deb/log" 2>&1; then
    cat "$BUILD/deb/log" >&2
    die "dpkg-buildpackage failed"
fi
printf 'deb: %s\n' "$BUILD"/deb/*.deb
