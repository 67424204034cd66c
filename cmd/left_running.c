/* SPDX-License-Identifier: MIT */
#include "cmd/left_running.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/output/text.h"
#include "cmd/processes/identity.h"

#define MAX_ENVIRON ((size_t)4 << 20)
#define SOME        4u /* processes that are named */

static bool has_variable(int dir, const char *wanted)
{
    size_t len = 0;
    char  *text = sxs_proc_text(dir, "environ", MAX_ENVIRON, &len);
    bool   found = false;
    for (const char *at = text; text && at < text + len && !found; at += strlen(at) + 1)
        found = strcmp(at, wanted) == 0;
    free(text);
    return found;
}

static void put_process(int dir, const char *pid, const char *before, char *text, size_t size)
{
    char  *name = sxs_proc_text(dir, "comm", 64, NULL);
    char   clean[64];
    size_t used = strlen(text);
    if (name)
        name[strcspn(name, "\n")] = '\0';
    sxs_text_clean(name ? name : "?", clean, sizeof(clean));
    snprintf(text + used, size - used, "%s%s (%s)", before, pid, clean);
    free(name);
}

size_t sxs_left_running(const char *out, char *text, size_t size)
{
    DIR           *all = opendir("/proc");
    char          *wanted = NULL;
    size_t         n = 0;
    struct dirent *entry;
    text[0] = '\0';
    if (asprintf(&wanted, "SXSPROF_OUT=%s", out) < 0)
        wanted = NULL;
    while (all && wanted && (entry = readdir(all))) {
        int dir = entry->d_name[0] >= '1' && entry->d_name[0] <= '9'
                      ? openat(dirfd(all), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                      : -1;
        if (dir < 0)
            continue;
        if (atoi(entry->d_name) != getpid() && has_variable(dir, wanted)) {
            if (n < SOME)
                put_process(dir, entry->d_name, n ? ", " : "", text, size);
            n++;
        }
        close(dir);
    }
    if (all)
        closedir(all);
    free(wanted);
    return n;
}
