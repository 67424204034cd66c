/* SPDX-License-Identifier: MIT */
/**
 * c_locale.h - parse and format numbers, and compare letters, always by the rules of the C locale.
 *
 * The result does not depend on the host's calls to setlocale() and uselocale(): numbers have a
 * decimal point, and there is no Turkish "i". The library and the command use these functions
 * instead of strtod(), strtof(), printf's floating point conversions, strcasecmp() and tolower().
 * All may be called from any thread; none is signal-safe.
 */
#ifndef SXS_BASE_C_LOCALE_H
#define SXS_BASE_C_LOCALE_H

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/** sxs_c_locale - return the C locale. The result is borrowed: in glibc the C locale is a constant,
 *  so nothing is allocated and nothing must be freed. */
static inline locale_t sxs_c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/** sxs_strtod - like strtod(). @end may be NULL. */
static inline double sxs_strtod(const char *text, char **end)
{
    return strtod_l(text, end, sxs_c_locale());
}

/** sxs_strtof - like strtof(). @end may be NULL. */
static inline float sxs_strtof(const char *text, char **end)
{
    return strtof_l(text, end, sxs_c_locale());
}

/** sxs_format_double - write @value with @digits significant digits ("%.*g") to @out, a buffer of
 *  @size bytes. The text is truncated if the buffer is too small. */
static inline void sxs_format_double(char *out, size_t size, int digits, double value)
{
    locale_t before = uselocale(sxs_c_locale());
    snprintf(out, size, "%.*g", digits, value);
    uselocale(before);
}

/** sxs_same_text - compare two strings, ignoring the case of ASCII letters. Returns 1 if they are
 *  equal, else 0. */
static inline int sxs_same_text(const char *a, const char *b)
{
    return strcasecmp_l(a, b, sxs_c_locale()) == 0;
}

/** sxs_lower - return the lower-case letter for an ASCII capital, and any other byte unchanged. */
static inline int sxs_lower(char c)
{
    return tolower_l((unsigned char)c, sxs_c_locale());
}

/** sxs_integer_base - return the base of the number in @text, to pass to strtol() and similar
 *  functions: 16 if it starts with 0x, else 10. A leading zero does not make a number octal. @text
 *  may start with a minus sign. */
static inline int sxs_integer_base(const char *text)
{
    text += *text == '-';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

#endif
