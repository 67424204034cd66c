/* SPDX-License-Identifier: MIT */
#include "cmd/fail_if.h"

#include <string.h>

#include "cmd/command.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/profile.h"

#define OPTION "--fail-if"

void sxs_fail_if_add(struct argp_state *state, struct sxs_fail_if *f, const char *text)
{
    char why[256];
    f->all = sxs_must(reallocarray(f->all, f->n + 1, sizeof(*f->all)));
    if (sxs_condition_parse(text, &f->all[f->n], why, sizeof(why)) != 0)
        sxs_option_error(state, OPTION ": '%s': %s", text, why);
    f->n++;
}

void sxs_fail_if_check(struct argp_state *state, const struct sxs_fail_if *f,
                       const struct sxs_report_options *o)
{
    for (size_t i = 0; o->data != SXS_DATA_ANY && i < f->n; i++)
        if (!sxs_condition_units(&f->all[i], o->data, o->by_count))
            sxs_option_error(state, OPTION ": %s: %s are not measured in %s", f->all[i].what,
                             sxs_data_kind(o->data)->many, f->all[i].unit_text);
}

bool sxs_fail_if_begin(struct sxs_fail_if *f, const struct sxs_opened *v,
                       const struct sxs_report_options *o, struct sxs_opened_reader *reader)
{
    if (!f->n)
        return false;
    f->begun = true;
    f->options = *o;
    f->options.errors = true;
    f->data = sxs_profile_data(v, o);
    if (o->data == SXS_DATA_ANY && !sxs_profile_has(v, f->data) && sxs_profile_has_events(v))
        f->data = SXS_DATA_ANY;
    if (f->data == SXS_DATA_ANY) {
        *reader = sxs_events_report_reader(&f->events);
    } else if (f->data == SXS_DATA_CALLS) {
        *reader = sxs_calls_report_reader(&f->calls);
    } else {
        f->loading = sxs_model_loading_new(v, &f->options, f->data, 0, &f->model);
        *reader = sxs_model_loading_reader(f->loading);
    }
    return true;
}

static int measure(struct sxs_fail_if *f, const struct sxs_condition *c, struct sxs_measured *v,
                   size_t *n_functions, char *why, size_t size)
{
    if (f->data == SXS_DATA_ANY)
        return sxs_measure_exceptions(c, &f->events, &f->options, v, n_functions, why, size);
    return sxs_measure_model(c, &f->model, &f->calls, &f->options, v, n_functions, why, size);
}

/* Decides one condition, and prints what there is to say. */
static enum sxs_verdict decide(struct sxs_fail_if *f, const struct sxs_condition *c)
{
    struct sxs_measured v;
    char                line[1400], why[512];
    size_t              n_functions;
    if (measure(f, c, &v, &n_functions, why, sizeof(why)) != 0) {
        sxs_complain("%s cannot be measured: %s: " OPTION, c->what, why);
        return SXS_UNDECIDED;
    }
    enum sxs_verdict verdict = sxs_condition_decide(c, &v);
    if (verdict != SXS_NOT_MET)
        sxs_complain("%s%s: " OPTION, sxs_condition_say(c, &v, line, sizeof(line)),
                     n_functions ? "" : "; no function fits");
    else if (!n_functions)
        sxs_complain("%s is 0, because no function fits: " OPTION, c->what);
    return verdict;
}

int sxs_fail_if_end(struct sxs_fail_if *f, const struct sxs_opened *v,
                    const struct sxs_missing *missing, int status)
{
    bool met = false, undecided = false,
         written = status == SXS_EXIT_OK || status == SXS_EXIT_PROBLEM;
    f->options.missing = missing;
    if (f->begun && f->loading)
        sxs_model_loading_end(f->loading);
    else if (f->begun && f->data == SXS_DATA_CALLS)
        sxs_model_load_calls(v, &f->calls, &f->options, 0, &f->model);
    for (size_t i = 0; f->begun && written && i < f->n; i++) {
        enum sxs_verdict verdict = decide(f, &f->all[i]);
        met |= verdict == SXS_MET;
        undecided |= verdict == SXS_UNDECIDED;
    }
    sxs_model_free(&f->model);
    sxs_calls_report_free(&f->calls);
    sxs_events_report_free(&f->events);
    free(f->all);
    *f = (struct sxs_fail_if){.all = NULL};
    return met ? SXS_EXIT_CONDITION : undecided ? SXS_EXIT_UNDECIDED : status;
}
