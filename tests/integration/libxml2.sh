# SPDX-License-Identifier: MIT
# libxml2.sh - reads an instrumentation file with libxml2.so.2, with libxml2.so.16, and without libxml2.
# Without libxml2, the command must fail and name the missing library in one line.
. "$(dirname "$0")/lib.sh"
there=$(ldconfig -p 2>/dev/null | sed -n 's/.*libxml2\.so\.2 .*=> //p' | head -n 1)
[ -e "$there" ] || skip_all "$0" "libxml2.so.2 is not where ldconfig knows it"
unshare -m true 2>/dev/null || skip_all "$0" "another libxml2 can only be shown to root, in a mount namespace"
cat >"$tmp/rules.xml" <<'END'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="orders"><match assembly="Shop" type="Shop.Orders" method="Place"/><count/></rule>
</instrumentation>
END
: >"$tmp/nothing"
mkdir "$tmp/lib"
cp "$there" "$tmp/lib/libxml2.so.16"

# without COMMAND...: run COMMAND in a mount namespace in which libxml2.so.2 is an empty file
without() { unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$tmp/nothing" "$(realpath "$there")" "$@" >"$tmp/log" 2>&1; }

"$sxsprof" check "$tmp/rules.xml" >"$tmp/log" 2>&1
check "an instrumentation file is read with libxml2.so.2" $? "$tmp/log"
without env LD_LIBRARY_PATH="$tmp/lib" "$sxsprof" check "$tmp/rules.xml"
check "an instrumentation file is read with libxml2.so.16 alone" $? "$tmp/log"
! without "$sxsprof" check "$tmp/rules.xml" && grep -q 'libxml2 cannot be loaded: no libxml2.so.2' "$tmp/log"
check "without libxml2, the command fails and names the missing library" $? "$tmp/log"
finish
