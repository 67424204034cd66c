/* SPDX-License-Identifier: MIT */
#include "cmd/push/labels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/output/strings.h"

enum { MAX_KEY = 100 };

bool sxs_push_label_key(const char *key)
{
    size_t n = strlen(key);
    if (!n || n > MAX_KEY || !isalpha((unsigned char)*key))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isascii((unsigned char)key[i]) ||
            (!isalnum((unsigned char)key[i]) && key[i] != '_' && key[i] != '.'))
            return false;
    return true;
}

/* Passes a label on, unless the user has set it or it is not known. */
static void pass(const struct sxs_push_settings *s, const char *key, const char *value,
                 sxs_push_label_take *take, void *arg)
{
    for (size_t i = 0; i < s->n_labels; i++)
        if (strcmp(s->labels[i].key, key) == 0)
            return;
    if (value && *value)
        take(arg, key, value);
}

/* Writes the versions of the runtimes, each once. */
static void list_versions(const struct sxs_session_process *p, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < p->n_runtimes; i++) {
        const char *version = p->runtimes[i].version;
        bool        seen = !*version;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(p->runtimes[k].version, version) == 0;
        if (!seen && len < size)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "", version);
    }
    sxs_strings_clean(out, strlen(out));
}

void sxs_push_labels(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                     sxs_push_label_take *take, void *arg)
{
    char        text[512];
    const char *end = b->process->command + strcspn(b->process->command, " "), *name = end;
    pass(s, "host.name", s->machine, take, arg);
    pass(s, "service.version", s->version, take, arg);
    snprintf(text, sizeof(text), "%u", b->process->pid);
    pass(s, "process.pid", text, take, arg);
    while (name > b->process->command && name[-1] != '/')
        name--;
    snprintf(text, sizeof(text), "%.*s", (int)(end - name < 255 ? end - name : 255), name);
    sxs_strings_clean(text, strlen(text));
    pass(s, "process.executable.name", text, take, arg);
    list_versions(b->process, text, sizeof(text));
    pass(s, "process.runtime.name", *text ? ".NET" : "", take, arg);
    pass(s, "process.runtime.version", text, take, arg);
    for (size_t i = 0; i < s->n_labels; i++)
        take(arg, s->labels[i].key, s->labels[i].value);
}
