/* SPDX-License-Identifier: MIT */
#include "cmd/confined/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FCHMODAT2 452 /* the same number everywhere; old headers lack it */

#define END (-1) /* of a list; numbers of calls that an architecture lacks are below */

/* What a parser does: memory, time, and descriptors that are open. */
static const int parsing[] = {SCMP_SYS(read),
                              SCMP_SYS(readv),
                              SCMP_SYS(pread64),
                              SCMP_SYS(preadv),
                              SCMP_SYS(lseek),
                              SCMP_SYS(_llseek),
                              SCMP_SYS(fstat),
                              SCMP_SYS(fstatfs),
                              SCMP_SYS(write),
                              SCMP_SYS(writev),
                              SCMP_SYS(pwrite64),
                              SCMP_SYS(fadvise64),
                              SCMP_SYS(close),
                              SCMP_SYS(close_range),
                              SCMP_SYS(dup),
                              SCMP_SYS(poll),
                              SCMP_SYS(ppoll),
                              SCMP_SYS(select),
                              SCMP_SYS(pselect6),
                              SCMP_SYS(sendmsg),
                              SCMP_SYS(recvmsg),
                              SCMP_SYS(brk),
                              SCMP_SYS(munmap),
                              SCMP_SYS(mremap),
                              SCMP_SYS(madvise),
                              SCMP_SYS(futex),
                              SCMP_SYS(set_robust_list),
                              SCMP_SYS(rseq),
                              SCMP_SYS(sched_yield),
                              SCMP_SYS(sched_getaffinity),
                              SCMP_SYS(sigaltstack),
                              SCMP_SYS(rt_sigaction),
                              SCMP_SYS(rt_sigprocmask),
                              SCMP_SYS(rt_sigreturn),
                              SCMP_SYS(restart_syscall),
                              SCMP_SYS(clock_gettime),
                              SCMP_SYS(clock_getres),
                              SCMP_SYS(clock_nanosleep),
                              SCMP_SYS(nanosleep),
                              SCMP_SYS(gettimeofday),
                              SCMP_SYS(time),
                              SCMP_SYS(getrandom),
                              SCMP_SYS(getpid),
                              SCMP_SYS(getppid),
                              SCMP_SYS(gettid),
                              SCMP_SYS(getuid),
                              SCMP_SYS(geteuid),
                              SCMP_SYS(getgid),
                              SCMP_SYS(getegid),
                              SCMP_SYS(getrusage),
                              SCMP_SYS(sysinfo),
                              SCMP_SYS(uname),
                              SCMP_SYS(exit),
                              SCMP_SYS(exit_group),
                              END};

/* Further calls of a process that looks up names of files. The calls that open files are in allow_opening(). */
static const int looking[] = {SCMP_SYS(stat),       SCMP_SYS(lstat),
                              SCMP_SYS(newfstatat), SCMP_SYS(statx),
                              SCMP_SYS(statfs),     SCMP_SYS(readlink),
                              SCMP_SYS(readlinkat), SCMP_SYS(flock),
                              SCMP_SYS(getdents),   SCMP_SYS(access),
                              SCMP_SYS(faccessat),  SCMP_SYS(faccessat2),
                              SCMP_SYS(getdents64), END};

/* Further calls of a process that reads files as their owner: it also limits its memory, and makes files in
 * memory. */
static const int reading[] = {SCMP_SYS(setfsuid),
                              SCMP_SYS(setfsgid),
                              SCMP_SYS(setgroups),
                              SCMP_SYS(getgroups),
                              SCMP_SYS(getrlimit),
                              SCMP_SYS(setrlimit),
                              SCMP_SYS(fchdir),
                              SCMP_SYS(dup2),
                              SCMP_SYS(dup3),
                              SCMP_SYS(memfd_create),
                              END};

/* What a report never does. */
static const int refused[] = {
    /* programs */
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(uselib),
    /* sockets that others connect to */
    SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
/* other processes; a sanitizer looks for leaks by ptrace() */
#ifndef SXS_SANITIZED
    SCMP_SYS(ptrace),
#endif
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(kcmp), SCMP_SYS(move_pages),
    SCMP_SYS(migrate_pages), SCMP_SYS(msgget), SCMP_SYS(semget), SCMP_SYS(shmget), SCMP_SYS(shmat),
    SCMP_SYS(mq_open),
    /* the tree of files, and files that are no files */
    SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr), SCMP_SYS(mknod),
    SCMP_SYS(mknodat), SCMP_SYS(name_to_handle_at), SCMP_SYS(open_by_handle_at), SCMP_SYS(quotactl),
    SCMP_SYS(fanotify_init), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct),
    /* owners, modes and times of files, which Landlock does not cover */
    SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), FCHMODAT2, SCMP_SYS(chown),
    SCMP_SYS(fchown), SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(utime), SCMP_SYS(utimes),
    SCMP_SYS(futimesat), SCMP_SYS(utimensat), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr),
    SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
    /* other processes' time on the processor */
    SCMP_SYS(setpriority), SCMP_SYS(ioprio_set), SCMP_SYS(sched_setscheduler),
    SCMP_SYS(sched_setparam), SCMP_SYS(sched_setattr),
    /* users and namespaces; setgroups(), setfsuid() and setfsgid() are permitted: they change only
     * which files can be read, and the reader of symbols reads as the owner of the session */
    SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
    SCMP_SYS(setresgid), SCMP_SYS(capset), SCMP_SYS(unshare), SCMP_SYS(setns),
    SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(personality),
    /* the kernel and the machine */
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(io_setup),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(syslog), SCMP_SYS(iopl), SCMP_SYS(ioperm),
    SCMP_SYS(vhangup), SCMP_SYS(modify_ldt), SCMP_SYS(lookup_dcookie), END};

/* The network; bind() also for questions to the kernel about addresses. */
static const int connecting[] = {SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind),
                                 SCMP_SYS(socketcall), END};

/* Adds a rule for each call. One that the architecture lacks needs none. */
static void add_all(scmp_filter_ctx f, uint32_t action, const int *calls)
{
    for (; *calls != END; calls++)
        (void)seccomp_rule_add(f, action, *calls, 0);
}

/* A mapping is private and cannot be executed. */
static void allow_memory(scmp_filter_ctx f)
{
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, 4 /* PROT_EXEC */, 0);
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
}

/* A process may signal itself, as abort() does, and ask about descriptors. */
static void allow_itself(scmp_filter_ctx f)
{
    static const int asked[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, END};
    scmp_datum_t     self = (scmp_datum_t)getpid();
    /* The C library's fstat(). */
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
                           SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, self));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0),
                           SCMP_A2(SCMP_CMP_EQ, 0));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_VMA));
    for (const int *a = asked; *a != END; a++)
        (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                               SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)*a));
}

static void allow_opening(scmp_filter_ctx f)
{
    const scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                           SCMP_A2(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(openat2), 0);
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
}

/* Opening that has no effect on devices and pipes: to look, for folders, and for reading without waiting. */
static void allow_reading(scmp_filter_ctx f)
{
    static const unsigned how[] = {O_PATH, O_DIRECTORY, O_NONBLOCK};
    const scmp_datum_t    writing = O_ACCMODE | O_CREAT | O_TRUNC;
    for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++)
        (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                               SCMP_A2(SCMP_CMP_MASKED_EQ, writing | how[i], how[i]));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                           SCMP_A1(SCMP_CMP_EQ, F_ADD_SEALS));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_EQ, 0));
}

/* That it ends with its parent: a change of the user makes the kernel forget that. */
static void allow_ending(scmp_filter_ctx f)
{
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                           SCMP_A0(SCMP_CMP_EQ, PR_GET_PDEATHSIG));
    (void)seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2,
                           SCMP_A0(SCMP_CMP_EQ, PR_SET_PDEATHSIG), SCMP_A1(SCMP_CMP_EQ, SIGKILL));
}

/* A verb starts no processes; what connects to servers has threads, which end with it. */
static void refuse_processes(scmp_filter_ctx f, bool threads)
{
    const uint32_t no = SCMP_ACT_ERRNO(EPERM);
    (void)seccomp_rule_add(f, no, SCMP_SYS(fork), 0);
    (void)seccomp_rule_add(f, no, SCMP_SYS(vfork), 0);
#ifndef SXS_SANITIZED /* a sanitizer looks for leaks in a process of its own */
    if (threads)
        (void)seccomp_rule_add(f, no, SCMP_SYS(clone), 1,
                               SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    else
        (void)seccomp_rule_add(f, no, SCMP_SYS(clone), 0);
#else
    (void)threads;
#endif
}

/* Signals and limits of others, namespaces, and input for a terminal. */
static void refuse_some_arguments(scmp_filter_ctx f)
{
    static const unsigned     namespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,
                                              CLONE_NEWNET,  CLONE_NEWIPC, CLONE_NEWCGROUP,
                                              CLONE_NEWUTS};
    static const scmp_datum_t controls[] = {TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP};
    /* The kernel sends signals to the owner of a descriptor. */
    static const scmp_datum_t owning[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};
    scmp_datum_t              self = (scmp_datum_t)getpid();
    const uint32_t            no = SCMP_ACT_ERRNO(EPERM);
    (void)seccomp_rule_add(f, no, SCMP_SYS(kill), 1, SCMP_A0(SCMP_CMP_NE, self));
    (void)seccomp_rule_add(f, no, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_NE, self));
    (void)seccomp_rule_add(f, no, SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_NE, 0));
    for (size_t i = 0; i < sizeof(owning) / sizeof(*owning); i++)
        (void)seccomp_rule_add(f, no, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, owning[i]));
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
        (void)seccomp_rule_add(f, no, SCMP_SYS(clone), 1,
                               SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    /* Its arguments are in memory; the C library then uses clone(). */
    (void)seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
        (void)seccomp_rule_add(f, no, SCMP_SYS(ioctl), 1,
                               SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, controls[i]));
}

int sxs_confined_filter(enum sxs_confined_calls calls)
{
    bool            all_but = calls == SXS_CONFINED_REPORT || calls == SXS_CONFINED_NETWORK;
    scmp_filter_ctx f = seccomp_init(all_but ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
    if (!f)
        return ENOMEM;
    (void)seccomp_attr_set(f, SCMP_FLTATR_CTL_NNP, 0); /* is set already */
    if (all_but) {
        add_all(f, SCMP_ACT_ERRNO(EPERM), refused);
        refuse_some_arguments(f);
        refuse_processes(f, calls == SXS_CONFINED_NETWORK);
        if (calls == SXS_CONFINED_REPORT)
            add_all(f, SCMP_ACT_ERRNO(EPERM), connecting);
    } else {
        add_all(f, SCMP_ACT_ALLOW, parsing);
        allow_memory(f);
        allow_itself(f);
    }
    if (calls == SXS_CONFINED_LOOK || calls == SXS_CONFINED_READ)
        add_all(f, SCMP_ACT_ALLOW, looking);
    if (calls == SXS_CONFINED_LOOK)
        allow_opening(f);
    if (calls == SXS_CONFINED_READ) {
        add_all(f, SCMP_ACT_ALLOW, reading);
        allow_reading(f);
        allow_ending(f);
    }
    int err = -seccomp_load(f);
    seccomp_release(f);
    return err;
}
