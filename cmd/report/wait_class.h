/* SPDX-License-Identifier: MIT */
/** wait_class.h - says what a waiting thread waits for: from its stack and the kernel's reason. */
#ifndef SXS_CMD_REPORT_WAIT_CLASS_H
#define SXS_CMD_REPORT_WAIT_CLASS_H

#include "cmd/report/model.h"
#include "cmd/report/named.h"

/** Classes of waits. Reports print the texts. docs/internals/locks.md has how each is found. */
#define SXS_WAIT_CLASSES(X)                               \
    X(UNKNOWN, "wait: not known")                         \
    X(PROCESSOR, "wait: processor")                       \
    X(COLLECTION, "wait: suspended by the runtime")       \
    X(MONITOR, "wait: monitor or lock")                   \
    X(CONSTRUCTOR, "wait: class constructor")             \
    X(EVENT, "wait: event")                               \
    X(TASK, "wait: task")                                 \
    X(SLEEP, "wait: sleep")                               \
    X(JOIN, "wait: end of a thread")                      \
    X(IO, "wait: input or output")                        \
    X(PROCESS, "wait: end of a process")                  \
    X(POOL_IDLE, "wait: thread pool has no work")         \
    X(RUNTIME, "wait: thread of the runtime has no work") \
    X(NATIVE, "wait: lock or event in native code")       \
    X(STOPPED, "wait: stopped by a debugger or signal")
enum sxs_wait_class {
#define X(name, text) SXS_WAIT_##name,
    SXS_WAIT_CLASSES(X)
#undef X
};

/**
 * sxs_wait_class - return the class of a wait.
 * @frames: of its stack, youngest first, borrowed; @n: their number. @waiting: enum sxs_waiting.
 * @suspended: true when a runtime had suspended its threads at that time. */
enum sxs_wait_class sxs_wait_class(const struct sxs_model *m, const struct sxs_named *frames,
                                   size_t n, unsigned waiting, bool suspended);

/** sxs_wait_frame - the same as a frame of @m, which is no code. */
uint32_t sxs_wait_frame(struct sxs_model *m, const struct sxs_named *frames, size_t n,
                        unsigned waiting, bool suspended);

#endif
