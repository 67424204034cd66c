/* SPDX-License-Identifier: MIT */
/** duration_env.h - SXSPROF_DURATION: the time after which the session of the environment ends. */
#ifndef SXS_CONTROL_DURATION_ENV_H
#define SXS_CONTROL_DURATION_ENV_H

/**
 * sxs_duration_prepare - read the variable. "TIME" is counted from now on, "TIME,MILLISECONDS" from the given
 * time, in milliseconds since 1970. A value that is not understood is logged and counts as not set. To be called once,
 * before the other functions.
 */
void sxs_duration_prepare(void);

/** sxs_duration_is_set - return 1 if the session of the environment has an end. */
int sxs_duration_is_set(void);

/** sxs_duration_is_over - return 1 if the time was over when sxs_duration_prepare() was called: then no session
 *  must begin. */
int sxs_duration_is_over(void);

/** sxs_duration_start - end the session that is on when the time is over. To be called when it has begun
 *  and the thread of control/session_thread.h runs. Not signal-safe. */
void sxs_duration_start(void);

#endif
