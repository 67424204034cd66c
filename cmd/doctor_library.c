/* SPDX-License-Identifier: MIT */
#include "base/own_library.h"
#include "cmd/doctor.h"
#include "cmd/symbols/elf_file.h"

#include <string.h>
#include <sys/statvfs.h>

#include "sxs_sonames.h"

int sxs_doctor_elf(struct sxs_findings *f, const char *what, const char *path)
{
    struct sxs_elf_file elf;
    struct statvfs      fs;
    char                missing[1024];
    int                 err = sxs_elf_read(path, &elf);
    if (err) {
        sxs_found_problem(f, "%s %s: %s", what, path, strerror(err));
        return -1;
    }
    if (!elf.is_elf || !elf.is_native) {
        sxs_found_problem(f, "%s %s: %s", what, path,
                          !elf.is_elf ? "not a library (no ELF file)"
                          : elf.is_64 ? "made for another processor"
                                      : "a 32-bit library; runtimes here have 64 bits");
        sxs_found_advice("the loader refuses it: name one that is made for this machine");
        return -1;
    }
    if (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOEXEC)) {
        sxs_found_problem(f, "%s %s: on a file system mounted noexec: the loader cannot map it",
                          what, path);
        sxs_found_advice("put it on another file system; a runtime ignores a profiler that cannot "
                         "be loaded, silently");
        return -1;
    }
    int n = sxs_elf_missing(path, missing, sizeof(missing));
    if (n > 0) {
        sxs_found_problem(f, "%s %s: needs what cannot be found: %s", what, path, missing);
        sxs_found_advice("install the packages that have them, or set LD_LIBRARY_PATH; a "
                         "runtime ignores a profiler that cannot be loaded, silently");
        return -1;
    }
    return 0;
}

static void examine_one(struct sxs_findings *f, const char *what, const char *path, bool there)
{
    if (!there) {
        sxs_found_problem(f, "%s %s: missing", what, path);
        sxs_found_advice("build or install it; it belongs beside this command or in "
                         "../lib/sxsprof");
        return;
    }
    if (sxs_doctor_elf(f, what, path) == 0)
        sxs_found_ok("%s %s", what, path);
}

/* A library that the profiler library opens when it is needed. */
struct opened_library {
    const char *const *sonames;
    size_t             n_sonames;
    const char        *name, *use, *package;
};

static void examine_opened(struct sxs_findings *f, const struct opened_library *o)
{
    void       *library = sxs_own_library_open(o->sonames, o->n_sonames);
    const char *why = NULL;
    if (!library && !(library = sxs_own_library_open(&o->name, 1)))
        why = dlerror(); /* of the name that is reported */
    if (library) {
        sxs_found_ok("%s for %s", o->name, o->use);
        dlclose(library);
        return;
    }
    sxs_found_problem(f, "%s cannot be loaded: %s", o->name, why ? why : "not found");
    sxs_found_advice("install it (Debian: %s); without it there are no %s", o->package, o->use);
}

static void examine_all_opened(struct sxs_findings *f)
{
    static const char *const           unwind[] = {SXS_LIBUNWIND_SONAMES};
    static const char *const           xml[] = {SXS_LIBXML2_SONAMES};
    static const struct opened_library all[] = {
        {unwind, sizeof(unwind) / sizeof(unwind[0]), SXS_LIBUNWIND_SONAME,
         "native frames in printed stacks", "libunwind8"},
        {xml, sizeof(xml) / sizeof(xml[0]), SXS_LIBXML2_SONAME, "instrumentation files", "libxml2"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        examine_opened(f, &all[i]);
}

void sxs_doctor_library(struct sxs_findings *f, const struct sxs_library *lib)
{
    sxs_found_title("The libraries of this command:");
    examine_one(f, "profiler", lib->profiler, lib->has_profiler);
    if (lib->has_profiler && !sxs_elf_exports(lib->profiler, "DllGetClassObject")) {
        sxs_found_problem(f, "profiler %s: has no DllGetClassObject: no runtime can load it",
                          lib->profiler);
        sxs_found_advice("build or install it again");
    }
    examine_one(f, "engine for plug-ins", lib->clrie, lib->has_clrie);
    examine_one(f, "preload", lib->preload, lib->has_preload);
    if (strpbrk(lib->preload, ": ")) {
        sxs_found_problem(f, "preload %s: LD_PRELOAD cannot name a path with a space or a colon",
                          lib->preload);
        sxs_found_advice("install it elsewhere, or record with --no-preload");
    }
    examine_one(f, "allocator", lib->allocator, lib->has_allocator);
    examine_all_opened(f);
}
