/* SPDX-License-Identifier: MIT */
/**
 * writes.h - let a process that reads files of strangers write to chosen places only (Landlock).
 */
#ifndef SXS_CMD_CONFINED_WRITES_H
#define SXS_CMD_CONFINED_WRITES_H

#include <stddef.h>

/**
 * sxs_confine_writes - from now on, this process and its children create, change, rename and remove
 * files only below the folders @below, and execute nothing. Reading is not limited, and neither are
 * descriptors that are open already. It cannot be undone.
 * @below: @n paths of folders or files; those that do not exist are left out. Also permitted are
 * /dev/null and /dev/tty.
 * Sets no_new_privs. Returns 0, or an errno value: ENOSYS or EOPNOTSUPP when the kernel (before 5.13)
 * or its settings have no Landlock; nothing is limited then. For a process with one thread.
 */
int sxs_confine_writes(const char *const *below, size_t n);

#endif
