/* SPDX-License-Identifier: MIT */
/**
 * sxsprof.h - the functions of libsxsprof.so that a profiled process may call.
 *
 * The runtimes load the library; programs do not link to it. Call its functions through dlsym(), or
 * by P/Invoke with the path in CORECLR_PROFILER_PATH.
 */
#ifndef SXSPROF_H
#define SXSPROF_H

/** The class ID of the profiler. CORECLR_PROFILER must be set to it. */
#define SXSPROF_CLSID "{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A description of an instrumented method. If a rule of an instrumentation file calls a native
 * function, the function's first argument is the description of the method that the call is in. It
 * is valid until the process ends. Each method of each runtime has one description with a fixed
 * address.
 */
struct sxsprof_method {
    unsigned    runtime; /* number of the runtime: 1, 2, 3... in the order in which they started */
    unsigned    token;   /* methodDef token in the method's module */
    const char *version; /* version of the runtime, such as "8.0.29" */
    const char *assembly;
    const char *name; /* Namespace.Type.Method */
};

/**
 * sxsprof_print_stack - print the stack of the calling thread, across all runtimes in the process.
 * @fd:   an open file descriptor. The text is written in several pieces; @fd stays open.
 * @mode: selects the frames:
 *        "mixed": native and managed frames.
 *        "managed": managed frames only.
 *        "shadow": the calls that the tool "calls" records. The SP of a frame is that of its
 *        caller; the IP is 0.
 *        "logical": as "shadow" down to the async method that was resumed after an await, followed
 *        by the methods that await it, with SP 0. Needs "calls:await=logical".
 *
 * The output has one line per frame, youngest frame first, with five fields separated by tabs:
 * index (from 0), SP, IP, owner ("clr1:8.0.29" or "native:libc.so.6"), name. The last line begins
 * with "#" and has the mode, the number of frames and the reason why the list ends. At most 4096
 * frames are printed.
 *
 * Returns the number of frames printed, which may be 0, or a negative errno value: -EINVAL if @mode
 * is unknown or @fd is not open for writing, -ENODATA if no such stack is recorded, -ENOMEM,
 * -EAGAIN if no thread could be started, or the error of write(2). SIGPIPE is not delivered. Keeps
 * errno. Any number of threads may call the function at once, from native code or through P/Invoke
 * with or without a GC transition. Allocates memory and starts a short-lived thread. Not
 * signal-safe.
 */
int sxsprof_print_stack(int fd, const char *mode);

/**
 * sxsprof_force_gc - force a collection of all generations in a runtime, and wait for its end.
 * @runtime: number of the runtime, as in reports: 1, 2, 3... in the order in which they started.
 *   0: all runtimes, one after the other.
 *
 * The collection is blocking, and its reason is "induced". The call is made on a thread of the
 * library that no runtime knows. Callers wait for one another.
 *
 * Returns the number of runtimes that have collected, or a negative errno value: -ESRCH if no such
 * runtime is alive, or in a forked child; -EAGAIN if the runtime has not started its collector yet;
 * -ENOMEM if no thread could be started; -EIO if the runtime refused for another reason. With
 * @runtime 0, the failure of any of them is returned. Keeps errno. Any thread may call the function,
 * from native code or through P/Invoke. A P/Invoke must have a GC transition (the default: no
 * SuppressGCTransition), because the collection waits for threads without one. Do not call it in a
 * signal handler, or in a function that runs while a runtime's threads are suspended.
 */
int sxsprof_force_gc(unsigned runtime);

#ifdef __cplusplus
}
#endif

#endif
