/* SPDX-License-Identifier: MIT */
/** guests.h - other profiler libraries that run inside this one. */
#ifndef SXS_GUESTS_GUESTS_H
#define SXS_GUESTS_GUESTS_H

/** sxs_guests_init - read SXSPROF_GUESTS and enable its guests as tools of the manager. Call once,
 *  after sxs_manager_init(). For a guest that is not understood, logs one line; the others are
 *  used. The guests' libraries are loaded when their first runtime starts. */
void sxs_guests_init(void);

#endif
