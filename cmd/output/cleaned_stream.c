/* SPDX-License-Identifier: MIT */
#include "cmd/output/cleaned_stream.h"

#include "cmd/output/print.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cleaned {
    FILE       *to;   /* borrowed */
    const char *name; /* borrowed */
    bool        is_message;
};

/* A function of fopencookie(). The stream has no buffer, so that @bytes are what one call has printed. */
static ssize_t write_cleaned(void *cookie, const char *bytes, size_t size)
{
    struct cleaned *c = cookie;
    size_t          len = strlen(c->name);
    char           *text = strndup(bytes, size);
    if (!text)
        return 0;
    size_t n = strlen(text);
    if (n > len && strncmp(text, c->name, len) == 0 && text[len] == ':')
        c->is_message = true;
    bool ends = c->is_message && n && text[n - 1] == '\n';
    text[n - ends] = '\0';
    if (c->is_message)
        sxs_print_to(c->to, ends ? "%s\n" : "%s", text);
    else
        sxs_print_lines(c->to, text);
    free(text);
    return (ssize_t)size;
}

FILE *sxs_cleaned_stream(FILE *to, const char *name)
{
    static struct cleaned              c;
    static const cookie_io_functions_t functions = {.write = write_cleaned};
    c = (struct cleaned){.to = to, .name = name};
    FILE *stream = fopencookie(&c, "w", functions);
    if (stream)
        setvbuf(stream, NULL, _IONBF, 0);
    return stream;
}
