/* SPDX-License-Identifier: MIT */
/* sanitized.h - skips tests that cannot run in a build with sanitizers. Include cmocka.h first. */
#ifndef SXS_TEST_SANITIZED_H
#define SXS_TEST_SANITIZED_H

/** skip_if_sanitized - call first in a test: in a build with sanitizers, skip the test and print @why. Functions of the C
 *  library that such a test replaces must be left out of that build by #ifndef SXS_SANITIZED. */
static inline void skip_if_sanitized(const char *why)
{
#ifdef SXS_SANITIZED
    print_message("skipped: %s\n", why);
    skip();
#else
    (void)why;
#endif
}

/** skip_under_thread_sanitizer - the same, in a build with the thread sanitizer only. */
static inline void skip_under_thread_sanitizer(const char *why)
{
#ifdef __SANITIZE_THREAD__
    print_message("skipped: %s\n", why);
    skip();
#else
    (void)why;
#endif
}

#endif
