/* SPDX-License-Identifier: MIT */
#include "cmd/report/wait_class.h"

#include "session/format/samples.h"

#include <string.h>

/* Beginnings of names of managed functions that wait. A function that calls another one of these,
 * such as Task.Wait, says more than the one it calls, such as ManualResetEventSlim.Wait. */
static const struct {
    const char *name;
    enum sxs_wait_class class;
} managed[] = {
    {"System.Threading.PortableThreadPool+WorkerThread.", SXS_WAIT_POOL_IDLE},
    {"System.Threading.PortableThreadPool+", SXS_WAIT_RUNTIME},
    {"System.Threading.ThreadPoolWorkQueue.", SXS_WAIT_POOL_IDLE},
    {"System.Threading.TimerQueue.", SXS_WAIT_RUNTIME},
    {"System.Diagnostics.Tracing.CounterGroup.PollForValues", SXS_WAIT_RUNTIME},
    {"System.Net.Sockets.SocketAsyncEngine.EventLoop", SXS_WAIT_RUNTIME},
    {"System.Threading.Monitor.Wait", SXS_WAIT_EVENT},
    {"System.Threading.Monitor.ObjWait", SXS_WAIT_EVENT},
    {"System.Threading.Monitor.", SXS_WAIT_MONITOR},
    {"System.Runtime.CompilerServices.InitHelpers.", SXS_WAIT_CONSTRUCTOR},
    {"System.Threading.Lock.", SXS_WAIT_MONITOR},
    {"System.Threading.Lock+", SXS_WAIT_MONITOR},
    {"System.Threading.SpinLock.", SXS_WAIT_MONITOR},
    {"System.Threading.ReaderWriterLockSlim.", SXS_WAIT_MONITOR},
    {"System.Threading.Thread.Sleep", SXS_WAIT_SLEEP},
    {"System.Threading.Thread.UninterruptibleSleep", SXS_WAIT_SLEEP},
    {"System.Threading.Thread.Join", SXS_WAIT_JOIN},
    {"System.Threading.Tasks.Task", SXS_WAIT_TASK},
    {"System.Runtime.CompilerServices.TaskAwaiter", SXS_WAIT_TASK},
    {"System.Runtime.CompilerServices.ConfiguredTaskAwaitable", SXS_WAIT_TASK},
    {"System.Runtime.CompilerServices.ValueTaskAwaiter", SXS_WAIT_TASK},
    {"System.Threading.WaitHandle.", SXS_WAIT_EVENT},
    {"System.Threading.ManualResetEventSlim.", SXS_WAIT_EVENT},
    {"System.Threading.SemaphoreSlim.", SXS_WAIT_EVENT},
    {"System.Threading.CountdownEvent.", SXS_WAIT_EVENT},
    {"System.Threading.Barrier.", SXS_WAIT_EVENT},
    {"System.Threading.LowLevel", SXS_WAIT_EVENT},
    {"System.Diagnostics.Process.WaitFor", SXS_WAIT_PROCESS},
    {"System.Net.Sockets.", SXS_WAIT_IO},
    {"System.Net.Security.", SXS_WAIT_IO},
    {"System.IO.", SXS_WAIT_IO},
    {"Microsoft.Win32.SafeHandles.", SXS_WAIT_IO},
    {"Interop+Sys.", SXS_WAIT_IO},
};

/* Other functions of the framework that stand between those of the table. */
static const char *const between[] = {
    "System.Threading.", "System.Runtime.", "Interop", "System.Net.",
    "System.Private.",   "dynamicClass.",   "[stub"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_between(const char *name)
{
    for (size_t i = 0; i < sizeof(between) / sizeof(*between); i++)
        if (begins(name, between[i]))
            return true;
    return strstr(name, "IL_STUB") != NULL || strcmp(name, "?") == 0;
}

static enum sxs_wait_class class_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(managed) / sizeof(*managed); i++)
        if (begins(name, managed[i].name))
            return managed[i].class;
    return SXS_WAIT_UNKNOWN;
}

/* What the youngest managed functions say, up to the first that is not of the framework. */
static enum sxs_wait_class class_of_managed(const struct sxs_model *m,
                                            const struct sxs_named *frames, size_t n)
{
    enum sxs_wait_class found = SXS_WAIT_UNKNOWN;
    for (size_t i = 0; i < n; i++) {
        const struct sxs_model_frame *f = &m->frames[frames[i].frame];
        const char                   *name = sxs_model_text(m, f->name);
        enum sxs_wait_class class = f->runtime ? class_of_name(name) : SXS_WAIT_UNKNOWN;
        if (!f->runtime)
            continue;
        if (class == SXS_WAIT_UNKNOWN && (!is_between(name) || strstr(name, "..cctor(")))
            break;
        /* The pool's loop calls the work, which then waits for something of its own. */
        if (class != SXS_WAIT_UNKNOWN && (class != SXS_WAIT_POOL_IDLE || found != SXS_WAIT_TASK))
            found = class;
    }
    return found;
}

static enum sxs_wait_class class_of_reason(unsigned waiting)
{
    switch (waiting) {
    case SXS_WAITS_SLEEP: return SXS_WAIT_SLEEP;
    case SXS_WAITS_POLL:
    case SXS_WAITS_IO:
    case SXS_WAITS_DISK: return SXS_WAIT_IO;
    case SXS_WAITS_PROCESS: return SXS_WAIT_PROCESS;
    case SXS_WAITS_PROCESSOR: return SXS_WAIT_PROCESSOR;
    case SXS_WAITS_STOPPED: return SXS_WAIT_STOPPED;
    case SXS_WAITS_LOCK: return SXS_WAIT_NATIVE;
    default: return SXS_WAIT_UNKNOWN;
    }
}

/* Returns the index of the youngest managed frame, or @n. */
static size_t youngest_managed(const struct sxs_model *m, const struct sxs_named *frames, size_t n)
{
    size_t i = 0;
    while (i < n && !m->frames[frames[i].frame].runtime)
        i++;
    return i;
}

/* True when one of the frames is in libcoreclr.so or its collector. */
static bool in_runtime(const struct sxs_model *m, const struct sxs_named *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct sxs_model_frame *f = &m->frames[frames[i].frame];
        const char                   *file = sxs_base_name(sxs_model_text(m, f->file));
        if (!f->runtime && (begins(file, "libcoreclr.so") || begins(file, "libclrgc")))
            return true;
    }
    return false;
}

/* True when the frames above the youngest managed one are of libcoreclr.so and the C library. */
static bool waits_in_runtime(const struct sxs_model *m, const struct sxs_named *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *file = sxs_base_name(sxs_model_text(m, m->frames[frames[i].frame].file));
        if (!begins(file, "libcoreclr.so") && !begins(file, "libclrgc") &&
            !begins(file, "libc.so") && !begins(file, "libpthread") && !begins(file, "[") &&
            !begins(file, "ld-"))
            return false;
    }
    return n > 0 && in_runtime(m, frames, n);
}

enum sxs_wait_class sxs_wait_class(const struct sxs_model *m, const struct sxs_named *frames,
                                   size_t n, unsigned waiting, bool suspended)
{
    enum sxs_wait_class by_kernel = class_of_reason(waiting), by_name;
    size_t              young = youngest_managed(m, frames, n);
    if (by_kernel == SXS_WAIT_PROCESSOR || by_kernel == SXS_WAIT_STOPPED)
        return by_kernel;
    if (young == n) { /* no managed code: a thread of the runtime, or of native code */
        if (in_runtime(m, frames, n))
            return SXS_WAIT_RUNTIME;
        return by_kernel;
    }
    by_name = class_of_managed(m, frames, n);
    if (by_name == SXS_WAIT_IO && by_kernel == SXS_WAIT_NATIVE)
        by_name = SXS_WAIT_EVENT;
    if (by_name != SXS_WAIT_UNKNOWN)
        return by_name;
    if (by_kernel != SXS_WAIT_NATIVE && by_kernel != SXS_WAIT_UNKNOWN)
        return by_kernel;
    if (!waits_in_runtime(m, frames, young))
        return by_kernel;
    return suspended ? SXS_WAIT_COLLECTION : SXS_WAIT_MONITOR;
}

uint32_t sxs_wait_frame(struct sxs_model *m, const struct sxs_named *frames, size_t n,
                        unsigned waiting, bool suspended)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SXS_WAIT_CLASSES(X)
#undef X
    };
    static const char      file[] = "[wait]";
    const char            *text = texts[sxs_wait_class(m, frames, n, waiting, suspended)];
    struct sxs_model_frame f = {
        .name = sxs_strings_add(&m->strings, text, strlen(text)),
        .file = sxs_strings_add(&m->strings, file, sizeof(file) - 1),
        .flags = SXS_FRAME_TYPE | SXS_FRAME_WAIT,
    };
    return sxs_model_frame(m, &f);
}
