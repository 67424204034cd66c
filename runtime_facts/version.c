/* SPDX-License-Identifier: MIT */
#include "runtime_facts/version.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FRAMEWORK       4u /* major version of .NET Framework, which .NET Core up to 3.1 says, too */
#define FRAMEWORK_SAYS  "4.0.30319"
#define LAST_CORE       3u /* last major version of .NET Core; the next one is .NET 5 */
#define PARTS_OF_BUILD  3
#define DIGITS_OF_BUILD 6u
#define DIGITS_MAX      9u /* of a number that an unsigned int surely holds */

/* Reads a number of 1 to @most digits in the text from *at to @end, and moves *at past it. Returns
 * false, and sets *out to 0, when there is none or it is longer. */
static bool take_number(const char **at, const char *end, size_t most, unsigned *out)
{
    size_t n = 0;
    for (*out = 0; *at < end && isdigit((unsigned char)**at); n++) {
        if (n == most) {
            *out = 0;
            return false;
        }
        *out = *out * 10 + (unsigned)(*(*at)++ - '0');
    }
    return n > 0;
}

static bool take_dot(const char **at, const char *end)
{
    bool is_dot = *at < end && **at == '.';
    *at += is_dot;
    return is_dot;
}

bool sxs_release_parse(const char *text, struct sxs_release *out)
{
    const char *at = text, *end = text + strlen(text);
    *out = (struct sxs_release){0};
    if (!take_number(&at, end, DIGITS_MAX, &out->major))
        return false;
    if (take_dot(&at, end) && take_number(&at, end, DIGITS_MAX, &out->minor) && take_dot(&at, end))
        take_number(&at, end, DIGITS_MAX, &out->patch);
    out->is_preview = strchr(text, '-') != NULL;
    return true;
}

static bool looks_like_version(const char *text, size_t len)
{
    size_t dots = 0;
    for (size_t i = 0; i < len && text[i] != '-'; i++) {
        dots += text[i] == '.';
        if (!isdigit((unsigned char)text[i]) && text[i] != '.')
            return false;
    }
    return len && isdigit((unsigned char)text[0]) && dots >= 1;
}

void sxs_version_in_path(const char *path, char *out, size_t size)
{
    out[0] = '\0';
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if (at[len] == '/' && looks_like_version(at, len))
            snprintf(out, size, "%.*s", (int)len, at);
        at += len + (at[len] == '/');
    }
}

void sxs_version_of_core(char *version, size_t size, const char *path)
{
    char               found[64];
    struct sxs_release r;
    if (strcmp(version, FRAMEWORK_SAYS) != 0)
        return;
    sxs_version_in_path(path, found, sizeof(found));
    if (sxs_release_parse(found, &r) && r.major >= 1 && r.major <= LAST_CORE &&
        strchr(strchr(found, '.') + 1, '.'))
        snprintf(version, size, "%s", found);
}

void sxs_version_of_build(const char *text, size_t len, char *out, size_t size)
{
    const char *at = text, *end = text + len;
    unsigned    part[PARTS_OF_BUILD];
    out[0] = '\0';
    for (int i = 0; i < PARTS_OF_BUILD; i++)
        if (!take_number(&at, end, DIGITS_OF_BUILD, &part[i]) || !take_dot(&at, end))
            return;
    if (part[0] == FRAMEWORK) /* of .NET Core up to 3.1: the file has no version of the product */
        return;
    /* The third number is 100 times the patch, and the year. */
    snprintf(out, size, "%u.%u.%u", part[0], part[1], part[2] / 100);
}
