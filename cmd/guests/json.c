/* SPDX-License-Identifier: MIT */
#include "cmd/guests/guests.h"

#include "cmd/output/json_values.h"
#include "cmd/output/processes.h"

static json_t *guest_json(const struct sxs_session_process *p, const struct sxs_guest_read *g)
{
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "runtime", g->runtime);
    err |= sxs_json_set_text(o, "clsid", g->clsid);
    err |= sxs_json_set_text(o, "path", g->path);
    err |= sxs_json_set_text(o, "state", sxs_guest_state_text(g->state));
    err |= sxs_json_set_number(o, "callbacks", g->callbacks);
    err |= sxs_json_set_number(o, "failures", g->failures);
    err |= sxs_json_set_number(o, "total_ns", g->ns);
    err |= sxs_json_set_text(o, "version", sxs_process_version(p, g->runtime));
    err |= sxs_json_set_number(o, "start_duration_ns", g->start_took_ns);
    err |= sxs_json_set_number(o, "info_calls", g->info_calls);
    err |= sxs_json_set_number(o, "info_refused", g->info_refused);
    err |= json_object_set_new(o, "priority", json_integer(g->priority));
    err |= sxs_json_set_number(o, "event_mask", (uint64_t)g->high << 32 | g->low);
    err |= sxs_json_set_number(o, "callback_version", g->callback_version);
    err |= sxs_json_set_number(o, "hr", g->result);
    err |= sxs_json_set_text(o, "why", g->why);
    err |= sxs_json_set_number(o, "pid", p->pid);
    return sxs_json_whole(o, err);
}

int sxs_guests_json(json_t *top, const struct sxs_guests_report *r)
{
    json_t *rows = json_array();
    int     err = json_object_set_new(top, "guests", rows);
    for (size_t p = 0; p < r->n && !err; p++)
        for (size_t i = 0; i < r->processes[p].data->n && !err; i++)
            err = json_array_append_new(
                rows, guest_json(r->processes[p].process, &r->processes[p].data->guests[i]));
    return err;
}
