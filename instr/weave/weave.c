/* SPDX-License-Identifier: MIT */
/* weave.c - applies actions from the innermost to the outermost, each around the body as it is so
 * far. */
#include "instr/weave/weave.h"

#include <stdlib.h>
#include <string.h>

#include "instr/metadata/signature.h"
#include "instr/weave/call.h"
#include "instr/weave/constant.h"
#include "instr/weave/emit.h"
#include "instr/weave/fault.h"
#include "instr/weave/inject.h"
#include "instr/weave/trace.h"

/* ---- count, time ------------------------------------------------------------------------------ */

static const uint8_t marker_and_tick[] = {SXS_ELEMENT_I, SXS_ELEMENT_I8};

static int add_counter(struct sxs_method *m, const struct sxs_marker *marker)
{
    struct sxs_emit e = {m, m->body->first};
    return sxs_emit_pointer(&e, (const void *)marker->place) ||
           sxs_emit_callout(&e, (uintptr_t)sxs_callout_count, SXS_ELEMENT_VOID, marker_and_tick, 1);
}

static int end_of_time(struct sxs_emit *e, const struct sxs_marker *marker, uint16_t tick,
                       uintptr_t function)
{
    return sxs_emit_pointer(e, marker) || sxs_emit(e, sxs_il_ldloc(e->m->body, tick)) ||
           sxs_emit_callout(e, function, SXS_ELEMENT_VOID, marker_and_tick, 2);
}

static int time_it(struct sxs_method *m, const struct sxs_marker *marker)
{
    static const uint8_t i8 = SXS_ELEMENT_I8;
    struct sxs_il_wrap   wrap;
    struct sxs_emit      e = {m, NULL};
    int                  tick = sxs_method_add_locals(m, &i8, 1, 1);
    uintptr_t            leave = (uintptr_t)sxs_callout_leave;
    uintptr_t            threw = (uintptr_t)sxs_callout_threw;
    if (tick < 0 || sxs_fault_wrap(m, &wrap))
        return -1;
    e.at = wrap.body;
    if (sxs_emit_pointer(&e, marker) ||
        sxs_emit_callout(&e, (uintptr_t)sxs_callout_enter, SXS_ELEMENT_I8, marker_and_tick, 1) ||
        sxs_emit(&e, sxs_il_stloc(m->body, (uint16_t)tick)))
        return -1;
    e.at = wrap.rethrow;
    if (end_of_time(&e, marker, (uint16_t)tick, threw))
        return -1;
    if (!wrap.exit)
        return 0;
    e.at = wrap.exit->next;
    return end_of_time(&e, marker, (uint16_t)tick, leave);
}

/* ---- lines of IL ------------------------------------------------------------------------------ */

/* Gives the method a single return. *exit: a nop before it; NULL: the method never returns. */
static int one_exit(struct sxs_method *m, struct sxs_il_insn **exit)
{
    int result = sxs_method_result(m);
    if (result < 0)
        return -1;
    if (sxs_il_single_return(m->body, &m->il, (uint16_t)result, exit, &m->error))
        return sxs_method_fail(m, "its ways out cannot be made one: %s", m->error.text);
    return 0;
}

static int inject_il(struct sxs_method *m, const struct sxs_action *a,
                     const struct sxs_spots *spots)
{
    struct sxs_il_insn *at;
    if (a->place == SXS_PLACE_ENTRY)
        return sxs_inject_lines(m, a, m->body->first);
    if (a->place == SXS_PLACE_EXIT) {
        if (one_exit(m, &at))
            return -1;
        return at ? sxs_inject_lines(m, a, at->next) : 0; /* NULL: the method never returns */
    }
    if (a->offset != SXS_NO_OFFSET)
        return sxs_inject_at_offset(m, a);
    while (spots->action && spots->action != a)
        spots++;
    if (!spots->action)
        return sxs_method_fail(m, "the instruction was not looked for");
    return sxs_inject_at_spots(m, spots);
}

/* ---- replace ---------------------------------------------------------------------------------- */

static int replace_body(struct sxs_method *m, const struct sxs_marker *marker,
                        const struct sxs_action *a)
{
    struct sxs_il_insn *exit;
    struct sxs_emit     e = {m, NULL};
    if (!m->il.returns)
        return sxs_method_fail(m, "it returns nothing that could be replaced");
    if (one_exit(m, &exit))
        return -1;
    if (!exit)
        return 0;
    if (a->call.kind != SXS_TARGET_NONE)
        return sxs_call_replace(m, marker, a, exit->next);
    e.at = exit->next;
    return sxs_emit_constant(&e, a->value) || sxs_emit(&e, sxs_il_stloc(m->body, m->result_local));
}

/* ---- all -------------------------------------------------------------------------------------- */

/* Returns the action that does most among those that count, time or trace: only this one is
 * applied, so that a call is counted once. */
static const struct sxs_action *counting(const struct sxs_rule *const *rules, size_t n)
{
    const struct sxs_action *strongest = NULL;
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < rules[r]->n_actions; i++) {
            const struct sxs_action *a = &rules[r]->actions[i];
            if (a->kind <= SXS_ACTION_TRACE && (!strongest || a->kind > strongest->kind))
                strongest = a;
        }
    return strongest;
}

static int apply_action(struct sxs_method *m, const struct sxs_marker *marker,
                        const struct sxs_action *a, const struct sxs_spots *spots)
{
    switch (a->kind) {
    case SXS_ACTION_COUNT: return add_counter(m, marker);
    case SXS_ACTION_TIME: return time_it(m, marker);
    case SXS_ACTION_TRACE: return sxs_trace(m, marker, a);
    case SXS_ACTION_INJECT: return inject_il(m, a, spots);
    case SXS_ACTION_REPLACE: return replace_body(m, marker, a);
    case SXS_ACTION_BEFORE: return sxs_call_before(m, marker, a);
    case SXS_ACTION_AFTER: return sxs_call_after(m, marker, a);
    case SXS_ACTION_WRAP: return sxs_call_wrap(m, marker, a);
    default: return sxs_method_fail(m, "what to do is not known");
    }
}

static void set_place(struct sxs_method *m, const struct sxs_rule *rule, const struct sxs_action *a)
{
    m->file = rule->file;
    m->line = a->line;
    m->column = a->column;
}

/* Whether the action's place is an instruction given by its text. */
static int by_text(const struct sxs_action *a)
{
    return a->kind == SXS_ACTION_INJECT && a->instruction.text && a->offset == SXS_NO_OFFSET &&
           (a->place == SXS_PLACE_BEFORE || a->place == SXS_PLACE_AFTER);
}

/* Finds the instructions that rules give by their text. Called while the body is unchanged. */
static int find_spots(struct sxs_method *m, const struct sxs_rule *const *rules, size_t n,
                      struct sxs_spots *spots, size_t *n_spots)
{
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < rules[r]->n_actions; i++) {
            if (!by_text(&rules[r]->actions[i]))
                continue;
            set_place(m, rules[r], &rules[r]->actions[i]);
            if (sxs_spots_find(m, &rules[r]->actions[i], &spots[(*n_spots)++]))
                return -1;
        }
    return 0;
}

static int weave_rules(struct sxs_method *m, const struct sxs_marker *marker,
                       const struct sxs_rule *const *rules, size_t n, const struct sxs_spots *spots)
{
    const struct sxs_action *counts = counting(rules, n);
    for (size_t r = n; r-- > 0;)
        for (uint32_t i = rules[r]->n_actions; i-- > 0;) {
            const struct sxs_action *a = &rules[r]->actions[i];
            if (a->kind <= SXS_ACTION_TRACE && a != counts)
                continue;
            set_place(m, rules[r], a);
            if (apply_action(m, marker, a, spots))
                return -1;
        }
    return 0;
}

/* Returns the number of actions that insert lines, and sets m's place to the first of them. When it
 * is the only one, an invalid body must be due to it. */
static unsigned count_injections(struct sxs_method *m, const struct sxs_rule *const *rules,
                                 size_t n, size_t *n_by_text)
{
    unsigned n_injects = 0;
    m->file = NULL;
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < rules[r]->n_actions; i++) {
            const struct sxs_action *a = &rules[r]->actions[i];
            *n_by_text += (size_t)by_text(a);
            if (a->kind == SXS_ACTION_INJECT && !n_injects++)
                set_place(m, rules[r], a);
        }
    return n_injects;
}

int sxs_weave(struct sxs_method *m, const struct sxs_marker *marker,
              const struct sxs_rule *const *rules, size_t n)
{
    size_t            n_by_text = 0, n_found = 0;
    struct sxs_spots *spots;
    int               err;
    count_injections(m, rules, n, &n_by_text);
    spots = calloc(n_by_text + 1, sizeof(*spots)); /* the last one has no action: the end */
    err = !spots
              ? sxs_method_fail(m, "no memory")
              : find_spots(m, rules, n, spots, &n_found) || weave_rules(m, marker, rules, n, spots);
    for (size_t i = 0; i < n_found; i++)
        free(spots[i].all);
    free(spots);
    if (!err && count_injections(m, rules, n, &n_by_text) != 1)
        m->file = NULL;
    return err ? -1 : 0;
}
