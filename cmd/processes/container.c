/* SPDX-License-Identifier: MIT */
#include "cmd/processes/container.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64 /* of a container's ID */
#define ID_SHOWN  12

/* Returns where 64 hexadecimal digits, and no further one, begin in @text of @len bytes, or NULL. */
static const char *find_id(const char *text, size_t len)
{
    size_t digits = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && isxdigit((unsigned char)text[i])) {
            digits++;
            continue;
        }
        if (digits == ID_DIGITS)
            return text + i - digits;
        digits = 0;
    }
    return NULL;
}

/* Returns the name of the program that made the container, from its group's path. */
static const char *maker(const char *line, size_t len)
{
    static const struct {
        const char *part, *name;
    } makers[] = {
        {"cri-containerd", "containerd"},
        {"crio", "cri-o"},
        {"libpod", "podman"},
        {"docker", "docker"},
        {"kubepods", "kubernetes"},
        {"containerd", "containerd"},
    };
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (memmem(line, len, makers[i].part, strlen(makers[i].part)))
            return makers[i].name;
    return "container";
}

/* Finds @before in the line, and writes @label and what follows up to the next '/', or up to
 * @after. */
static bool named_after(const char *line, size_t len, const char *before, const char *after,
                        const char *label, char *out, size_t size)
{
    const char *at = memmem(line, len, before, strlen(before));
    if (!at)
        return false;
    at += strlen(before);
    size_t      n = 0;
    const char *end = line + len;
    while (at + n < end && at[n] != '/' && (!*after || strncmp(at + n, after, strlen(after)) != 0))
        n++;
    if (!n)
        return false;
    snprintf(out, size, "%s %.*s", label, (int)n, at);
    return true;
}

static bool name_from_line(const char *line, size_t len, char *out, size_t size)
{
    const char *id = find_id(line, len);
    if (id) {
        snprintf(out, size, "%s %.*s", maker(line, len), ID_SHOWN, id);
        return true;
    }
    return named_after(line, len, "/lxc.payload.", "", "lxc", out, size) ||
           named_after(line, len, "/lxc/", "", "lxc", out, size) ||
           named_after(line, len, "/machine.slice/machine-", ".scope", "machine", out, size) ||
           named_after(line, len, "/machine.slice/systemd-nspawn@", ".service", "nspawn", out,
                       size);
}

void sxs_container_name(const char *cgroup, char *out, size_t size)
{
    out[0] = '\0';
    while (*cgroup) {
        size_t len = strcspn(cgroup, "\n");
        if (name_from_line(cgroup, len, out, size))
            return;
        cgroup += len + (cgroup[len] == '\n');
    }
}
