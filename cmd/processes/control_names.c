/* SPDX-License-Identifier: MIT */
#include "cmd/processes/control_names.h"

#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/processes/unix_names.h"

#define MAX_ENTRIES 65536u   /* of a folder that is read */
#define MAX_SOCKETS 256u     /* of the control thread: it serves 32 clients */
#define LISTENS     0x10000u /* flag of a socket in /proc/net/unix */

struct control_sockets {
    uint64_t inodes[MAX_SOCKETS];
    size_t   n;
};

static FILE *open_text(int dir, const char *name)
{
    int   fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

static bool is_control_thread(int tasks, const char *tid)
{
    char  path[300], name[32] = "";
    FILE *f;
    snprintf(path, sizeof(path), "%s/comm", tid);
    f = open_text(tasks, path);
    if (f && !fgets(name, sizeof(name), f))
        name[0] = '\0';
    if (f)
        fclose(f);
    name[strcspn(name, "\n")] = '\0';
    return strcmp(name, SXS_CONTROL_THREAD) == 0;
}

/* Adds the sockets that the thread @tid has open. */
static void add_sockets(int tasks, const char *tid, struct control_sockets *out)
{
    char           path[300], target[64];
    struct dirent *e;
    DIR           *fds;
    snprintf(path, sizeof(path), "%s/fd", tid);
    fds = sxs_tree_list(tasks, path);
    for (unsigned n = 0; fds && n < MAX_ENTRIES && out->n < MAX_SOCKETS && (e = readdir(fds));
         n++) {
        ssize_t len = readlinkat(dirfd(fds), e->d_name, target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        if (sscanf(target, "socket:[%" SCNu64 "]", &out->inodes[out->n]) == 1)
            out->n++;
    }
    if (fds)
        closedir(fds);
}

/* Returns true when the process has a control thread. Its name may be read by everybody. */
static bool find_sockets(const struct sxs_process *p, struct control_sockets *out)
{
    bool           found = false;
    DIR           *tasks = sxs_tree_list(p->dir, "task");
    struct dirent *e;
    for (unsigned n = 0; tasks && n < MAX_ENTRIES && (e = readdir(tasks)); n++)
        if (*e->d_name != '.' && is_control_thread(dirfd(tasks), e->d_name)) {
            found = true;
            add_sockets(dirfd(tasks), e->d_name, out);
        }
    if (tasks)
        closedir(tasks);
    return found;
}

static bool has_inode(const struct control_sockets *s, uint64_t inode)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->inodes[i] == inode)
            return true;
    return false;
}

/* Adds the name of a socket that listens, if it is one of the library. */
static void add_name(const char *name, struct sxs_control_names *out)
{
    static const char head[] = "@sxsprof/";
    if (strncmp(name, head, strlen(head)) == 0 && strlen(name) < sizeof(out->text[0]) &&
        out->n < SXS_CONTROL_CANDIDATES)
        snprintf(out->text[out->n++], sizeof(out->text[0]), "%s", name);
}

/* Asks the kernel, by @fd, for the names of @s. */
static void add_own(int fd, const struct control_sockets *s, struct sxs_control_names *out)
{
    struct sxs_unix_name name;
    for (size_t i = 0; i < s->n; i++)
        if (sxs_unix_names_ask(fd, s->inodes[i], &name) == 0 && name.listens)
            add_name(name.text, out);
    out->are_its_own = out->n > 0;
}

/* Takes the name out of a line of /proc/PID/net/unix if one of @s listens there:
 * "NUM: REFERENCES PROTOCOL FLAGS TYPE STATE INODE NAME". */
static void take_line(char *line, const struct control_sockets *s, struct sxs_control_names *out)
{
    unsigned flags;
    uint64_t inode;
    int      at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%*s %*s %*s %x %*s %*s %" SCNu64 " %n", &flags, &inode, &at) == 2 && at &&
        (flags & LISTENS) && has_inode(s, inode))
        add_name(line + at, out);
}

/* Adds what the lines of /proc/PID/net/unix say, of which other users may have written some. */
static void add_lines(const struct sxs_process *p, const struct control_sockets *s,
                      struct sxs_control_names *out)
{
    char  *line = NULL;
    size_t room = 0;
    FILE  *f = open_text(p->dir, "net/unix");
    while (f && out->n < SXS_CONTROL_CANDIDATES && getline(&line, &room, f) > 0)
        take_line(line, s, out);
    free(line);
    if (f)
        fclose(f);
}

/* The names that the library tries first. */
static void add_usual(const struct sxs_process *p, struct sxs_control_names *out)
{
    for (unsigned n = 0; n < SXS_CONTROL_NAMES; n++) {
        struct sockaddr_un address;
        socklen_t          len = sxs_control_name(&address, p->ns_pid, p->start_ticks, n);
        int                text = (int)(len - offsetof(struct sockaddr_un, sun_path)) - 1;
        snprintf(out->text[out->n++], sizeof(out->text[0]), "@%.*s", text, address.sun_path + 1);
    }
}

void sxs_control_names_find(const struct sxs_process *p, struct sxs_control_names *out)
{
    struct control_sockets sockets = {.n = 0};
    memset(out, 0, sizeof(*out));
    out->has_thread = find_sockets(p, &sockets);
    int fd = sockets.n ? sxs_unix_names_open(p) : -1;
    if (fd >= 0) {
        add_own(fd, &sockets, out);
        close(fd);
    }
    if (!out->n)
        add_usual(p, out);
    if (sockets.n && fd < 0)
        add_lines(p, &sockets, out);
}
