/* SPDX-License-Identifier: MIT */
#include "cmd/processes/unix_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd/processes/deadline.h"
#include "cmd/processes/inside.h"

struct unix_line {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
    bool is_socket; /* of the process's user */
};

struct unix_lines {
    struct unix_line *all; /* shared with the child; SXS_UNIX_LINES */
    size_t            n;
    uid_t             owner;
};

/* In the child, with the rights of the process: a folder that never answers holds only the child. */
static int look_at_paths(int root, void *arg, int *fd)
{
    struct unix_lines *l = arg;
    (void)fd;
    for (size_t i = 0; i < l->n; i++) {
        struct stat st;
        int         at = sxs_inside_open(root, l->all[i].path, O_PATH | O_NOFOLLOW, 0);
        if (at < 0)
            continue;
        l->all[i].is_socket = fstat(at, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == l->owner;
        close(at);
    }
    return 0;
}

/* Adds the path in a line, if it has one that contains @name. */
static void add_line(struct unix_lines *l, char *text, const char *name,
                     bool (*has)(const void *arg, uint64_t inode), const void *arg)
{
    unsigned long long inode;
    char              *path = strchr(text, '/');
    if (!path || !strstr(path, name) || l->n == SXS_UNIX_LINES ||
        sscanf(text, "%*s %*s %*s %*s %*s %*s %llu", &inode) != 1 || !has(arg, inode))
        return;
    path[strcspn(path, "\n")] = '\0';
    if (strlen(path) < sizeof(l->all[0].path))
        memcpy(l->all[l->n++].path, path, strlen(path) + 1);
}

void sxs_unix_lines_find(const struct sxs_process *p, const char                      *name,
                         bool (*has)(const void *arg, uint64_t inode), const void     *has_arg,
                         void (*found)(void *arg, const char *path, size_t len), void *arg)
{
    struct unix_lines l = {.owner = p->uid};
    size_t            room = 0, size = SXS_UNIX_LINES * sizeof(*l.all);
    char             *text = NULL;
    int               fd = openat(p->dir, "net/unix", O_RDONLY | O_CLOEXEC);
    FILE             *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    l.all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (from && l.all != MAP_FAILED && sxs_deadline_left(1) && getline(&text, &room, from) > 0)
        add_line(&l, text, name, has, has_arg);
    free(text);
    if (from)
        fclose(from);
    if (l.all == MAP_FAILED)
        return;
    if (l.n)
        sxs_inside_call(p, 0, look_at_paths, &l, NULL);
    for (size_t i = 0; i < l.n; i++)
        if (l.all[i].is_socket)
            found(arg, l.all[i].path, strlen(l.all[i].path));
    munmap(l.all, size);
}
