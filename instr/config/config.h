/* SPDX-License-Identifier: MIT */
/**
 * instr/config/config.h - load instrumentation files: which methods, and what is done to them.
 *
 * The files are XML, either with this project's schema (instr/config/instrumentation.xsd) or New
 * Relic's extension files; docs/guide/instrumentation.md describes both. Loading makes an immutable
 * `struct sxs_config` of plain structs and zero-terminated UTF-8. This folder does not need a
 * runtime.
 *
 * Ownership: a config owns all memory that its pointers reach, until sxs_config_free(). Any number
 * of threads may read a config. Loading reads files, allocates, and holds a lock private to this
 * folder: do not load in a signal handler or in a callback of a runtime. No function here logs,
 * exits, or uses the network.
 *
 * The order of the rules in `rules` is always the same: higher priority first, then by the bytes of
 * the file's name, then by the place in the file. The first rule of a method is the outermost: its
 * actions at entry come first, its actions at exit come last. The actions of a rule nest the same
 * way, in the order of the file.
 */
#ifndef SXS_INSTR_CONFIG_CONFIG_H
#define SXS_INSTR_CONFIG_CONFIG_H

#include <stddef.h>
#include <stdint.h>

/* ---- matching -------------------------------------------------------------------------------- */

/** A name, or a pattern of names: `*` matches any text, `?` any character. Case-sensitive. */
struct sxs_pattern {
    const char *text; /* NULL: matches anything */
    int has_wildcards; /* nonzero: `*` and `?` are wildcards; 0: the text is compared as it is */
};

/** Major, minor, build, revision. Missing numbers are 0. */
struct sxs_version {
    uint16_t part[4];
};

/** Which of the two methods of an async method or an iterator is matched. */
enum sxs_async {
    SXS_ASYNC_BY_NAME,       /* not given: either, by its own names in metadata */
    SXS_ASYNC_OUTER,         /* the method as written; never the MoveNext() of a state machine */
    SXS_ASYNC_STATE_MACHINE, /* MoveNext(), found by the names of the method it was made from */
};

/** A set of methods. A method is in the set when all conditions that are given hold. */
struct sxs_match {
    /* Versions separated by blanks, each complete or the beginning: "8", "10.0.11". NULL: all */
    const char        *runtime;
    struct sxs_pattern assembly; /* simple name, without .dll */
    struct sxs_version min_version, max_version; /* of the assembly: inclusive, exclusive */
    uint8_t            has_min, has_max;
    uint8_t            async;  /* enum sxs_async */
    struct sxs_pattern type;   /* Namespace.Outer+Inner`1 */
    struct sxs_pattern method; /* as in metadata: .ctor, .cctor, get_Name, Interface.Method */
    /* Type names as sxs_config_put_type() spells them. n_parameters -1: any parameters. */
    const struct sxs_pattern *parameters;
    int                       n_parameters;
    struct sxs_pattern attribute; /* type name of a custom attribute of the method or of its type */
    uint32_t           line, column; /* of the element in the file */
};

/* ---- actions --------------------------------------------------------------------------------- */

enum sxs_action_kind {
    SXS_ACTION_COUNT,  /* count the calls */
    SXS_ACTION_TIME,   /* count the calls and measure their duration */
    SXS_ACTION_TRACE,  /* record enter, leave and exception, with the chosen arguments */
    SXS_ACTION_BEFORE, /* call `call` at entry */
    SXS_ACTION_AFTER,  /* call `call` when the method ends: see `on` */
    SXS_ACTION_WRAP,   /* call `call` at entry, and `finish` when the method ends. `finish` gets the
                          state (object or void *) that `call` returned, and the result or the
                          exception. The exception is rethrown. */
    SXS_ACTION_REPLACE, /* change the result to `value`, the default, or what `call` returns */
    SXS_ACTION_INJECT,  /* insert `il` at `place` */
};

/* Exceptions that a managed target of BEFORE, AFTER, WRAP or REPLACE throws are swallowed and
 * counted. */

enum sxs_target_kind { SXS_TARGET_NONE, SXS_TARGET_NATIVE, SXS_TARGET_MANAGED };

/** A function that an action calls. A relative path with a slash was made absolute: it is relative
 *  to the file's folder. */
struct sxs_call_target {
    enum sxs_target_kind kind;
    const char *path;   /* native: the library; without a slash, dlopen() searches for it. Managed:
                           the assembly's file; not ending in .dll: the simple name of an assembly
                           that the runtime finds */
    const char *type;   /* managed: Namespace.Outer+Inner */
    const char *method; /* the export, or the static method */
    uint8_t     plain;  /* native: called without a transition; must be short and never wait */
};

enum sxs_argument_kind {
    SXS_ARGUMENT_ALL, /* all declared arguments */
    SXS_ARGUMENT_THIS,
    SXS_ARGUMENT_INDEX, /* argument number `index`, from 0, not counting `this` */
    SXS_ARGUMENT_NAME,  /* the argument called `name` in the source */
};

struct sxs_argument {
    enum sxs_argument_kind kind;
    uint32_t               index;
    const char            *name;
};

/** The ends of a method after which AFTER calls: any, a return, or an exception. */
enum sxs_on { SXS_ON_END, SXS_ON_RESULT, SXS_ON_EXCEPTION };

enum sxs_place {
    SXS_PLACE_ENTRY,
    SXS_PLACE_EXIT,   /* before each exit that returns */
    SXS_PLACE_BEFORE, /* before the instruction at `offset`, or all that match `instruction` */
    SXS_PLACE_AFTER,  /* likewise, after it */
};

#define SXS_NO_OFFSET UINT32_MAX

struct sxs_action {
    enum sxs_action_kind kind;
    const char *label; /* COUNT, TIME, TRACE: name in reports; NULL: the method's name */
    /* TRACE, BEFORE, AFTER, WRAP, REPLACE: the arguments to record or pass, in this order */
    const struct sxs_argument *arguments;
    uint32_t                   n_arguments;
    uint8_t           with_result;    /* TRACE: record the result; AFTER, WRAP: pass it */
    uint8_t           with_exception; /* likewise for the exception */
    enum sxs_on       on;             /* AFTER */
    struct sxs_call_target     call, finish;
    const char       *value; /* REPLACE: a constant as text, converted to the result's type when the
                                rule is applied; NULL: use `call`, or without `call` the default */
    enum sxs_place     place;       /* INJECT */
    uint32_t           offset;      /* in the original code; SXS_NO_OFFSET: use `instruction` */
    struct sxs_pattern instruction; /* of the line that sxs_il_put_insn() writes with names, with
                                       one blank for each run of blanks, such as
                                       `call *[System.Console]*::WriteLine(*` */
    const char *il; /* text for sxs_il_assemble(); its syntax was checked, its tokens were not */
    uint32_t    il_line, il_column; /* where `il` begins in the file, for later messages */
    uint32_t    line, column;       /* of the element */
};

/* ---- rules ----------------------------------------------------------------------------------- */

/** A rule applies to a method that one of `matches` matches and none of `exclusions`. */
struct sxs_rule {
    const char *file;         /* path as loaded */
    uint32_t    line, column; /* of the element; from 1; columns count characters */
    const char *name;         /* as given, or "FILE:LINE"; never NULL */
    int32_t     priority;     /* 0 unless given */
    uint8_t     new_relic;    /* from an extension file; at most one such rule applies to a method,
                                 see sxs_config_rules() */
    uint64_t    identity;     /* hash of `content`: the same in every load, never 0 */
    const char *content;      /* canonical text of all that the rule says, without places in files.
                                 Two rules with the same content are the same rule */
    const struct sxs_match  *matches;
    uint32_t                 n_matches;
    const struct sxs_match  *exclusions;
    uint32_t                 n_exclusions;
    const struct sxs_action *actions;
    uint32_t                 n_actions;
};

/** An error or a warning about a file. */
struct sxs_problem {
    const char *file;
    uint32_t    line, column; /* from 1; 0: about the file as a whole */
    int         warning;      /* nonzero: the named item is ignored, the rest of the file is used */
    const char *what;         /* one line of English, without a full stop */
    const char *expected;     /* likewise; NULL: no hint */
};

struct sxs_config {
    const struct sxs_rule *const *rules; /* in the order described above */
    uint32_t                      n_rules;
    const struct sxs_problem     *problems; /* by file and place */
    uint32_t                      n_problems;
    uint32_t n_errors, n_warnings; /* all, also those that `problems` leaves out: at most 20 errors
                                    * and 20 warnings of a file are there, and how many more it has */
    uint32_t                      n_files; /* files that were read, also those with errors */
};

/* Limits of what is read; exceeding one is an error. */
#define SXS_CONFIG_FILE_MAX  (1u << 20) /* bytes in a file */
#define SXS_CONFIG_FILES_MAX 1024u      /* files in a folder */
#define SXS_CONFIG_DEPTH_MAX 16u        /* levels of elements within elements */
#define SXS_CONFIG_RULES_MAX 20000u     /* rules in a file */

/**
 * sxs_config_load - load a file, or all *.xml files of a folder in the order of their names.
 * @path: the file or folder. A folder without such files gives a config without rules.
 * @old: the config loaded before, or NULL. Borrowed; may be freed before or after the new config.
 * A file with errors contributes no rules, and its errors are in `problems`; if @old has rules of
 * that file, they are kept. A file that no longer exists contributes no rules.
 * Returns a config even when there are errors; free it with sxs_config_free(). Returns NULL without
 * memory. Any thread may call it.
 */
struct sxs_config *sxs_config_load(const char *path, const struct sxs_config *old);

/**
 * sxs_config_open_files_by - set the function that is called for each file and folder to be read.
 * @by: must call work(arg), which opens, reads and closes one file or folder, and return its
 *      result. The call may be made on another thread. In a profiled process @by is
 *      sxs_proc_call(), which keeps descriptors out of the host's table.
 * By default files are read on the thread that loads. Call it before the first sxs_config_load().
 */
void sxs_config_open_files_by(int (*by)(int (*work)(void *arg), void *arg));

/** sxs_config_parse - likewise, from @size bytes in memory. @file: the file's name for messages. */
struct sxs_config *sxs_config_parse(const char *file, const char *bytes, size_t size);

/** sxs_config_free - free @config; NULL is allowed. Rules that a later config took over stay valid
 *  there. */
void sxs_config_free(struct sxs_config *config);

/** sxs_config_put_problem - write "FILE:LINE:COLUMN: WHAT; expected EXPECTED" into @text, at most
 *  @size bytes, zero-terminated. Returns the length that the whole text has. */
size_t sxs_config_put_problem(const struct sxs_problem *problem, char *text, size_t size);

/* ---- matching methods ------------------------------------------------------------------------ */

/**
 * A method, described for matching. A field that is NULL is not known and matches every condition,
 * except `outer`. A list is not known when it is NULL and its number is not 0; the number may be
 * UINT32_MAX.
 */
struct sxs_config_method {
    const char               *runtime;  /* "8.0.29" */
    const char               *assembly; /* simple name */
    const struct sxs_version *version;  /* of the assembly */
    const char               *type, *method;
    const char *const        *parameters;
    uint32_t                  n_parameters;
    const char *const        *attributes; /* names of the types of the attributes of the method and
                                             of its type */
    uint32_t                  n_attributes;
    /* For the MoveNext() of a state machine: the method it was made from, of which only names,
     * parameters and attributes are used. NULL: not a state machine. */
    const struct sxs_config_method *outer;
};

/** sxs_config_matches - does @rule apply to @method? Pure. */
int sxs_config_matches(const struct sxs_rule *rule, const struct sxs_config_method *method);

/** How many of a rule's conditions a method meets, in the order in which they are checked. */
enum sxs_config_reach {
    SXS_REACH_NOTHING,    /* runtime, assembly or version does not match */
    SXS_REACH_ASSEMBLY,   /* runtime, assembly and version match; the type does not */
    SXS_REACH_TYPE,       /* the type matches; the method's name does not */
    SXS_REACH_METHOD,     /* the name matches; the parameters do not */
    SXS_REACH_PARAMETERS, /* parameters match; attributes or the part of an async method do not */
    SXS_REACH_EXCLUDED,   /* a match matches, but an exclusion does, too */
    SXS_REACH_ALL,        /* the rule applies */
};

/** sxs_config_reach - return the highest value for any match of @rule. It is at most
 *  SXS_REACH_ASSEMBLY when method->type is NULL, and SXS_REACH_TYPE when method->method is NULL. */
enum sxs_config_reach sxs_config_reach(const struct sxs_rule          *rule,
                                       const struct sxs_config_method *method);

/** sxs_config_fits - does @pattern match all of @text? NULL as @text matches any pattern. */
int sxs_config_fits(const struct sxs_pattern *pattern, const char *text);

/**
 * sxs_config_may_match - can @rule apply to any method of this runtime, assembly, version and type?
 * NULL: not known, matches. A quick check before the methods' names, parameters and attributes are
 * determined. A nested type may be a state machine; then check the type around it as well.
 */
int sxs_config_may_match(const struct sxs_rule *rule, const char *runtime, const char *assembly,
                         const struct sxs_version *version, const char *type);

/** sxs_config_wants_attributes - has any match or exclusion of @rule a condition on attributes? */
int sxs_config_wants_attributes(const struct sxs_rule *rule);

/**
 * sxs_config_rules - find all rules that apply to @method, outermost first.
 * @rules: receives at most @room of them, borrowed from @config.
 * At most one of them is from New Relic's extension files, as in New Relic's agent: a rule with a
 * parameter list before a rule without, then the first.
 * Returns the number of rules, which may be more than @room.
 */
size_t sxs_config_rules(const struct sxs_config *config, const struct sxs_config_method *method,
                        const struct sxs_rule **rules, size_t room);

/* ---- comparing two configs ------------------------------------------------------------------- */

struct sxs_config_difference {
    const struct sxs_rule **went;   /* rules of the old config only; borrowed from it */
    const struct sxs_rule **came;   /* rules of the new config only; borrowed from it */
    const struct sxs_rule **stayed; /* rules of both; borrowed from the new config */
    uint32_t                n_went, n_came, n_stayed;
    int                     reordered; /* nonzero: the order of `stayed` has changed */
};

/** sxs_config_difference - compare the configs @old and @new_; NULL: a config without rules. Each
 *  rule is in one of the lists of @difference, which sxs_config_difference_clear() frees. Returns
 *  0, or -1 without memory. */
int  sxs_config_difference(const struct sxs_config *old, const struct sxs_config *new_,
                           struct sxs_config_difference *difference);
void sxs_config_difference_clear(struct sxs_config_difference *difference);

/* ---- spelling -------------------------------------------------------------------------------- */

struct sxs_sig;
struct sxs_text;

/** A function of the caller that writes the names of types. */
struct sxs_config_names {
    /** Write the TypeDef, TypeRef or TypeSpec @token as Namespace.Outer+Inner`1, without its
     *  assembly. */
    void (*put)(void *context, struct sxs_text *t, uint32_t token);
    void *context;
};

/**
 * sxs_config_put_type - write a type of a signature in the spelling of parameter lists:
 * System.Int32, System.String[], System.Int32[,], System.Int32&, System.Byte*,
 * System.Collections.Generic.List`1[System.String], !0 and !!0 for type parameters. Modifiers are
 * left out.
 */
void sxs_config_put_type(struct sxs_text *t, const struct sxs_sig *sig, uint32_t node,
                         const struct sxs_config_names *names);

#endif
