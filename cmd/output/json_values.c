/* SPDX-License-Identifier: MIT */
#include "cmd/output/json_values.h"

#include "cmd/output/text.h"

json_t *sxs_json_number(uint64_t v)
{
    return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

json_t *sxs_json_text(const char *s)
{
    char clean[3 * 4096 + 1]; /* one byte of input can become three bytes */
    sxs_text_clean(s, clean, sizeof(clean));
    return json_string(clean);
}

int sxs_json_set_number(json_t *o, const char *key, uint64_t v)
{
    return json_object_set_new(o, key, sxs_json_number(v));
}

int sxs_json_set_text(json_t *o, const char *key, const char *s)
{
    return json_object_set_new(o, key, sxs_json_text(s));
}

json_t *sxs_json_whole(json_t *o, int err)
{
    if (!err)
        return o;
    json_decref(o);
    return NULL;
}

int sxs_json_print(json_t *o, int err)
{
    if (!err)
        err = json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
    return err;
}
