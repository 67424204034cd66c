/* SPDX-License-Identifier: MIT */
/* Lists limits that no setting removes. docs/guide/limits.md has all of them. */
#include "cmd/doctor.h"

#include "runtime_facts/facts.h"

#include <stdbool.h>

static bool names_waits(const struct sxs_runtime_facts *f)
{
    return f->names_constructor_waits;
}

static bool has_routes(const struct sxs_runtime_facts *f)
{
    return f->has_kestrel_routes;
}

void sxs_doctor_limits(void)
{
    char with[SXS_FACTS_VERSIONS], without[SXS_FACTS_VERSIONS];
    sxs_found_title("What tools do not see (docs/guide/limits.md has more):");
    sxs_found_note("locks: monitors and System.Threading.Lock only; not SpinLock, waits that give "
                   "up the thread (await), or waits for a class constructor of another thread");
    sxs_found_note("wait, sample --wall: a wait for a class constructor is named on .NET %s; on "
                   ".NET %s it counts as monitor or lock, at the function that needs the class",
                   sxs_facts_versions(names_waits, true, with),
                   sxs_facts_versions(names_waits, false, without));
    sxs_found_note("wait, sample --wall: a request that awaits has no thread, and so no samples");
    sxs_found_note("sample --activity on: endpoints have their routes in Kestrel on .NET %s; "
                   "elsewhere the names of Activities",
                   sxs_facts_versions(has_routes, true, with));
    sxs_found_note("sample: code of other JIT compilers (V8, HotSpot) has names only if they write "
                   "/tmp/perf-PID.map or jit-PID.dump, and callers only with frame pointers");
    sxs_found_note("--budget: a program that uses less than a quarter of one processor counts as "
                   "if it used that; callbacks on the program's own threads are not measured");
}
