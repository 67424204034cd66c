/* SPDX-License-Identifier: MIT */
/* sanitized.h - tests that a sanitizer's build cannot run. Include cmocka.h first. */
#ifndef SXS_TEST_SANITIZED_H
#define SXS_TEST_SANITIZED_H

/** skip_if_sanitized - at a test's beginning: skips the test in a sanitizer's build and prints why, such as "sanitizers
 *  have a calloc() of their own". What the test replaces is left out of such a build by #ifndef SXS_SANITIZED. */
static inline void skip_if_sanitized(const char *why)
{
#ifdef SXS_SANITIZED
    print_message("skipped: %s\n", why);
    skip();
#else
    (void)why;
#endif
}

#endif
