/* SPDX-License-Identifier: MIT */
#include "cmd/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/output/text.h"
#include "cmd/processes/find.h"

int sxs_control_open(struct sxs_control_target *t, const char *argument)
{
    char why[SXS_CONTROL_WHY];
    int  err;
    t->fd = -1;
    err = sxs_process_find(argument, &t->process, why, sizeof(why));
    if (err)
        return sxs_wrong_input("%s", why);
    err = sxs_control_connect(&t->process, &t->fd, why);
    if (err)
        return sxs_wrong_input("process %d: %s", (int)t->process.pid, why);
    return SXS_EXIT_OK;
}

/* Called every two seconds while there is no answer. Says once how to leave. */
static void say_waiting(void *arg)
{
    struct sxs_control_target *t = arg;
    if (!t->said_waiting && isatty(STDERR_FILENO))
        sxs_complain("process %d: waiting for its answer; Ctrl-C leaves it alone",
                     (int)t->process.pid);
    t->said_waiting = true;
}

int sxs_control_send(struct sxs_control_target *t, int timeout_ms)
{
    const struct sxs_control_wait wait = {&t->process, say_waiting, t};
    char                          why[SXS_CONTROL_WHY];
    int                           err;
    sxs_message_end(&t->request);
    err = sxs_control_ask_watching(t->fd, &t->request, &t->answer, timeout_ms, &wait, why);
    if (err)
        sxs_complain("process %d: %s", (int)t->process.pid, why);
    return err;
}

const char *sxs_control_value(const struct sxs_control_target *t, const char *name, char *text,
                              size_t size)
{
    const char *value = sxs_message_get(&t->answer.message, name);
    sxs_text_clean(value ? value : "", text, size);
    return text;
}

bool sxs_control_folder(const struct sxs_control_target *t, char path[PATH_MAX])
{
    const char *out = sxs_message_get(&t->answer.message, "out");
    if (!out || *out != '/' || strlen(out) >= PATH_MAX)
        return false;
    if (sxs_process_is_apart(&t->process))
        sxs_process_file(&t->process, out, path);
    else
        snprintf(path, PATH_MAX, "%s", out);
    return true;
}

void sxs_control_close(struct sxs_control_target *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    sxs_process_free(&t->process);
}

int sxs_control_out_open(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use, pid_t pid)
{
    char why[PATH_MAX + 512];
    int  status = dir ? sxs_out_dir_open(out, dir, use, why, sizeof(why))
                      : sxs_out_dir_make(out, true, why, sizeof(why));
    if (status)
        sxs_complain("%s", why);
    else
        sxs_out_dir_name(out, pid);
    return status;
}
