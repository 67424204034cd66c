/* SPDX-License-Identifier: MIT */
#include "cmd/unresolved.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 20u /* after which the loader is given up */

/* The path of this process's loader; NULL: not known. Borrowed. */
static const char *loader(void)
{
    uintptr_t base = getauxval(AT_BASE);
    Dl_info   info;
    return base && dladdr((const void *)base, &info) && info.dli_fname && info.dli_fname[0] == '/'
               ? info.dli_fname
               : NULL;
}

/* Becomes the loader, which lists what @path needs, and complains of what is undefined. */
static _Noreturn void list_needed(const char *with, const char *path, int to)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(to, 1) == 1 && dup2(to, 2) == 2 &&
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1) == 0 && setenv("LD_WARN", "yes", 1) == 0 &&
        unsetenv("LD_BIND_NOW") == 0) {
        alarm(SECONDS);
        execl(with, with, path, (char *)NULL);
    }
    _exit(127);
}

/* Takes "undefined symbol: NAME\t(LIBRARY)". */
static bool take_line(char *line, char *symbol, char *in, size_t size)
{
    static const char begin[] = "undefined symbol: ";
    char             *name = strstr(line, begin), *from, *end;
    if (!name)
        return false;
    name += sizeof(begin) - 1;
    from = strstr(name, "\t(");
    end = from ? strrchr(from, ')') : NULL;
    if (!end)
        return false;
    *from = *end = '\0';
    snprintf(symbol, size, "%s", name);
    snprintf(in, size, "%s", from + 2);
    return true;
}

bool sxs_library_unresolved(const char *path, char *symbol, char *in, size_t size)
{
    const char *with = loader();
    int         ends[2], status = 0;
    char       *line = NULL;
    size_t      cap = 0;
    bool        found = false, missing = false;
    FILE       *said;
    if (!with || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        list_needed(with, path, ends[1]);
    close(ends[1]);
    said = fdopen(ends[0], "r");
    while (child > 0 && said && getline(&line, &cap, said) > 0) {
        missing |= strstr(line, "=> not found") != NULL;
        if (!found)
            found = take_line(line, symbol, in, size);
    }
    free(line);
    if (said)
        fclose(said);
    else
        close(ends[0]);
    if (child > 0)
        TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
    return found && !missing;
}
