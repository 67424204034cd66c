/* SPDX-License-Identifier: MIT */
/* sxsprof detach: end the recording in a process, and detach the library from its runtimes. */
#include "cmd/argument.h"
#include "cmd/attach/target.h"
#include "cmd/command.h"
#include "cmd/named_processes.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DETACH_MS 60000u

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return sxs_process_argument(key, arg, state, state->input);
}

const struct argp sxs_argp_detach = {
    .parser = parse,
    .args_doc = "PID|NAME",
    .doc = "End the recording in a process, and let its runtimes go.\v"
           "NAME is the name of a process, of its program or of its assembly. The exit status is "
           "0; 1 when a "
           "runtime could not be left; 2 when sxsprof is not in the process.",
};

int sxs_cmd_detach(int argc, char **argv)
{
    const char        *target = NULL;
    struct sxs_process p;
    char               why[SXS_TARGET_WHY];
    pid_t              pid;
    size_t             n = 0;
    sxs_options_parse(&sxs_argp_detach, argc, argv, 0, &target);
    int status = sxs_named_processes(target, false, &pid, 1, &n);
    if (status)
        return status;
    int err = sxs_process_read(pid, &p);
    if (err) {
        status =
            sxs_wrong_input("%d: %s", (int)pid, err == ESRCH ? "no such process" : strerror(err));
    } else if (geteuid() != 0 && p.uid != geteuid()) {
        status =
            sxs_wrong_input("%d: it belongs to %s; expected this command to be run by that user "
                            "or by root",
                            (int)pid, p.user);
    } else if (!sxs_control_is_in(&p)) {
        status = sxs_wrong_input("%d: sxsprof is not in this process", (int)pid);
    } else {
        status = sxs_target_release(&p, DETACH_MS, why);
        if (*why)
            sxs_complain("%s", why);
    }
    sxs_process_free(&p);
    return status;
}
