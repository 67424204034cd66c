/* SPDX-License-Identifier: MIT */
#include "clrie/offers.h"

#include "base/base.h"
#include "clrie/engine.h"
#include "clrie/log/log.h"
#include "clrie/object/strings.h"

/* The linker defines these two symbols as the ends of the section. (SXS_FORK_RESETS) */
extern pthread_mutex_t *const __start_sxs_fork_locks[] __attribute__((weak, visibility("hidden")));
extern pthread_mutex_t *const __stop_sxs_fork_locks[] __attribute__((weak, visibility("hidden")));

static const struct clrie_offers offered = {
    .get_class_object = clrie_get_class_object,
    .first_body = clrie_engine_first_body,
    .hook = clrie_engine_hook,
    .use_hook = clrie_engine_use_hook,
    .log_instance = clrie_log_instance,
    .string_free = clrie_string_free,
    .locks = __start_sxs_fork_locks,
    .locks_end = __stop_sxs_fork_locks,
};

const struct clrie_offers *clrie_offered(void)
{
    return &offered;
}
