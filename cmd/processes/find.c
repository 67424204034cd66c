/* SPDX-License-Identifier: MIT */
#include "cmd/processes/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/text.h"

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Tells whether @word is @name, or @name with the end of an assembly's file. */
static bool is_word(const char *word, const char *name)
{
    size_t len = strlen(name);
    return strcmp(word, name) == 0 ||
           (strncmp(word, name, len) == 0 && strcmp(word + len, ".dll") == 0);
}

bool sxs_process_named(const struct sxs_process *p, const char *name)
{
    char  command[sizeof(p->command)], *save = NULL;
    bool  found = strcmp(p->name, name) == 0;
    char *word;
    snprintf(command, sizeof(command), "%s", p->command);
    word = strtok_r(command, " ", &save);
    if (word)
        found |= is_word(file_name(word), name);
    while (!found && (word = strtok_r(NULL, " ", &save))) {
        if (*word == '-')
            continue;
        size_t len = strlen(word);
        found = len > 4 && strcmp(word + len - 4, ".dll") == 0 && is_word(file_name(word), name);
        break; /* what follows are arguments of the assembly */
    }
    return found;
}

/* Writes "PID, PID..." of the processes in the list, as many as fit. */
static void write_pids(const struct sxs_process_list *list, char *pids, size_t size)
{
    pids[0] = '\0';
    for (size_t i = 0, len = 0; i < list->n && len < size; i++)
        len += (size_t)snprintf(pids + len, size - len, "%s%d", i ? ", " : "",
                                (int)list->items[i].pid);
}

static int find_by_name(const char *name, pid_t *pid, char *why, size_t size)
{
    struct sxs_process_list list;
    char                    clean[256], pids[200];
    size_t                  n;
    int                     err = sxs_process_list_read(&list, sxs_process_named, name);
    sxs_text_clean(name, clean, sizeof(clean));
    n = err ? 0 : list.n;
    if (n)
        *pid = list.items[n - 1].pid;
    write_pids(&list, pids, sizeof(pids));
    sxs_process_list_free(&list);
    if (err)
        snprintf(why, size, "the processes cannot be listed: %s", strerror(err));
    else if (n == 0)
        snprintf(why, size,
                 "'%s': no process with .NET runtimes has this name; expected a PID or a name "
                 "(sxsprof ps lists them)",
                 clean);
    else if (n > 1)
        snprintf(why, size, "'%s': %zu processes have this name: %s; expected one PID", clean, n,
                 pids);
    return err ? err : n == 0 ? ESRCH : n > 1 ? ENOTUNIQ : 0;
}

int sxs_process_find(const char *argument, struct sxs_process *out, char *why, size_t size)
{
    char *end;
    long  number = strtol(argument, &end, 10);
    pid_t pid = 0;
    int   err;
    memset(out, 0, sizeof(*out));
    out->dir = out->root = -1;
    if (*argument && !*end) {
        if (number < 1 || number > 0x7fffffff) {
            snprintf(why, size, "'%s': expected the PID of a process, or a name", argument);
            return ESRCH;
        }
        pid = (pid_t)number;
    } else {
        err = find_by_name(argument, &pid, why, size);
        if (err)
            return err;
    }
    err = sxs_process_read(pid, out);
    if (err == ESRCH)
        snprintf(why, size, "there is no process %d", (int)pid);
    else if (err)
        snprintf(why, size, "process %d: %s", (int)pid, strerror(err));
    return err;
}
