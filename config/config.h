/* SPDX-License-Identifier: MIT */
/**
 * config.h - instrumentation files: which methods, and what is to be done to them.
 *
 * Files are XML, of this project's own schema (config/instrumentation.xsd) or New Relic's extension
 * files; docs/instrumentation.md describes both. What they say becomes a `struct sxs_config`:
 * immutable, plain structs and zero-terminated UTF-8. Nothing here knows of a runtime.
 *
 * Ownership: a config owns all that its pointers reach; sxs_config_free() ends it. Any number of
 * threads may read one. Loading takes files' time and memory and holds a lock of its own: never
 * from a signal handler or a callback of a runtime. Nothing here logs, exits, or touches the
 * network.
 *
 * The order of rules is always the same and that of `rules`: higher priority first; then by the
 * name of the file (bytes), then by the place in the file. The first rule of a method is the
 * outermost: what it does at entry is done first, what it does at exit is done last. Actions of a
 * rule nest the same way, in the order of the file.
 */
#ifndef SXS_CONFIG_H
#define SXS_CONFIG_H

#include <stddef.h>
#include <stdint.h>

/* ---- matching -------------------------------------------------------------------------------- */

/** A name, or a pattern of names: `*` stands for any text, `?` for any character. Case counts. */
struct sxs_pattern {
    const char *text; /* NULL: anything */
    int         wild; /* has wildcards; 0: compared as it is */
};

/** Four numbers, the first the major. Missing ones are 0. */
struct sxs_version {
    uint16_t part[4];
};

/** Which body of an async method or an iterator is meant. */
enum sxs_async {
    SXS_ASYNC_BY_NAME,       /* not said: methods are found by the names they have in metadata */
    SXS_ASYNC_OUTER,         /* the method as written; never the MoveNext() of a state machine */
    SXS_ASYNC_STATE_MACHINE, /* MoveNext(), found by the names of the method it was made from */
};

/** A set of methods: those for which all that is given holds. */
struct sxs_match {
    /* Versions separated by blanks, each a whole or the beginning: "8", "10.0.11". NULL: all */
    const char        *runtime;
    struct sxs_pattern assembly; /* simple name, without .dll */
    struct sxs_version min_version, max_version; /* of the assembly: inclusive, exclusive */
    uint8_t            has_min, has_max;
    uint8_t            async;  /* enum sxs_async */
    struct sxs_pattern type;   /* Namespace.Outer+Inner`1 */
    struct sxs_pattern method; /* .ctor, .cctor, get_Name, Interface.Method as in metadata */
    /* Type names as sxs_config_put_type() spells them. n_parameters -1: any list. */
    const struct sxs_pattern *parameters;
    int                       n_parameters;
    struct sxs_pattern attribute; /* type name of a custom attribute of the method or of its type */
    uint32_t           line, column;
};

/* ---- actions --------------------------------------------------------------------------------- */

enum sxs_action_kind {
    SXS_ACTION_COUNT,
    SXS_ACTION_TIME,   /* and count */
    SXS_ACTION_TRACE,  /* enter, leave, exception, with the arguments chosen */
    SXS_ACTION_BEFORE, /* `call` at entry */
    SXS_ACTION_AFTER,  /* `call` when the method ends: see `on` */
    SXS_ACTION_WRAP, /* `call` at entry; it returns a state (object or void *) that `finish` gets,
                        with the result or the exception, when the method ends. The exception goes
                        on. */
    SXS_ACTION_REPLACE, /* the result: `value`, the type's default, or what `call` returns */
    SXS_ACTION_INJECT,  /* `il` at `place` */
};

/* Exceptions of managed code that BEFORE, AFTER, WRAP or REPLACE calls are swallowed and
 * counted. */

enum sxs_target_kind { SXS_TARGET_NONE, SXS_TARGET_NATIVE, SXS_TARGET_MANAGED };

/** What is called. A path with a slash is absolute; it was relative to the file's folder. */
struct sxs_target {
    enum sxs_target_kind kind;
    const char *path;   /* of the library (no slash: as dlopen() finds it), or of the assembly (not
                           ending in .dll: the simple name of one that the runtime finds) */
    const char *type;   /* managed: Namespace.Outer+Inner */
    const char *method; /* the export, or the static method */
    uint8_t     plain;  /* native: called without a transition; it must be short and never wait */
};

enum sxs_argument_kind {
    SXS_ARGUMENT_ALL, /* all declared ones */
    SXS_ARGUMENT_THIS,
    SXS_ARGUMENT_INDEX, /* `index`, from 0, without `this` */
    SXS_ARGUMENT_NAME,  /* `name`, as in the source */
};

struct sxs_argument {
    enum sxs_argument_kind kind;
    uint32_t               index;
    const char            *name;
};

/** When the method ends how? */
enum sxs_on { SXS_ON_END, SXS_ON_RESULT, SXS_ON_EXCEPTION };

enum sxs_place {
    SXS_PLACE_ENTRY,
    SXS_PLACE_EXIT,   /* before each way out that returns */
    SXS_PLACE_BEFORE, /* an instruction: `offset`, or all that `instruction` fits */
    SXS_PLACE_AFTER,
};

#define SXS_NO_OFFSET UINT32_MAX

struct sxs_action {
    enum sxs_action_kind kind;
    const char *label; /* COUNT, TIME, TRACE: its name in reports; NULL: the method's name */
    /* TRACE, BEFORE, AFTER, WRAP, REPLACE: in this order */
    const struct sxs_argument *arguments;
    uint32_t                   n_arguments;
    uint8_t           with_result;    /* TRACE: record it; AFTER, WRAP: hand it over */
    uint8_t           with_exception; /* likewise */
    enum sxs_on       on;             /* AFTER */
    struct sxs_target call, finish;
    const char       *value; /* REPLACE: a constant as text, converted to the result's type where it
                                is applied; NULL: `call`, or without one the type's default */
    enum sxs_place     place;       /* INJECT */
    uint32_t           offset;      /* in the method's original code; SXS_NO_OFFSET: instruction */
    struct sxs_pattern instruction; /* of the line that sxs_il_put_insn() writes with names, runs of
                                       blanks made one: `call *[System.Console]*::WriteLine(*` */
    const char *il; /* lines for sxs_il_assemble(); they do assemble, whatever tokens mean */
    uint32_t    il_line, il_column; /* where they begin in the file, for later messages */
    uint32_t    line, column;       /* of the element */
};

/* ---- rules ----------------------------------------------------------------------------------- */

/** A method is the rule's when one of `matches` fits it and none of `exclusions`. */
struct sxs_rule {
    const char *file;         /* path as loaded */
    uint32_t    line, column; /* of its element; columns count characters, from 1 */
    const char *name;         /* never NULL: as given, or "FILE:LINE" */
    int32_t     priority;     /* 0 unless given */
    uint8_t     new_relic;    /* from an extension file: a method takes one such rule, see
                                 sxs_config_rules() */
    uint64_t    identity;     /* of `content`: the same from load to load, never 0 */
    const char *content;      /* all that the rule says, in one canonical form, without places in
                                 files. Two rules with the same content are the same rule */
    const struct sxs_match  *matches;
    uint32_t                 n_matches;
    const struct sxs_match  *exclusions;
    uint32_t                 n_exclusions;
    const struct sxs_action *actions;
    uint32_t                 n_actions;
};

/** Something wrong with a file. */
struct sxs_problem {
    const char *file;
    uint32_t    line, column; /* from 1; 0: of the file as a whole */
    int         warning;      /* nonzero: what is named is ignored, the rest of the file counts */
    const char *what;         /* one line, English, no full stop */
    const char *expected;     /* likewise; NULL: nothing more to say */
};

struct sxs_config {
    const struct sxs_rule *const *rules; /* in their order */
    uint32_t                      n_rules;
    const struct sxs_problem     *problems; /* by file and place */
    uint32_t                      n_problems, n_errors; /* errors: problems that are no warnings */
    uint32_t                      n_files; /* read, wrong ones too */
};

/* What is read at most; more is an error. */
#define SXS_CONFIG_FILE_MAX  (1u << 20) /* bytes of one file */
#define SXS_CONFIG_FILES_MAX 1024u      /* in a folder */
#define SXS_CONFIG_DEPTH_MAX 16u        /* elements within elements */
#define SXS_CONFIG_RULES_MAX 20000u     /* of one file */

/**
 * sxs_config_load - read @path: a file, or a folder with all its *.xml in the order of their names.
 * @old: what was loaded before, or NULL. A file that is wrong contributes nothing, and says why in
 * `problems`; if @old has rules of it, these stay. What is there no longer contributes
 * nothing. A folder without files is fine: no rules.
 * Returns a config, also when all is wrong; owned: sxs_config_free(). NULL: no memory. @old stays
 * the caller's and may be freed in any order. Any thread.
 */
struct sxs_config *sxs_config_load(const char *path, const struct sxs_config *old);

/**
 * sxs_config_open_files_by - from now on each file and folder is opened, read and closed again by @by(work, arg), which
 * returns what work(arg) returns; work may run on another thread. In a process of somebody else this keeps descriptors out
 * of its table (sxs_proc_call). At first work runs on the thread that loads. Call before the first sxs_config_load().
 */
void sxs_config_open_files_by(int (*by)(int (*work)(void *arg), void *arg));

/** sxs_config_parse - the same of @size bytes, called @file in messages. */
struct sxs_config *sxs_config_parse(const char *file, const char *bytes, size_t size);

/** sxs_config_free - NULL is fine. Rules that another config took over live on there. */
void sxs_config_free(struct sxs_config *config);

/** sxs_config_put_problem - "FILE:LINE:COLUMN: WHAT; expected EXPECTED" into @text, cut at @size
 *  and always zero-terminated. Returns the whole length. */
size_t sxs_config_put_problem(const struct sxs_problem *problem, char *text, size_t size);

/* ---- asking ---------------------------------------------------------------------------------- */

/** A method as rules see it. NULL: not known, and fits whatever is asked of it, but for `outer`. A
 *  list that is NULL while there are some (UINT32_MAX will do) is not known either. */
struct sxs_config_method {
    const char               *runtime;  /* "8.0.29" */
    const char               *assembly; /* simple name */
    const struct sxs_version *version;  /* of the assembly */
    const char               *type, *method;
    const char *const        *parameters;
    uint32_t                  n_parameters;
    const char *const        *attributes; /* type names, of the method and of its type */
    uint32_t                  n_attributes;
    /* The method from which the compiler made this body of a state machine; only names, parameters
     * and attributes count. NULL: it is no such body. */
    const struct sxs_config_method *outer;
};

/** sxs_config_matches - is @method the rule's? Pure. */
int sxs_config_matches(const struct sxs_rule *rule, const struct sxs_config_method *method);

/** How near a method comes to a rule. */
enum sxs_config_reach {
    SXS_REACH_NOTHING,
    SXS_REACH_ASSEMBLY,   /* and runtime, version; no type */
    SXS_REACH_TYPE,       /* no method */
    SXS_REACH_METHOD,     /* other parameters */
    SXS_REACH_PARAMETERS, /* other attributes, or another part of an async method */
    SXS_REACH_EXCLUDED,
    SXS_REACH_ALL,
};

/** sxs_config_reach - of the match that comes nearest. Without method->type, or without method->method, no
 *  further than to what comes before it. */
enum sxs_config_reach sxs_config_reach(const struct sxs_rule          *rule,
                                       const struct sxs_config_method *method);

/** sxs_config_fits - does @text fit the pattern as a whole? */
int sxs_config_fits(const struct sxs_pattern *pattern, const char *text);

/**
 * sxs_config_may_match - could a method with this runtime, assembly and type be the rule's? Looks
 * at nothing else, so that names of methods, parameters and attributes need not be found out for
 * nothing. @type NULL: some type. A nested type may be that of a state machine: ask for the type
 * around it as well.
 */
int sxs_config_may_match(const struct sxs_rule *rule, const char *runtime, const char *assembly,
                         const struct sxs_version *version, const char *type);

/** sxs_config_wants_attributes - does any match of the rule ask for custom attributes? */
int sxs_config_wants_attributes(const struct sxs_rule *rule);

/**
 * sxs_config_rules - all rules of @method, outermost first, at most @room into @rules. Returns how
 * many there are. Of New Relic's at most one is among them, as in its agent: one with a parameter
 * list before one without, then the first.
 */
size_t sxs_config_rules(const struct sxs_config *config, const struct sxs_config_method *method,
                        const struct sxs_rule **rules, size_t room);

/* ---- two loads ------------------------------------------------------------------------------- */

struct sxs_config_difference {
    const struct sxs_rule **went; /* of the old, borrowed */
    const struct sxs_rule **came; /* of the new, borrowed */
    const struct sxs_rule **stayed; /* the new one's copies */
    uint32_t                n_went, n_came, n_stayed;
    int                     reordered; /* those that stayed have another order now */
};

/** sxs_config_difference - from @old to @new (NULL: nothing). Each rule of either is in one list.
 *  Returns 0, or -1: no memory. sxs_config_difference_clear() ends it. */
int  sxs_config_difference(const struct sxs_config *old, const struct sxs_config *new_,
                           struct sxs_config_difference *difference);
void sxs_config_difference_clear(struct sxs_config_difference *difference);

/* ---- spelling -------------------------------------------------------------------------------- */

struct sxs_sig;
struct sxs_il_text;

/** Where names of types come from. */
struct sxs_config_names {
    /** The type of token TypeDef, TypeRef or TypeSpec as Namespace.Outer+Inner`1, without its
     *  assembly. */
    void (*put)(void *context, struct sxs_il_text *t, uint32_t token);
    void *context;
};

/**
 * sxs_config_put_type - a type of a signature as parameter lists spell it: System.Int32,
 * System.String[], System.Int32[,], System.Int32&, System.Byte*,
 * System.Collections.Generic.List`1[System.String], !0 and !!0 for type parameters; modifiers are
 * left out.
 */
void sxs_config_put_type(struct sxs_il_text *t, const struct sxs_sig *sig, uint32_t node,
                         const struct sxs_config_names *names);

#endif
