/* SPDX-License-Identifier: MIT */
/*
 * instr/config/guard.c - refuse files that could harm libxml2, before libxml2 reads them.
 *
 * A linear pass over the bytes checks the encoding, and another looks at the markup. Refused are
 * encodings other than UTF-8, document types (and so all user-defined entities), elements that are
 * nested too deeply, and tags with too many attributes (libxml2 compares each attribute with each
 * other). libxml2 reports files that are not well-formed.
 */
#include <string.h>

#include "base/text/utf8.h"
#include "instr/config/reader.h"

#define ATTRIBUTES_MAX 32

/* ---- encoding -------------------------------------------------------------------------------- */

static int check_encoding(struct config_reader *r)
{
    const char *s = r->source.bytes;
    size_t      at = 0, len;
    while (at < r->source.size) {
        len = s[at] ? sxs_utf8_len(s + at, r->source.size - at) : 0;
        if (!len) {
            config_wrong_at(r, at, "a file in UTF-8", "byte 0x%02x is no UTF-8 text",
                            (unsigned char)s[at]);
            return -1;
        }
        at += len;
    }
    return 0;
}

/* ---- markup ---------------------------------------------------------------------------------- */

struct marks {
    struct config_reader *r;
    const char           *s;
    size_t                at, size;
    unsigned              depth;
};

static int begins_with(const struct marks *m, const char *with)
{
    size_t len = strlen(with);
    return m->size - m->at >= len && !memcmp(m->s + m->at, with, len);
}

/* Goes to the byte after the next @end, or to the end of the file. */
static void skip_past(struct marks *m, const char *end)
{
    const char *found = memmem(m->s + m->at, m->size - m->at, end, strlen(end));
    m->at = found ? (size_t)(found - m->s) + strlen(end) : m->size;
}

/* Checks one tag: a start tag, an end tag, or an empty element's tag, which ends with "/>" and does
 * not change the depth. Returns 0, or -1 after an error. */
static int read_tag(struct marks *m)
{
    size_t   begin = m->at;
    unsigned attributes = 0;
    int      closing = m->at + 1 < m->size && m->s[m->at + 1] == '/';
    while (m->at < m->size && m->s[m->at] != '>') {
        char quote = m->s[m->at++];
        if (quote != '"' && quote != '\'')
            continue;
        skip_past(m, quote == '"' ? "\"" : "'");
        if (++attributes > ATTRIBUTES_MAX) {
            config_wrong_at(m->r, begin, NULL, "more than %d attributes", ATTRIBUTES_MAX);
            return -1;
        }
    }
    if (closing)
        m->depth -= m->depth > 0;
    else if (m->s[m->at - 1] != '/' && ++m->depth > SXS_CONFIG_DEPTH_MAX) {
        config_wrong_at(m->r, begin, NULL, "elements nested more than %u deep",
                        SXS_CONFIG_DEPTH_MAX);
        return -1;
    }
    return 0;
}

static int check_marks(struct config_reader *r)
{
    struct marks m = {r, r->source.bytes, 0, r->source.size, 0};
    while (m.at < m.size) {
        const char *next = memchr(m.s + m.at, '<', m.size - m.at);
        if (!next)
            break;
        m.at = (size_t)(next - m.s);
        if (begins_with(&m, "<!--")) {
            m.at += 4;
            skip_past(&m, "-->");
        } else if (begins_with(&m, "<![CDATA[")) {
            skip_past(&m, "]]>");
        } else if (begins_with(&m, "<?")) {
            skip_past(&m, "?>");
        } else if (begins_with(&m, "<!")) {
            config_wrong_at(r, m.at, "a file without a document type and entities of its own",
                            "<! begins a declaration");
            return -1;
        } else if (read_tag(&m)) {
            return -1;
        }
    }
    return 0;
}

int config_guard(struct config_reader *r)
{
    if (r->source.size > SXS_CONFIG_FILE_MAX) {
        config_wrong_at(r, SIZE_MAX, NULL, "%zu bytes are too many; %u is the most", r->source.size,
                        SXS_CONFIG_FILE_MAX);
        return -1;
    }
    return check_encoding(r) || check_marks(r);
}
