/* SPDX-License-Identifier: MIT */
#include "cmd/output/json_document.h"

static const struct {
    const char *format;
    int         version;
} documents[] = {
#define X(identifier, name, version) [SXS_JSON_##identifier] = {"sxsprof-" name, version},
    SXS_JSON_DOCUMENTS(X)
#undef X
};

json_t *sxs_json_document_new(enum sxs_json_document document)
{
    return json_pack("{s:s, s:i}", "format", documents[document].format, "version",
                     documents[document].version);
}

void sxs_json_document_begin(FILE *to, enum sxs_json_document document)
{
    fprintf(to, "{\"format\": \"%s\", \"version\": %d", documents[document].format,
            documents[document].version);
}
