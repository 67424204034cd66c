/* SPDX-License-Identifier: MIT */
/** verbs.h - the table of verbs. Help, completion and the dispatch of the command read it. */
#ifndef SXS_CMD_VERBS_H
#define SXS_CMD_VERBS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/** The groups in which help lists the verbs. */
enum sxs_verb_group {
    SXS_VERBS_RECORD,
    SXS_VERBS_CONTROL,
    SXS_VERBS_READ,
    SXS_VERBS_FLEET,
    SXS_VERBS_SETUP,
    SXS_VERBS_UNLISTED, /* other spellings of those above */
};

struct sxs_verb {
    const char *name;
    const char *summary; /* one line, for "sxsprof --help" */
    /* Runs the verb as described in command.h. NULL for "help", which main() handles. */
    int (*run)(int argc, char **argv);
    const struct argp *argp; /* its options; NULL: make() returns them, or it has none */
    const struct argp *(*make)(const char *verb); /* static; overwritten by the next call */
    enum sxs_verb_group group;
};

extern const struct sxs_verb sxs_verbs[];
extern const size_t          sxs_n_verbs;

/** sxs_verb_find - return the verb @name; NULL when there is none. */
const struct sxs_verb *sxs_verb_find(const char *name);

/**
 * sxs_verb_options - return the verb's options; NULL for "help". Static; the options of a recording verb
 * are overwritten by the next call.
 */
const struct argp *sxs_verb_options(const struct sxs_verb *verb);

/** sxs_verb_similar - return the name of the verb that @name probably means; NULL: none is similar. */
const char *sxs_verb_similar(const char *name);

/**
 * sxs_verb_run - run @verb. @argv[0] is replaced by the verb's name for messages.
 * Returns an exit status.
 */
int sxs_verb_run(const struct sxs_verb *verb, int argc, char **argv);

#endif
