/* SPDX-License-Identifier: MIT */
#include "cmd/process_session.h"

#include "session/format/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "/libsxsprof.so\n"
#define CENSUS  "/" SXS_CENSUS_FILE "\n"

static bool ends_with(const char *line, const char *end)
{
    size_t n = strlen(line), m = strlen(end);
    return n >= m && strcmp(line + n - m, end) == 0;
}

/* Splits "SESSION/123/census\n" into the folders. Returns false when out of memory. */
static bool take_census(char *path, struct sxs_process_session *out)
{
    path[strlen(path) - strlen(CENSUS)] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return true;
    *slash = '\0';
    free(out->dir);
    free(out->folder);
    out->dir = strdup(path);
    out->folder = strdup(slash + 1);
    return out->dir && out->folder;
}

/* Makes the name of the session's folder one that this process can open: a process in a container
 * has its own root. */
static int find_folder(pid_t pid, struct sxs_process_session *out)
{
    char *inside = NULL;
    if (!out->dir || access(out->dir, R_OK | X_OK) == 0)
        return 0;
    if (asprintf(&inside, "/proc/%d/root%s", (int)pid, out->dir) < 0)
        return ENOMEM;
    free(out->dir);
    out->dir = inside;
    return 0;
}

int sxs_process_session_find(pid_t pid, struct sxs_process_session *out)
{
    char   name[64], *line = NULL;
    size_t cap = 0;
    bool   memory = true;
    *out = (struct sxs_process_session){0};
    snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return errno;
    while (memory && getline(&line, &cap, maps) > 0) {
        char *path = strchr(line, '/');
        out->library |= path && ends_with(path, LIBRARY);
        if (path && ends_with(path, CENSUS) && path[1] != '\n')
            memory = take_census(path, out);
    }
    free(line);
    fclose(maps);
    return memory ? find_folder(pid, out) : ENOMEM;
}

void sxs_process_session_free(struct sxs_process_session *s)
{
    free(s->dir);
    free(s->folder);
    *s = (struct sxs_process_session){0};
}
