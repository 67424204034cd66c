/* SPDX-License-Identifier: MIT */
#include "control/runtimes.h"

#include "manager/manager.h"
#include "manager/runtime.h"
#include "manager/sessions.h"
#include "session/write/session_write.h"

/* Bit N is set when runtime N + 1 is live. @leaving: receives whether one of them is being detached. */
static uint64_t find_live(int *leaving)
{
    struct sxs_runtime *live[SXS_MAX_RUNTIMES];
    size_t              n = sxs_runtimes_live(live, ARRAY_LEN(live));
    uint64_t            found = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned number = sxs_runtime_number(live[i]);
        *leaving |= sxs_runtime_is_leaving(live[i]);
        if (number >= 1 && number <= SXS_MAX_RUNTIMES)
            found |= UINT64_C(1) << (number - 1);
        sxs_runtime_unref(live[i]);
    }
    return found;
}

void sxs_control_add_runtimes(struct sxs_message_writer *answer)
{
    const struct sxs_census *census = sxs_session_open(NULL);
    int                      leaving = sxs_runtimes_are_detaching();
    uint64_t                 live = find_live(&leaving), detached = sxs_manager_find_detached();
    uint32_t                 n = atomic_load(&census->n_runtimes);
    sxs_message_add(answer, "detaching", leaving ? "1" : NULL);
    for (uint32_t i = 0; i < n && i < SXS_MAX_RUNTIMES; i++) {
        const struct sxs_census_runtime *row = &census->runtimes[i];
        uint32_t                         state = atomic_load(&row->state);
        if (state == SXS_STATE_NONE)
            continue;
        sxs_message_addf(answer, "runtime", "%u %.*s %s %s %.*s", i + 1, (int)sizeof(row->version),
                         row->version[0] ? row->version : "?", sxs_state_text(state),
                         live >> i & 1       ? "live"
                         : detached >> i & 1 ? "detached"
                                             : "ended",
                         (int)sizeof(row->path), row->path);
    }
}
