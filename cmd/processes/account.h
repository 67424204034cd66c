/* SPDX-License-Identifier: MIT */
/** account.h - finds the user to whom the work for a process is charged, and counts the work of each user. */
#ifndef SXS_CMD_PROCESSES_ACCOUNT_H
#define SXS_CMD_PROCESSES_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_account_of - find the user who is responsible for the process of @dir (of /proc/PID).
 * A user can have thousands of user IDs: in user namespaces of their own, and those that /etc/subuid
 * gives to them. So this is the owner of the outermost user namespace below that of this command, else
 * the process's real user; and for an ID in a range of /etc/subuid, the user who has that range: their
 * user ID, or the first ID of the range if /etc/passwd does not have their name. What root has
 * made for others, such as containers, is charged to the user or the range in it, not to root.
 * Returns UINT_MAX if the process has ended. Files are read once. Not thread-safe.
 */
unsigned sxs_account_of(int dir);

/**
 * sxs_account_of_range - find the user whose range in @subuid, the text of /etc/subuid, has @uid.
 * @passwd: the text of /etc/passwd. Returns their user ID, the first ID of the range when that is root's or
 * they are not in @passwd, or @uid when no range has it. Pure.
 */
unsigned sxs_account_of_range(const char *subuid, const char *passwd, unsigned uid);

/** What users have been charged so far. 0 everywhere: nothing. */
struct sxs_accounts {
    size_t n;
    struct {
        unsigned account; /* sxs_account_of() */
        uint64_t spent;   /* time, in the unit of the caller */
    } items[64];
};

/** sxs_accounts_get - return where the time of @account is counted, which starts at 0; NULL when too many others
 *  are. Borrowed from @accounts. */
uint64_t *sxs_accounts_get(struct sxs_accounts *accounts, unsigned account);

#endif
