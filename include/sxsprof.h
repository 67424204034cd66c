/* SPDX-License-Identifier: MIT */
/**
 * sxsprof.h - what a process profiled by libsxsprof.so may call in it.
 *
 * The library is loaded by the runtimes, not linked to: reach it through dlsym() or P/Invoke on the
 * path in CORECLR_PROFILER_PATH.
 */
#ifndef SXSPROF_H
#define SXSPROF_H

/** The profiler's class: what CORECLR_PROFILER must be set to. */
#define SXSPROF_CLSID "{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What native code that an instrumentation file has called gets as its first argument: the method it is called
 * from. Lives as long as the process. One address stands for one method in one runtime.
 */
struct sxsprof_method {
    unsigned    runtime; /* 1, 2, 3... in order of arrival */
    unsigned    token;   /* methodDef, in its module */
    const char *version; /* of the runtime: "8.0.29" */
    const char *assembly;
    const char *name; /* Namespace.Type.Method */
};

/**
 * sxsprof_print_stack - print the calling thread's stack, across all runtimes in the process.
 * @fd:   an open file descriptor; it is written to in pieces and stays open.
 * @mode: "mixed" (native and managed frames), "managed" (those of the runtimes alone), "shadow"
 *        (the calls that the tool "calls" follows; its SP is that of the frame's caller, its IP 0), or
 *        "logical" (the same down to where an async method went on after an await, then the methods
 *        that await it, SP 0; needs "calls:await=logical").
 *
 * One line a frame, youngest first, five fields with tabs between: index (from 0), SP, IP, owner
 * ("clr1:8.0.29" or "native:libc.so.6"), name. A last line beginning with "#" tells the mode, the
 * number of frames and why there are no more. At most 4096 frames.
 *
 * Returns the number of frames printed (0 is possible), or a negative errno value: -EINVAL for
 * another mode or an @fd that is not open for writing, -ENODATA (no such stack is kept), -ENOMEM,
 * -EAGAIN (no thread could be started), or what write(2) failed with, SIGPIPE being held back. Keeps
 * errno. Callable from any thread, by many at once, from native code or through P/Invoke with or without a GC transition;
 * not from a signal handler. It allocates, and starts a short-lived thread.
 */
int sxsprof_print_stack(int fd, const char *mode);

#ifdef __cplusplus
}
#endif

#endif
