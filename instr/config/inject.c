/* SPDX-License-Identifier: MIT */
/* instr/config/inject.c - read <inject> elements. Their IL is assembled once to find syntax
 * errors. */
#include <stdlib.h>
#include <string.h>

#include "instr/config/libxml.h"
#include "instr/config/reader.h"
#include "instr/il/assemble.h"

/* ---- tokens that stand for anything ---------------------------------------------------------- */

static int any_type(void *context, const char *assembly, const char *name, uint32_t *token)
{
    (void)context;
    (void)assembly;
    (void)name;
    *token = 0x01000001;
    return 0;
}

static int any_type_spec(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    (void)context;
    (void)sig;
    (void)size;
    *token = 0x1b000001;
    return 0;
}

static int any_member(void *context, uint32_t owner, const char *name, const uint8_t *sig,
                      size_t size, uint32_t *token)
{
    (void)owner;
    (void)name;
    any_type_spec(context, sig, size, token);
    *token = 0x0a000001;
    return 0;
}

static int any_method_spec(void *context, uint32_t method, const uint8_t *sig, size_t size,
                           uint32_t *token)
{
    (void)method;
    any_type_spec(context, sig, size, token);
    *token = 0x2b000001;
    return 0;
}

static int any_signature(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    any_type_spec(context, sig, size, token);
    *token = 0x11000001;
    return 0;
}

static int any_string(void *context, const uint16_t *units, size_t n, uint32_t *token)
{
    (void)context;
    (void)units;
    (void)n;
    *token = 0x70000001;
    return 0;
}

static const struct sxs_il_tokens any = {
    .type = any_type,
    .type_spec = any_type_spec,
    .member = any_member,
    .method_spec = any_method_spec,
    .signature = any_signature,
    .string = any_string,
};

/* ---- the lines ------------------------------------------------------------------------------- */

/* Returns the part of @text after "line 3, column 5: ". */
static const char *without_place(const char *text)
{
    const char *colon = strncmp(text, "line ", 5) ? NULL : strstr(text, ": ");
    return colon ? colon + 2 : text;
}

static void check_il(struct config_reader *r, const xmlNode *node, const char *il)
{
    struct sxs_il_body    *body = sxs_il_new();
    struct sxs_il_source   source = {il, 0, &any};
    struct sxs_il_fragment fragment;
    struct sxs_il_error    error = {.offset = SXS_IL_NONE};
    int    status = body ? sxs_il_assemble(body, &source, &fragment, &error) : SXS_IL_ENOMEM;
    size_t at = error.offset == SXS_IL_NONE ? 0 : error.offset;
    if (status == SXS_IL_ENOMEM)
        r->whole->failed = 1;
    else if (status)
        config_wrong_at(r, config_text_offset(r, node, at), "IL in ilasm's syntax, a line each",
                        "%s", without_place(error.text));
    else if (!fragment.first)
        config_wrong(r, node, NULL, "IL in ilasm's syntax, a line each", "<inject> without IL");
    sxs_il_free(body);
}

void config_read_il(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    const char *at = config_get(r, node, "at"), *offset = config_get(r, node, "offset");
    const char *instruction = config_get(r, node, "instruction");
    int         within;
    action->kind = SXS_ACTION_INJECT;
    action->place = !at                     ? SXS_PLACE_ENTRY
                    : !strcmp(at, "exit")   ? SXS_PLACE_EXIT
                    : !strcmp(at, "before") ? SXS_PLACE_BEFORE
                    : !strcmp(at, "after")  ? SXS_PLACE_AFTER
                                            : SXS_PLACE_ENTRY;
    within = action->place == SXS_PLACE_BEFORE || action->place == SXS_PLACE_AFTER;
    if (within && !offset == !instruction)
        config_wrong(r, node, offset ? "instruction" : NULL,
                     "either offset= or instruction=, to say which instruction",
                     offset ? "instruction= beside offset=" : "at=\"%s\" of what", at);
    if (!within && (offset || instruction))
        config_wrong(r, node, offset ? "offset" : "instruction", "at=\"before\" or at=\"after\"",
                     "an instruction beside at=\"%s\"", at);
    if (offset)
        action->offset = (uint32_t)(!strncmp(offset, "IL_", 3)  ? strtoul(offset + 3, NULL, 16)
                                    : !strncmp(offset, "0x", 2) ? strtoul(offset + 2, NULL, 16)
                                                                : strtoul(offset, NULL, 10));
    if (instruction)
        action->instruction = (struct sxs_pattern){instruction, strpbrk(instruction, "*?") != NULL};
    action->il = config_text(r, node);
    config_place(&r->source, config_text_offset(r, node, 0), &action->il_line, &action->il_column);
    if (action->il)
        check_il(r, node, action->il);
}
