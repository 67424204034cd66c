/* SPDX-License-Identifier: MIT */
#include "cmd/output/output_file.h"

#include "cmd/output/must.h"
#include "cmd/output/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16 };

/* Returns whether @path is written in place: it is something else than a regular file. A link of a
 * stranger to such a thing counts as a file, which is replaced. */
static bool is_in_place(const char *path)
{
    struct stat st;
    bool        own =
        lstat(path, &st) == 0 && (!S_ISLNK(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0);
    return own && stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Returns a name beside @path that nobody can guess; owned. */
static char *make_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    uint64_t    random = 0;
    char       *name;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        random = (uint64_t)getpid(); /* O_EXCL refuses a name that exists */
    if (asprintf(&name, "%.*s%.*s.%016llx.part", (int)(base - path), path, NAME_MAX - 22, base,
                 (unsigned long long)random) < 0)
        sxs_must(NULL);
    return name;
}

/* Makes the new file. Returns a descriptor, or -1 with errno. */
static int make_file(struct sxs_output *out)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        out->temporary = make_name(out->path);
        char *kept = sxs_must(strdup(out->temporary));
        fd = sxs_temporary_make(SXS_TEMPORARY_FILE, kept, 0666);
        if (fd >= 0)
            break;
        int err = errno;
        free(out->temporary);
        out->temporary = NULL;
        errno = err;
        if (err != EEXIST)
            break;
    }
    return fd;
}

int sxs_output_open(struct sxs_output *out, const char *path)
{
    *out = (struct sxs_output){.to = stdout};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    out->path = path;
    int fd =
        is_in_place(path) ? open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC) : make_file(out);
    out->to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->to)
        return 0;
    int err = errno;
    if (fd >= 0)
        close(fd);
    if (out->temporary)
        sxs_temporary_remove(out->temporary);
    free(out->temporary);
    return err;
}

int sxs_output_close(struct sxs_output *out, bool failed)
{
    int err = fflush(out->to) != 0 || ferror(out->to) ? (errno ? errno : EIO) : failed ? EIO : 0;
    if (out->to != stdout && fclose(out->to) != 0 && !err)
        err = errno;
    if (out->temporary && !err && sxs_temporary_rename(out->temporary, out->path) != 0)
        err = errno;
    if (out->temporary && err)
        sxs_temporary_remove(out->temporary);
    free(out->temporary);
    return err;
}
