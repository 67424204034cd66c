/* SPDX-License-Identifier: MIT */
/** tool_options.h - the table of a tool's options, and parsing the text "KEY=VALUE,KEY,...".
 *
 *  Each tool has one table. The library parses SXSPROF_TOOLS by the table. The command checks
 *  --tool by it and derives from it the options, the help and the completion of the recording verbs, such
 *  as `sxsprof sample --rate 997`. */
#ifndef SXS_TOOLS_OPTIONS_TOOL_OPTIONS_H
#define SXS_TOOLS_OPTIONS_TOOL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/** Size of a buffer for a sentence about a wrong option; longer sentences are cut. */
#define SXS_TOOL_WHY 320

struct sxs_tool_option {
    const char *syntax;   /* "rate=HZ", "wall[=HZ]" or "classes"; the key ends before '=' or '[' */
    const char *option;   /* of the verb, without "--"; NULL: there is none */
    const char *argument; /* of that option: "HZ" or "on|off"; NULL: it has no argument */
    const char *expected; /* in messages: "a rate from 1 to 10000 Hz" */
    const char *help;     /* of the verb's option */
    /* Stores @value in the tool's options @out. @value: NULL if the text has no '='. Returns 0, or
     * -1 if the value is wrong. Pure. */
    int (*read)(const struct sxs_tool_option *row, const char *value, void *out);
};

struct sxs_tool_table {
    const char                   *tool; /* name in SXSPROF_TOOLS */
    const struct sxs_tool_option *rows;
    size_t                        n;
};

/** sxs_tool_parse - parse the options in @text, which are separated by ',', into @out.
 *  An option that is given several times has its last value. Options that are not given stay as
 *  they are in @out.
 *  Returns 0, or -1 with a sentence in @why (@size bytes) that names the first wrong option and
 *  says what was expected. Pure. */
int sxs_tool_parse(const struct sxs_tool_table *table, const char *text, void *out, char *why,
                   size_t size);

/** sxs_tool_key - return the length of the key in row->syntax. */
size_t sxs_tool_key(const struct sxs_tool_option *row);

/** sxs_choice - return the index of @value in @choices ("on|off"), or -1 if it is none of them or
 *  NULL. Pure. */
int sxs_choice(const char *choices, const char *value);

/** sxs_tool_number - read a decimal number from @least to @most into @out. Returns 0 or -1. Pure. */
int sxs_tool_number(const char *value, unsigned least, unsigned most, unsigned *out);

/** sxs_tool_bytes - read a number of bytes from @least to @most into @out: decimal, with k, m or g
 *  after it for KiB, MiB or GiB. Returns 0 or -1. Pure. */
int sxs_tool_bytes(const char *value, uint64_t least, uint64_t most, uint64_t *out);

#endif
