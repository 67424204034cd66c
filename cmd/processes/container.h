/* SPDX-License-Identifier: MIT */
/** container.h - the container that a process is in, from the text of /proc/PID/cgroup. */
#ifndef SXS_CMD_PROCESSES_CONTAINER_H
#define SXS_CMD_PROCESSES_CONTAINER_H

#include <stddef.h>

/**
 * sxs_container_name - find the container that the lines of @cgroup name, as Docker, Podman,
 * containerd, CRI-O, Kubernetes, LXC and systemd-nspawn write them.
 * @out: receives "docker 0123456789ab", "lxc web"; "" when no container is named. @size: at least
 * 32, longer text is cut. Pure.
 */
void sxs_container_name(const char *cgroup, char *out, size_t size);

#endif
