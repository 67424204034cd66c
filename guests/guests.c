/* SPDX-License-Identifier: MIT */
/* guests.c - the list of the process's guests, read once. */
#include "guests/guests.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "base/named_profilers.h"
#include "base/proc.h"
#include "clrie/config/config.h"
#include "clrie/link/link.h"
#include "guests/config/list.h"
#include "guests/events.h"
#include "guests/guest.h"
#include "instr/config/config.h"
#include "manager/guid.h"
#include "manager/manager.h"

static struct guest guests[GUEST_MAX];
static unsigned     n_guests;

/* Adds a declared guest after those with the same or a lower priority. */
static void add(const struct guest_declaration *declared)
{
    unsigned at = n_guests;
    for (; at > 0 && guests[at - 1].declared.priority > declared->priority; at--)
        guests[at] = guests[at - 1];
    memset(&guests[at], 0, sizeof(guests[at]));
    guests[at].declared = *declared;
    n_guests++;
}

static const char *library_name(const struct guest *guest)
{
    const char *slash = strrchr(guest->declared.path, '/');
    return slash ? slash + 1 : guest->declared.path;
}

/* Returns 1 when another guest has a library of the same name: a library can have several classes. */
static int is_ambiguous(const struct guest *guest)
{
    for (unsigned i = 0; i < n_guests; i++)
        if (&guests[i] != guest && strcmp(library_name(&guests[i]), library_name(guest)) == 0)
            return 1;
    return 0;
}

static void prepare(struct guest *guest, unsigned number)
{
    guest->number = number;
    if (guest->loaded)
        snprintf(guest->title, sizeof(guest->title), "%s", guest->declared.path);
    else if (is_ambiguous(guest))
        snprintf(guest->title, sizeof(guest->title), "guest %.80s %s", library_name(guest),
                 guest->declared.clsid_text);
    else
        snprintf(guest->title, sizeof(guest->title), "guest %s", library_name(guest));
    pthread_mutex_init(&guest->lock, NULL);
    guest->tool = (struct sxs_tool){
        .name = guest->title,
        .in_child = 1,
        .events_in_stop = 1, /* a runtime calls a profiler that is in its Shutdown, too */
        .group = &guest_group_events,
        .start = guest_start,
        .stop = guest_stop,
        .first_compilation = guest_first_compilation,
        .first_body = guest->first_body ? guest_first_body : NULL,
        .release = guest_release,
    };
}

static void leave_out(void *arg, const char *line)
{
    (void)arg;
    sxs_error("SXSPROF_GUESTS: %s: this is left out", line);
}

/* Adds the profiler that a plug-in of @engine may bring with AddRawProfilerHook(). It comes after the
 * engine, so that it sees what the plug-ins have written, as in CLRIE. */
static void add_hook(const struct guest *engine)
{
    static char              name[] = "the raw profiler of an instrumentation method";
    struct guest_declaration declared = {.path = name, .priority = INT_MAX};
    struct guest            *guest = &guests[n_guests];
    if (n_guests == GUEST_MAX)
        return;
    add(&declared);
    guest->loaded = 1;
    guest->hook_of = engine;
}

/* Adds the engine for instrumentation methods, which is a guest in a library of this project. It comes last, so
 * that its plug-ins change what other guests have changed before. */
static void add_engine(void)
{
    static char              name[] = "the engine for instrumentation methods";
    struct guest_declaration declared = {.path = name, .priority = INT_MAX};
    struct guest            *guest = &guests[n_guests];
    const struct clrie_offers *engine;
    if (n_guests == GUEST_MAX || !clrie_config_is_named() || !(engine = clrie_link()))
        return;
    snprintf(declared.clsid_text, sizeof(declared.clsid_text), "%s", CLRIE_CLSID);
    sxs_guid_parse(declared.clsid_text, &declared.clsid);
    add(&declared);
    guest->loaded = 1;
    guest->get_class_object = engine->get_class_object;
    guest->first_body = engine->first_body;
    add_hook(guest);
}

/* Runtimes load notification profilers themselves when the signal library has not taken them out
 * of the environment before the runtimes read it. They must not run twice. */
static void check_adopted(const struct guest_list *list)
{
    if (list->adopt && sxs_notification_profilers())
        sxs_warn(
            "CORECLR_NOTIFICATION_PROFILERS: these profilers are loaded by the runtimes, not as "
            "guests: expected libsxsprof-preload.so in LD_PRELOAD, which adopts them");
}

void sxs_guests_init(void)
{
    static struct guest_list list; /* its declarations are moved to `guests` */
    struct sxs_enabled_tool  enabled[GUEST_MAX];
    const char              *text = sxs_env_get(SXS_ENV_GUESTS);
    sxs_config_open_files_by(sxs_proc_call);
    if (text) {
        guest_list_read(&list, text, leave_out, NULL);
        check_adopted(&list);
    }
    for (unsigned i = 0; i < list.n; i++)
        add(&list.items[i]);
    add_engine();
    if (!n_guests)
        return;
    for (unsigned i = 0; i < n_guests; i++) {
        prepare(&guests[i], i);
        enabled[i] = (struct sxs_enabled_tool){.tool = &guests[i].tool, .options = ""};
    }
    sxs_manager_enable(enabled, n_guests);
}
