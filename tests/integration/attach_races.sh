# SPDX-License-Identifier: MIT
# attach_races.sh - checks that an attach at a bad moment does no harm: while runtimes start, while the program ends,
# and several at once. The attach may be refused; the program must end with status 0 each time.
. "$(dirname "$0")/lib.sh"
need_real 3
: "${RUNS:=12}"
mkdir "$tmp/tmp"
export TMPDIR=$tmp/tmp

bad=0 recorded=0
for n in $(seq "$RUNS"); do
    version=$(echo "$versions" | sed -n "$((n % 3 + 1))p")
    timeout -k 5 120 "$runsxs" --timeout 100 "$version" stress "nre=0 div=0 gcs=10 loops=1 pool=50 seconds=1" \
        >"$tmp/log" 2>&1 &
    outer=$!
    wait_until pgrep -P $outer -x runsxs >/dev/null
    pid=$(pgrep -P $outer -x runsxs)
    # 0 to 2.2 s: before the runtime is there, while it starts, while it works, while it ends.
    timeout 100 "$sxsprof" attach --delay "$((n * 190 % 2300 + 1))ms" --duration 300ms -o "$tmp/out" "$pid" \
        >"$tmp/attach" 2>&1
    case $? in
    0) recorded=$((recorded + 1)) ;;
    2) ;;
    *) bad=$((bad + 1)) && sed 's/^/# /' "$tmp/attach" ;;
    esac
    wait $outer || { bad=$((bad + 1)) && sed 's/^/# /' "$tmp/log" | tail -n 5; }
    rm -rf "$tmp/out"
done
[ $bad -eq 0 ] && [ $recorded -gt 0 ]
check "$RUNS attaches from the start of a program to its end: $recorded recorded, the others were refused" $?

# It ends when the runtime has loaded the library, and the session has not begun: the command, in which
# connect() waits for that end (AT_ONCE: only kills it, and fails), says so, and it counts as refused.
cat >"$tmp/ends.c" <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    int (*real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    const struct sockaddr_un *name = (const struct sockaddr_un *)address;
    const char *target = getenv("ENDS");
    if (name->sun_family == AF_UNIX && memcmp(name->sun_path, "\0sxsprof/", 9) == 0) {
        char link[64], to[16];
        snprintf(link, sizeof(link), "/proc/%s/exe", target);
        kill(atoi(target), SIGKILL);
        if (getenv("AT_ONCE"))
            return errno = ECONNREFUSED, -1;
        while (readlink(link, to, sizeof(to)) > 0)
            usleep(1000);
    }
    return real(fd, address, size);
}
E
${CC:-cc} -shared -fPIC -o "$tmp/ends.so" "$tmp/ends.c" -ldl || exit 1
# ends KEPT: 1: a tracer keeps one of its threads, so that the kernel does not say yet that the process has ended;
# memory: it keeps the thread before that gives up its memory.
ends() {
    local kept=
    timeout -k 5 120 "$runsxs" --timeout 100 $net10 stress "nre=0 div=0 gcs=10 loops=1 pool=50 seconds=60" >"$tmp/log" 2>&1 &
    outer=$!
    wait_until started
    if [ "$1" != 0 ]; then
        : >"$tmp/kept"
        "$tmp/keeps" "$1" "$(basename "$(dirname "$(grep -lx '.NET SynchManag' "/proc/$pid"/task/*/comm)")")" >>"$tmp/kept" 2>&1 &
        kept=$!
        wait_until grep -q keeps "$tmp/kept"
    fi
    ENDS=$pid LD_PRELOAD=$tmp/ends.so timeout 100 "$sxsprof" attach --duration 300ms -o "$tmp/out" "$pid" >"$tmp/attach" 2>&1
    status=$?
    [ -n "$kept" ] && kill "$kept"
    wait $outer $kept 2>/dev/null
    rm -rf "$tmp/out"
    [ $status = 2 ] && grep -q "$pid: it has ended before the session began" "$tmp/attach" &&
        ! grep -q 'cannot be reached' "$tmp/attach"
}
started() { pid=$(pgrep -P $outer -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
cat >"$tmp/keeps.c" <<'E'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int n, char **arg)
{
    siginfo_t stop;
    long      with_memory = n == 3 && *arg[1] == 'm' ? PTRACE_O_TRACEEXIT : 0;
    if (n != 3 || ptrace(PTRACE_SEIZE, atoi(arg[2]), 0, with_memory) != 0)
        return perror("ptrace"), 1;
    puts("keeps");
    fflush(stdout);
    while (waitid(P_ALL, 0, &stop, WSTOPPED | __WALL) == 0 && /* its end is not waited for */
           stop.si_status != (SIGTRAP | PTRACE_EVENT_EXIT << 8))
        ptrace(PTRACE_CONT, stop.si_pid, 0, stop.si_status);
    pause();
}
E
${CC:-cc} -o "$tmp/keeps" "$tmp/keeps.c" || exit 1
ends 0
check "a program that ends before its session begins: status 2, and a message (status $status)" $? "$tmp/attach"
ends 1
check "the same while a tracer keeps one of its threads (status $status)" $? "$tmp/attach"
AT_ONCE=1 ends memory
check "the same when it has just been killed, and its memory is not given up yet (status $status)" $? "$tmp/attach"

# Five at once: one records, the others are refused. Then again.
timeout -k 5 200 "$runsxs" --timeout 180 $net10 stress "nre=0 div=0 gcs=10 loops=1 pool=50 until=$tmp/until" >"$tmp/log" 2>&1 &
outer=$!
wait_until started
for round in 1 2 3; do
    attachers=
    for n in 1 2 3 4 5; do
        timeout 100 "$sxsprof" attach --duration 1s -o "$tmp/out.$n" "$pid" >"$tmp/attach.$n" 2>&1 &
        attachers="$attachers $!"
    done
    good=0 refused=0
    for a in $attachers; do
        wait "$a"
        case $? in
        0) good=$((good + 1)) ;;
        2) refused=$((refused + 1)) ;;
        esac
    done
    cat "$tmp"/attach.? >"$tmp/all"
    # Those that come when the first has detached may record, too.
    [ $((good + refused)) = 5 ] && [ $good -ge 1 ]
    check "round $round of five attaches at once: $good recorded, $refused were refused" $? "$tmp/all"
    rm -rf "$tmp"/out.*
done
: >"$tmp/until"
wait $outer
check "the program ends with status 0" $? "$tmp/log"
finish
