# SPDX-License-Identifier: MIT
# page_numbers.sh - checks that pages write numbers as text reports do, which have printf(), also in the middle between
# two texts: 88,704 bytes are 86.625 KiB.
. "$(dirname "$0")/../integration/lib.sh"
command -v node >/dev/null || skip_all "$0" "needs node"

python3 - >"$tmp/want" <<'P'
for n in range(1024, 2000000, 64):
    print("%.2f KiB" % (n / 1024) if n / 1024 < 1023.995 else "%.2f MiB" % (n / 1048576))
for part in range(1, 4096):
    print(("%.1f %%" if part / 4096 >= 0.0995 else "%.2f %%") % (100 * part / 4096))
P
{
    echo "import { bytesText, percent } from '$PWD/cmd/page/numbers.js';"
    echo 'for (let n = 1024; n < 2000000; n += 64) console.log(bytesText(n));
for (let part = 1; part < 4096; part++) console.log(percent(part, 4096));'
} >"$tmp/numbers.mjs"
node "$tmp/numbers.mjs" >"$tmp/got" 2>&1
diff "$tmp/want" "$tmp/got" >"$tmp/diff"
check "sizes and shares are those of printf()" $? "$tmp/diff"
finish
