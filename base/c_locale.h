/* SPDX-License-Identifier: MIT */
/**
 * c_locale.h - numbers and letters as the C locale has them, whatever setlocale() or uselocale() the host
 * calls: a decimal point, and no Turkish "i".
 *
 * The library and the command use these in place of strtod(), strtof(), printf's floating point
 * conversions, strcasecmp() and tolower(). Any thread; not signal-safe.
 */
#ifndef SXS_C_LOCALE_H
#define SXS_C_LOCALE_H

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/** Borrowed: glibc has the C locale as a constant; nothing is allocated. */
static inline locale_t sxs_c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/** sxs_strtod - as strtod(); @end may be NULL. */
static inline double sxs_strtod(const char *text, char **end)
{
    return strtod_l(text, end, sxs_c_locale());
}

/** sxs_strtof - as strtof(); @end may be NULL. */
static inline float sxs_strtof(const char *text, char **end)
{
    return strtof_l(text, end, sxs_c_locale());
}

/** sxs_format_double - @value with @digits significant digits ("%.*g") into @out, of @size bytes. */
static inline void sxs_format_double(char *out, size_t size, int digits, double value)
{
    locale_t before = uselocale(sxs_c_locale());
    snprintf(out, size, "%.*g", digits, value);
    uselocale(before);
}

/** sxs_same_text - whether two texts are the same but for ASCII capitals. */
static inline int sxs_same_text(const char *a, const char *b)
{
    return strcasecmp_l(a, b, sxs_c_locale()) == 0;
}

/** sxs_lower - the small letter of an ASCII capital; other bytes as they are. */
static inline int sxs_lower(char c)
{
    return tolower_l((unsigned char)c, sxs_c_locale());
}

/** sxs_integer_base - the base @text is written in, for strtol() and the like: 16 after 0x, else 10; a
 *  leading zero does not make a number octal. @text may begin with a minus. */
static inline int sxs_integer_base(const char *text)
{
    text += *text == '-';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

#endif
