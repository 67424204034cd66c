/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/worker_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIMITED_BYTES ((uint64_t)160 << 20) /* for all files of others together */

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "name this processor's architecture for seccomp"
#endif

static int      statm = -1;   /* has the sizes of this process */
static uint64_t used, before; /* bytes of LIMITED_BYTES; of the process at the last begin */

/* ---- memory ----------------------------------------------------------------------------------- */

/* Returns the size of the address space in bytes. */
static uint64_t size_now(void)
{
    char    text[128];
    ssize_t n = pread(statm, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void sxs_symbol_worker_limit_memory(bool limited)
{
#ifndef SXS_SANITIZED /* a sanitizer reserves address space without end */
    struct rlimit limit;
    uint64_t      now;
    if (!limited && !before)
        return;
    now = size_now();
    getrlimit(RLIMIT_AS, &limit);
    if (limited) {
        before = now;
        limit.rlim_cur = now + (used < LIMITED_BYTES ? LIMITED_BYTES - used : 0);
    } else {
        used += now > before ? now - before : 0;
        before = 0;
        limit.rlim_cur = RLIM_INFINITY;
    }
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)limited;
    (void)size_now;
    (void)used;
#endif
}

/* ---- system calls ----------------------------------------------------------------------------- */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(err) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (err))
#define YES(call)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), ALLOW
/* A call that opens is allowed for looking (O_PATH), for folders, and for reading without an effect on
 * devices and pipes. @n: which argument the flags are. */
#define OPENS(call, n)                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 6), LOAD(args[n]),          \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 3, 0), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_PATH | O_DIRECTORY, 1, 0),          \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_NONBLOCK, 0, 1), ALLOW, REFUSE(EACCES)

#ifdef SYS_readlink /* x86-64 has these besides the ones with "at" */
#define YES_OLD YES(readlink), YES(stat), YES(lstat),
#else
#define YES_OLD
#endif

static struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
    REFUSE(EPERM),
    LOAD(nr),
    /* the most frequent ones first */
    YES(recvmsg),
    YES(sendmsg),
    YES(pread64),
    YES(read),
    YES(lseek),
    YES(mmap),
    YES(munmap),
    YES(brk),
    YES(fstat),
    YES(newfstatat),
    YES(close),
    YES(fstatfs),
    YES(statx),
    YES(madvise),
    YES(mremap),
    YES(mprotect),
    YES(setfsuid),
    YES(setfsgid),
    YES(setgroups),
    YES(getgroups),
    YES(geteuid),
    YES(getegid),
    YES(getuid),
    YES(getgid),
    YES(getpid),
    YES(gettid),
    YES(prlimit64),
    YES(getrlimit),
    YES(setrlimit),
    YES(getdents64),
    YES(readlinkat),
    YES(fchdir),
    YES(fcntl),
    YES(dup),
    YES(memfd_create),
    YES(write),
    YES(writev),
    YES(ftruncate),
    YES(futex),
    YES(clock_gettime),
    YES(getrandom),
    YES(sched_yield),
    YES(sched_getaffinity),
    YES(sysinfo),
    YES(rt_sigaction),
    YES(rt_sigprocmask),
    YES(rt_sigreturn),
    YES(sigaltstack),
    YES(tgkill),
    YES(exit),
    YES(exit_group),
    YES_OLD OPENS(openat, 2),
    REFUSE(EPERM),
};

void sxs_symbol_worker_confine(void)
{
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    for (int fd = 0; statm >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(statm, fd);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
