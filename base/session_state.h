/* SPDX-License-Identifier: MIT */
/**
 * session_state.h - set static variables back to their initial values when a session has ended.
 *
 * A process can record several sessions one after the other (manager/sessions.h). The static
 * variables of tools belong to one session. So each of them is followed by SXS_SESSION_RESETS(),
 * and when a session has ended and no thread uses them any more, all of them are set back at once.
 * What they own (memory, files, threads) is given up before that, by the tool's end_session().
 *
 * A variable that must keep its value (a lock, the key of a thread's data, a buffer that is reused)
 * is followed by SXS_SESSION_KEEPS(), so that nobody forgets to decide: tests/lint/session.sh
 * reports static variables of tools with neither.
 */
#ifndef SXS_BASE_SESSION_STATE_H
#define SXS_BASE_SESSION_STATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/base.h"

/** One variable. For SXS_SESSION_RESETS only. */
struct sxs_session_variable {
    void       *at;
    size_t      size; /* in bytes */
    const char *name;
};

/** SXS_SESSION_RESETS - set @variable back to its first value when a session has ended. @variable
 *  has static storage and belongs to no thread. The macro stands at file scope after the
 *  definition. Locks inside of it are initialised by this, too: nobody may hold one. */
#define SXS_SESSION_RESETS(variable)       SXS_SESSION_RESETS_AT(variable, __COUNTER__)
#define SXS_SESSION_RESETS_AT(variable, n) SXS_SESSION_RESETS_NAMED(variable, n)
#define SXS_SESSION_RESETS_NAMED(variable, n)                                   \
    static const struct sxs_session_variable sxs_session_variable_##n = {       \
        &(variable), sizeof(variable), #variable};                              \
    static const struct sxs_session_variable *const sxs_session_variable_at_##n \
        __attribute__((section("sxs_session_variables"), used)) = &sxs_session_variable_##n

/** SXS_SESSION_KEEPS - says that @variable keeps its value from one session to the next. */
#define SXS_SESSION_KEEPS(variable) _Static_assert(sizeof(variable) > 0, "kept: " #variable)

/** The number of the session. To be read by sxs_session_generation() only. */
extern _Atomic unsigned sxs_session_count;

/** sxs_session_generation - return a number that differs from one session to the next. Data of a
 *  thread that was made in another session is recognized by it. Any thread; signal-safe. */
SXS_SIGSAFE static inline unsigned sxs_session_generation(void)
{
    return atomic_load_explicit(&sxs_session_count, memory_order_acquire);
}

/** sxs_session_state_save - remember the first values. To be called before any of the variables is
 *  used; later calls do nothing. Returns 0, or -1 when out of memory. */
int sxs_session_state_save(void);

/** sxs_session_state_reset - set all variables back, and increment the generation. No other thread
 *  may use one of them meanwhile. */
void sxs_session_state_reset(void);

/** sxs_session_state_all - return the variables that are set back, for tests. @n: receives their
 *  number. The result is static. */
const struct sxs_session_variable *const *sxs_session_state_all(size_t *n);

#endif
