# SPDX-License-Identifier: MIT
# lib.sh - what the attackers of tests/hostile/ share. Each script there plays one attacker: a user, a process or a
# container that root's command meets, or a file that a stranger has sent. Source it first.
#
# Two users without names play the attacker and the victim; neither is in /etc/passwd. Scripts that need root say so
# and are skipped without it. Everything that an attacker makes lies in $tmp, which everybody may enter.
. "$(dirname "$0")/../integration/lib.sh"
# shellcheck disable=SC2034 # both are for the scripts
attacker=61001 victim=61002
chmod 755 "$tmp"

# needs_root NAME: skip the whole script unless it runs as root
needs_root() { [ "$(id -u)" = 0 ] || skip_all "$1" "needs root to play several users"; }
# needs_namespaces NAME: skip the whole script if mount, PID and user namespaces cannot be made
needs_namespaces() {
    unshare -U -m -p -f -r true 2>/dev/null || skip_all "$1" "namespaces cannot be made here"
}
# as USER COMMAND...: run a command as this user, without the groups and rights of root
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
# lair USER NAME: make a folder of this user in $tmp, and print its path
lair() { mkdir -m 755 "$tmp/$2" && chown "$1:$1" "$tmp/$2" && echo "$tmp/$2"; }
# skip CLAIM REASON: one claim is not checked here
skip() { n_test=$((n_test + 1)); echo "ok $n_test - $1 # SKIP $2"; }
# own_pids: run the script again in a PID namespace, if that can be: ps meets no process of another test, and
# what ps gives each user and each run is for the processes of this one
own_pids() {
    [ -z "${OWN_PIDS:-}" ] && unshare -m -p -f --mount-proc true 2>/dev/null || return 0
    rm -rf "$tmp"
    OWN_PIDS=1 exec unshare -m -p -f --kill-child --mount-proc bash "tests/hostile/$(basename "$0")"
}
# pressure: print for which share of the last ten seconds threads have waited for a processor, in percent
pressure() { awk '/^some/ { sub("avg10=", "", $2); print int($2) }' /proc/pressure/cpu 2>/dev/null || echo 100; }
# cost COMMAND...: run a command for 120 s at most; sets $status, $seconds, $kib and $waited: the time, the largest
# memory of one process of it, and for which share of the time threads of this machine have waited for a processor, 0
# to 1: the largest share of any ten seconds up to the end, because the command's deadlines follow that. Its outputs go
# to $tmp/out and $tmp/err.
cost() {
    python3 -c '
import resource, subprocess, sys, time
def waited():
    try:
        return float(open("/proc/pressure/cpu").readline().split("avg10=")[1].split()[0]) / 100
    except (OSError, IndexError):
        return 1
share, began, status = waited(), time.monotonic(), None
with open(sys.argv[1], "wb") as out, open(sys.argv[2], "wb") as err:
    command = subprocess.Popen(sys.argv[4:], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    while status is None:
        try:
            status = command.wait(1)
        except subprocess.TimeoutExpired:
            if time.monotonic() - began > 120:
                command.kill()
                command.wait()
                status = 124
        share = max(share, waited())
took = time.monotonic() - began
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[3], "w") as to:
    print("%d %.2f %d %.2f" % (status, took, usage.ru_maxrss, share), file=to)
' "$tmp/out" "$tmp/err" "$tmp/cost" "$@"
    # shellcheck disable=SC2034 # for the scripts
    read -r status seconds kib waited <"$tmp/cost"
}
# at_most CLAIM SECONDS KIB: check what `cost` has measured. The seconds are those on a machine with free processors;
# where threads wait for them all the time, five times as many. A sanitizer takes several times as much of both.
at_most() {
    awk -v s="$seconds" -v k="$kib" -v w="$waited" -v ms="$2" -v mk="$3" -v f="${SAN:+4}" \
        'BEGIN { f = f ? f : 1; exit !(s <= f * ms * (1 + 4 * w) && k <= f * mk) }'
    check "$1 (measured: $seconds s, $kib KiB; processors were waited for: $waited)" $? "$tmp/err"
}
