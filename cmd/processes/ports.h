/* SPDX-License-Identifier: MIT */
/**
 * ports.h - the diagnostics ports of a process: find them, and ask each runtime that has one.
 *
 * A runtime listens at a socket named after its process. Only the first runtime of a process gets
 * that name; the others have no port unless DOTNET_DiagnosticPorts gives them one. With a port in
 * connect mode, each runtime of the process connects to a socket of ours again and again.
 */
#ifndef SXS_CMD_PROCESSES_PORTS_H
#define SXS_CMD_PROCESSES_PORTS_H

#include "cmd/processes/diagnostics.h"
#include "cmd/processes/inside_sockets.h"
#include "cmd/processes/process.h"

#define SXS_MAX_PORTS   16u
#define SXS_MAX_REACHED 64u

/** A port. */
struct sxs_port {
    char                   path[PATH_MAX]; /* as the process sees it */
    bool                   connects;       /* the runtimes connect; else one runtime listens */
    int                    listener;       /* of a port in connect mode; -1: not open */
    struct sxs_inside_file made;           /* the socket of the listener */
};

/** A runtime that answered. */
struct sxs_reached {
    struct sxs_diag_info info;
    size_t               port; /* index */
};

struct sxs_ports {
    struct sxs_port    ports[SXS_MAX_PORTS];
    size_t             n;
    struct sxs_reached runtimes[SXS_MAX_REACHED];
    size_t             n_runtimes;
};

/**
 * sxs_ports_find - find the ports of @p; no port is touched. @out: release with sxs_ports_close().
 * Any user can give a socket the name of a port. So the name that the runtime itself chooses comes
 * first, then sockets with such a name that the process has open; others only when this user may not
 * see what the process has open.
 */
void sxs_ports_find(const struct sxs_process *p, struct sxs_ports *out);

/**
 * sxs_ports_ask - ask at each port which runtimes answer, and fill ports->runtimes.
 * @timeout_ms: for each port; the deadline (deadline.h) holds for all of them.
 * @why: receives a sentence about the last port that failed, or ""; @size bytes.
 */
void sxs_ports_ask(const struct sxs_process *p, struct sxs_ports *ports, unsigned timeout_ms,
                   char *why, size_t size);

/**
 * sxs_ports_exchange - send a request to one runtime and receive its answer.
 * @buf: SXS_DIAG_MAX bytes. Returns 0 or an errno value, as sxs_diag_exchange().
 */
int sxs_ports_exchange(const struct sxs_process *p, const struct sxs_ports *ports, size_t runtime,
                       const uint8_t *request, size_t size, unsigned timeout_ms, uint8_t *buf,
                       struct sxs_diag_answer *out);

/** sxs_ports_close - close the listeners and remove their sockets: those that sxs_ports_ask() has made,
 *  nothing else that has their names by now. */
void sxs_ports_close(const struct sxs_process *p, struct sxs_ports *ports);

/** sxs_ports_of_setting - add the ports that @value, of DOTNET_DiagnosticPorts, names. Pure. */
void sxs_ports_of_setting(const char *value, struct sxs_ports *out);

#endif
