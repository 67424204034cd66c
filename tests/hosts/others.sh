# SPDX-License-Identifier: MIT
# Runs the hosts of the group "others" (tests/hosts/hosts.tsv) with and without the library.
. "$(dirname "$0")/../integration/lib.sh"
need_real 2
[ -e "$BUILD/managed/guest/guest.dll" ] || skip_all "$0" "the managed apps are not built"
exec python3 tests/hosts/matrix.py --check others
