# SPDX-License-Identifier: MIT
# packages_missing.sh - checks that a build says in one line which Debian packages are missing and how to get them.
. "$(dirname "$0")/../integration/lib.sh"

mkdir "$tmp/bin"
cat >"$tmp/bin/dpkg-query" <<'D'
#!/bin/sh
for name; do :; done
[ "$name" = debhelper ] || [ "$name" = libunwind-dev ] || { echo 'install ok installed'; exit; }
exit 1
D
chmod +x "$tmp/bin/dpkg-query"
PATH=$tmp/bin:$PATH sh setup/packages.sh --missing build archives >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = \
    "packages: missing: libunwind-dev debhelper; get them by: sudo apt-get install libunwind-dev debhelper" ]
check "what is missing of several groups is said in one line, and nothing is installed" $? "$tmp/err"
PATH=$tmp/bin:$PATH sh setup/packages.sh --missing lint >"$tmp/out" 2>&1 && [ ! -s "$tmp/out" ]
check "nothing is said of a group that is there" $? "$tmp/out"
sh setup/packages.sh --missing nothing >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q '^packages: no group "nothing", expected one of: build ' "$tmp/out"
check "a group that is not known is refused" $? "$tmp/out"
for goal in deb tarball; do
    PATH=$tmp/bin:$PATH make -s $goal >"$tmp/out" 2>&1
    [ $? -ne 0 ] && grep -q '^packages: missing: libunwind-dev debhelper; ' "$tmp/out" && ! grep -q 'CC ' "$tmp/out"
    check "make $goal says it before it compiles" $? "$tmp/out"
done
make -s ESBUILD="$tmp/none" O="$tmp/o" "$tmp/o/gen/page/list.js" >"$tmp/out" 2>&1
[ $? -ne 0 ] && grep -q '^esbuild is missing (setup/packages.sh build installs it' "$tmp/out"
check "a build without esbuild says what to install" $? "$tmp/out"
finish
