/* SPDX-License-Identifier: MIT */
/**
 * base/env.h - every environment variable that the library or the command reads, with its default and
 * meaning, and the only caller of getenv().
 */
#ifndef SXS_BASE_ENV_H
#define SXS_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* X(identifier, name, default, meaning). An empty value counts as unset. */
#define SXS_ENV_VARIABLES(X)                                                                      \
    X(PICK, "SXSPROF_PICK", "all", "runtimes to profile: all, first, one:VERSION or one:PATH")    \
    X(UNPICKED, "SXSPROF_UNPICKED", "guard",                                                      \
      "what happens to the other runtimes: guard (signals are routed) or cancel (left alone)")    \
    X(TOOLS, "SXSPROF_TOOLS", "", "tools: NAME[:OPTIONS], several separated by ';'")              \
    X(CALLS, "SXSPROF_CALLS", "", "functions whose calls are counted: [VERSION/]ASSEMBLY:NAME")   \
    X(CALLS_NOT, "SXSPROF_CALLS_NOT", "", "functions whose calls are not counted")                \
    X(VALUES, "SXSPROF_VALUES", "", "functions whose arguments and results are recorded")         \
    X(MASK, "SXSPROF_MASK", "off",                                                                \
      "values that are not recorded: off (none), text (of text only its length) or all")          \
    X(INSTRUMENT, "SXSPROF_INSTRUMENT", "", "an instrumentation file, or a folder of them")       \
    X(GUESTS, "SXSPROF_GUESTS", "", "other profilers that run as guests: CLSID=PATH[,OPTION]...") \
    X(METHODS, "SXSPROF_METHODS", "", "configuration files of CLRIE plug-ins, separated by ':'")  \
    X(KEEP, "SXSPROF_KEEP", "",                                                                   \
      "TIME[,BYTES]: segments, of which the newest are kept: 10m or 10m,256M")                    \
    X(SEGMENT, "SXSPROF_SEGMENT", "60s with SXSPROF_KEEP", "how long a segment lasts: 60s")       \
    X(ON, "SXSPROF_ON", "",                                                                       \
      "segments around these are kept: gc>TIME, cpu>NUMBER%, exception=TYPE, separated by ';'")   \
    X(BUDGET, "SXSPROF_BUDGET", "",                                                               \
      "part of the CPU time that the profiler may use in segments: 1%")                           \
    X(DURATION, "SXSPROF_DURATION", "",                                                           \
      "the session ends after so long: TIME, or TIME,MS: counted from then, in ms since 1970")    \
    X(SIGNALS, "SXSPROF_SIGNALS", "on", "off: the library leaves all signals alone")              \
    X(CONTROL, "SXSPROF_CONTROL", "on",                                                           \
      "off: no control socket, for sxsprof stop and the like; code: sessions begun over it may "  \
      "load code")                                                                                \
    X(LOG, "SXSPROF_LOG", "warn", "messages on standard error: error, warn, info or debug")       \
    X(OUT, "SXSPROF_OUT", "", "session folder; without it nothing is recorded")

/* Variables that the command alone reads. X(identifier, name, default, meaning). */
#define SXS_ENV_COMMAND(X)                                                                       \
    X(CONFINE, "SXSPROF_CONFINE", "on", "off: what is read of strangers is read without limits") \
    X(FLEET, "SXSPROF_FLEET", "", "the server of sxsprof fleet: clickhouse://...")               \
    X(FLEET_PASSWORD, "SXSPROF_FLEET_PASSWORD", "", "its password")

/* Settings of the runtimes ("knobs") that the library reads, too; base/knob.h has their variables.
 * X(identifier, name, default, meaning). The numbers are hexadecimal. */
#define SXS_ENV_KNOBS(X)                                                                           \
    X(TIERED_COMPILATION, "TieredCompilation", "1", "methods are compiled in tiers")               \
    X(TIERED_PGO, "TieredPGO", "1 from .NET 8 on, else 0", "tiers collect profiles")               \
    X(INSTRUMENT_ONLY_HOT, "TieredPGO_InstrumentOnlyHotCode", "1", "profiles of hot methods only") \
    X(READY_TO_RUN, "ReadyToRun", "1", "precompiled code is used")                                 \
    X(QUICK_JIT, "TC_QuickJit", "1", "the first tier is compiled without optimization")            \
    X(QUICK_JIT_FOR_LOOPS, "TC_QuickJitForLoops", "1", "methods with loops, too")                  \
    X(ON_STACK_REPLACEMENT, "TC_OnStackReplacement", "1", "running loops change to new code")      \
    X(OSR_HIT_LIMIT, "OSR_HitLimit", "a", "hits of a loop before its code is replaced")            \
    X(AGGRESSIVE_TIERING, "TC_AggressiveTiering", "0", "methods change their tier early")          \
    X(CALL_COUNTING, "TC_CallCounting", "1", "calls of first-tier code are counted")               \
    X(CALL_COUNT_THRESHOLD, "TC_CallCountThreshold", "1e", "calls before a method's next tier")    \
    X(JIT_MIN_OPTS, "JITMinOpts", "0", "code is not optimized")                                    \
    X(FAST_TAIL_CALLS, "FastTailCalls", "1", "calls before a return may become jumps")

/* Variables of the CLR Instrumentation Engine (CLRIE), which its plug-ins' users set. An empty value
 * counts as unset. X(identifier, name, default, meaning). */
#define SXS_ENV_CLRIE(X)                                                                          \
    X(LOG_LEVEL, "MicrosoftInstrumentationEngine_LogLevel", "",                                   \
      "what is logged: Errors, Messages, Dumps, or All")                                          \
    X(FILE_LOG, "MicrosoftInstrumentationEngine_FileLog", "LogLevel", "the same, for the file")   \
    X(FILE_LOG_PATH, "MicrosoftInstrumentationEngine_FileLogPath", "", "log file, or its folder") \
    X(NO_LOG_PREFIX, "MicrosoftInstrumentationEngine_DisableLogMethodPrefix", "",                 \
      "any value: texts of plug-ins have no prefix in the log")                                   \
    X(USER_BUFFER, "MicrosoftInstrumentationEngine_UserBuffer", "",                               \
      "any value: SetILFunctionBody() of plug-ins accepts any memory")

/* CLRIE's variables whose names have an end of the user's choice: X(identifier, prefix, meaning). */
#define SXS_ENV_CLRIE_PREFIXES(X)                                       \
    X(CONFIG_64, "MicrosoftInstrumentationEngine_ConfigPath64_",        \
      "configuration files of plug-ins, separated by ':'")              \
    X(CONFIG, "MicrosoftInstrumentationEngine_ConfigPath_", "the same") \
    X(PLUGIN_LOG_LEVEL, "MicrosoftInstrumentationEngine_LogLevel_",     \
      "as LogLevel, for the plug-in whose class ID, without braces, is the end of the name")

/* In a program with raised rights (set-user-ID, set-group-ID, file capabilities: the kernel says
 * AT_SECURE) the environment is chosen by a user who has fewer rights than the program. A runtime
 * loads the profiler that this user names nevertheless. So each variable above, and each of
 * CLRIE, counts as unset there: they name folders and files that would be written and read, and
 * libraries that would be loaded, with the rights of the program, and messages would tell addresses.
 * Exceptions: X(identifier, reason). The runtime's own knobs count, because the runtime reads them. */
#define SXS_ENV_SECURE(X) X(SIGNALS, "it can only switch something off")

#define SXS_ENV_ID(id, name, otherwise, meaning) SXS_ENV_##id,
enum sxs_env { SXS_ENV_VARIABLES(SXS_ENV_ID) SXS_N_ENV };
#undef SXS_ENV_ID

#define SXS_COMMAND_ID(id, name, otherwise, meaning) SXS_COMMAND_##id,
enum sxs_command_env { SXS_ENV_COMMAND(SXS_COMMAND_ID) SXS_N_COMMAND };
#undef SXS_COMMAND_ID

#define SXS_KNOB_ID(id, name, otherwise, meaning) SXS_KNOB_##id,
enum sxs_knob { SXS_ENV_KNOBS(SXS_KNOB_ID) SXS_N_KNOBS };
#undef SXS_KNOB_ID

#define SXS_CLRIE_ID(id, name, otherwise, meaning) SXS_CLRIE_##id,
enum sxs_clrie_env { SXS_ENV_CLRIE(SXS_CLRIE_ID) SXS_N_CLRIE };
#undef SXS_CLRIE_ID

#define SXS_CLRIE_PREFIX_ID(id, prefix, meaning) SXS_CLRIE_PREFIX_##id,
enum sxs_clrie_prefix { SXS_ENV_CLRIE_PREFIXES(SXS_CLRIE_PREFIX_ID) SXS_N_CLRIE_PREFIXES };
#undef SXS_CLRIE_PREFIX_ID

/* One row of a table above. */
struct sxs_env_row {
    const char *name, *otherwise, *meaning; /* otherwise: the default; "" if there is none */
};

extern const struct sxs_env_row sxs_env_table[SXS_N_ENV];
extern const struct sxs_env_row sxs_env_command[SXS_N_COMMAND];
extern const struct sxs_env_row sxs_env_knobs[SXS_N_KNOBS];
extern const struct sxs_env_row sxs_env_clrie[SXS_N_CLRIE];
extern const struct sxs_env_row sxs_env_clrie_prefixes[SXS_N_CLRIE_PREFIXES]; /* otherwise: "" */

/** sxs_env_is_secure - return 1 in a program with raised rights, which records nothing
 *  (SXS_ENV_SECURE), else 0. Any thread; signal-safe. */
int sxs_env_is_secure(void);

/** sxs_env_get - read @variable. Returns its value, which belongs to the environment, or NULL if
 *  the variable is unset or empty, or does not count (SXS_ENV_SECURE). As thread-safe as getenv();
 *  not signal-safe. */
const char *sxs_env_get(enum sxs_env variable);

/** sxs_env_is_known - return true if @name is a variable of SXS_ENV_VARIABLES or SXS_ENV_COMMAND. Pure. */
bool sxs_env_is_known(const char *name);

/** sxs_env_named - read the variable @name, which may be any variable: of a runtime, or of the
 *  system. Returns its value, which may be "" and belongs to the environment, or NULL if the
 *  variable is unset. As thread-safe as getenv(); not signal-safe. */
const char *sxs_env_named(const char *name);

/** sxs_env_named_securely - as sxs_env_named(), but NULL in a process with raised privileges, as
 *  secure_getenv() of the C library. */
const char *sxs_env_named_securely(const char *name);

/** sxs_env_clrie_get - read a variable of CLRIE, as sxs_env_get(). */
const char *sxs_env_clrie_get(enum sxs_clrie_env variable);

/** sxs_env_clrie_name - the name of a variable of CLRIE. Static. Any thread; signal-safe. */
const char *sxs_env_clrie_name(enum sxs_clrie_env variable);

/** sxs_env_clrie_prefix - what the names of some variables of CLRIE begin with. Static. Any thread; signal-safe. */
const char *sxs_env_clrie_prefix(enum sxs_clrie_prefix prefix);

/** sxs_env_entry - return entry number @n of the environment, from 0, as "NAME=VALUE", or NULL after
 *  the last one, or in a program with raised rights. The entry belongs to the environment. As
 *  thread-safe as getenv(); not signal-safe. */
const char *sxs_env_entry(size_t n);

#endif
