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

int sxs_control_send(struct sxs_control_target *t, int timeout_ms)
{
    char why[SXS_CONTROL_WHY];
    int  err;
    sxs_message_end(&t->request);
    err = sxs_control_ask(t->fd, &t->request, &t->answer, timeout_ms, why);
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

int sxs_control_out_open(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use,
                         pid_t pid)
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
