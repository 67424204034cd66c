/* SPDX-License-Identifier: MIT */
/**
 * facts.h - what differs between major versions of .NET: one table with a row for each.
 *
 * To teach the library and the command a new version of .NET, add a row to facts.c;
 * docs/internals/runtime-versions.md lists what to measure for it. What a runtime can be asked (has it
 * this class, this version of ICorProfilerInfo) is not in the table: ask the runtime.
 * tests/lint/runtime-facts.sh refuses decisions by versions elsewhere.
 */
#ifndef SXS_RUNTIME_FACTS_FACTS_H
#define SXS_RUNTIME_FACTS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/** Which allocated objects a runtime reports by events of EventPipe. */
enum sxs_allocation_events {
    SXS_ALLOCATION_NONE,  /* none with an address and a size, which the tool alloc needs */
    SXS_ALLOCATION_TICKS, /* AllocationTick, version 4: one object in each amount of bytes. .NET 8 */
    SXS_ALLOCATION_SAMPLES, /* AllocationSampled: objects chosen at random. .NET 10 */
};

/** A row. "Measured" means: found on real runtimes; docs/internals/ has the measurement. */
struct sxs_runtime_facts {
    unsigned major; /* 8 of 8.0.29. 3: also older ones. 4: .NET Framework (simulated only) */

    /* Highest version of ICorProfilerInfo, of the row's last minor version. Source: corprof.idl. */
    unsigned info;

    /* This version was measured, and the tests run on it. Messages that list versions name these. */
    bool is_tested;

    /* A profiler without ICorProfilerCallback3 is refused unless
     * ProfAPI_ProfilerCompatibilitySetting permits it. Source: documentation of .NET Framework 4. */
    bool refuses_old_profilers;

    /* TieredPGO is on by default: code of the first tier is compiled a second time, with counters.
     * Source: clrconfignames.h. Since 8. */
    bool profiles_by_default;

    /* The first code of a method with MethodImplOptions.AggressiveOptimization is reported as tier 1;
     * other versions report it as optimized. Measured. Only 8. */
    bool aggressive_is_tier_1;

    /* Defect: a method must not be re-JITted while a compilation that may inline it runs, else the
     * program crashes or hangs (rejit/methods/compiles.h). Measured. Before 9. */
    bool has_rejit_race;

    /* Defect: exception filters get the address that an exception had before the profiler's callback,
     * also when a collection has moved it since (tools/pin). Measured. Since 9. */
    bool has_filter_race;

    /* COR_PRF_DISABLE_INLINING and COR_PRF_DISABLE_OPTIMIZATIONS may be set at any time; other versions
     * refuse that after Initialize with E_FAIL. Measured. Since 10. */
    bool takes_optimization_late;

    /* Source: the events' manifest (ClrEtwAll.man); measured. */
    enum sxs_allocation_events allocation_events;

    /* ObjectAllocated leaves out boxed values and delegates that code without optimization makes.
     * Measured. Since 10. */
    bool leaves_out_boxed;

    /* A wait for a class constructor of another thread is in managed code, whose name tells what it is.
     * Other versions wait in native code, as for a monitor. Measured. Since 10. */
    bool names_constructor_waits;

    /* The fields of Kestrel and ASP.NET Core are those that sampling/activities_learn.c reads, so requests have
     * their routes. Measured. Since 8. */
    bool has_kestrel_routes;
};

/** sxs_facts_row - return row number @i of the table (0: the oldest), or NULL after the last. */
const struct sxs_runtime_facts *sxs_facts_row(size_t i);

/** sxs_facts_newest - return the row of the newest version that is known. */
const struct sxs_runtime_facts *sxs_facts_newest(void);

/** sxs_facts_of - return the row of the version @text, such as "8.0.29"; never NULL. It is that of the
 *  same major version or else of the last one before: a version newer than all has the newest row, one
 *  older than all the oldest. A text without a number has the oldest row. */
const struct sxs_runtime_facts *sxs_facts_of(const char *text);

/** sxs_facts_of_major - the same for a number. */
const struct sxs_runtime_facts *sxs_facts_of_major(unsigned major);

/** sxs_facts_of_info - return the row of a runtime that does not say its version: the oldest version
 *  with this version of ICorProfilerInfo; the newest row when none has it. */
const struct sxs_runtime_facts *sxs_facts_of_info(unsigned info);

/** Room for a list of versions. */
#define SXS_FACTS_VERSIONS 32

/** sxs_facts_versions - write the tested versions for which @has returns @wanted to @out: "10",
 *  "8 and 9" or "8 to 10", for messages. @has: reads a column. Returns @out. */
const char *sxs_facts_versions(bool (*has)(const struct sxs_runtime_facts *f), bool wanted,
                               char out[SXS_FACTS_VERSIONS]);

/** sxs_facts_know - false when the version @text is newer than every row. */
bool sxs_facts_know(const char *text);

#endif
