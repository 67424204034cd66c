/* SPDX-License-Identifier: MIT */
/* What is not seen, however well everything is set up. docs/guide/limits.md has all of it. */
#include "cmd/doctor.h"

#include "base/base.h"

void sxs_doctor_limits(void)
{
    static const char *const limits[] = {
        "locks: monitors and System.Threading.Lock only; not SpinLock, waits that give up the "
        "thread "
        "(await), or waits for a class constructor of another thread",
        "wait, sample --wall: a wait for a class constructor is named on .NET 10; on .NET 8 and 9 "
        "it "
        "counts as monitor or lock, at the function that needs the class",
        "wait, sample --wall: a request that awaits has no thread, and so no samples",
        "sample --trace on: endpoints have their routes in Kestrel on .NET 8 to 10; elsewhere the "
        "names of Activities",
        "sample: code of other JIT compilers (V8, HotSpot) has names only if they write "
        "/tmp/perf-PID.map or jit-PID.dump, and callers only with frame pointers",
        "--budget: a program that uses less than a quarter of one processor counts as if it used "
        "that; callbacks on the program's own threads are not measured",
    };
    sxs_found_title("What tools do not see (docs/guide/limits.md has more):");
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        sxs_found_note("%s", limits[i]);
}
