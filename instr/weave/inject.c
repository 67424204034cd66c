/* SPDX-License-Identifier: MIT */
#include "instr/weave/inject.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text/utf8.h"
#include "instr/il/metadata_text.h"
#include "instr/weave/resolve.h"
#include "instr/weave/token_cache.h"

#define LINE      2048
#define SHOWN_MAX 3 /* instructions that a message shows */

/* ---- lines ------------------------------------------------------------------------------------ */

/* Returns the part of the message after "line 3, column 5: ". */
static const char *without_place(const char *text)
{
    const char *colon = strncmp(text, "line ", 5) ? NULL : strstr(text, ": ");
    return colon ? colon + 2 : text;
}

/* Sets m->line and m->column to the place in the file of byte @at of the action's lines. */
static void set_place(struct sxs_method *m, const struct sxs_action *a, uint32_t at)
{
    m->line = a->il_line;
    m->column = a->il_column;
    for (const char *p = a->il; at != SXS_IL_NONE && *p && p < a->il + at; p++) {
        if (*p == '\n') {
            m->line++;
            m->column = 1;
        } else if (sxs_utf8_begins(*p)) {
            m->column++;
        }
    }
}

/* Two different hashes and the length: different lines do not have the same digest. */
struct digest {
    uint64_t a, b, size;
};

static struct digest digest_of(const char *il)
{
    return (struct digest){sxs_hash_text(SXS_HASH_START, il), sxs_hash_text_other(il), strlen(il)};
}

/* Assembles the action's lines. Looking up the names in lines takes ten times as long as all other
 * work on a method. When the result holds for every method of the module, it is done once per
 * module. */
static int assemble_fragment(struct sxs_method *m, const struct sxs_action *a,
                             struct sxs_il_fragment *fragment)
{
    struct digest        digest = digest_of(a->il);
    struct sxs_token_key key = {m->tokens.module, SXS_TOKEN_LINES, &digest, sizeof(digest)};
    struct sxs_resolver *r = NULL;
    struct sxs_il_tokens tokens;
    struct sxs_il_source source = {a->il, m->il.n_locals, &tokens};
    int                  err;
    if (!sxs_token_find(&key) && !(r = sxs_resolver_new(m)))
        return sxs_method_fail(m, "no memory");
    tokens = r ? sxs_resolver_table(r) : sxs_tokens_table(&m->tokens);
    m->tokens.error[0] = '\0';
    err = sxs_il_assemble(m->body, &source, fragment, &m->error);
    if (!err && r && !r->depends)
        sxs_token_keep(&key, 1);
    sxs_resolver_free(r);
    if (!err)
        return 0;
    set_place(m, a, m->error.offset);
    return sxs_method_fail(
        m, "%s", m->tokens.error[0] ? m->tokens.error : without_place(m->error.text));
}

static int add_locals(struct sxs_method *m, const struct sxs_il_fragment *fragment)
{
    if (fragment->n_locals && sxs_method_add_locals(m, fragment->locals, fragment->locals_size,
                                                    fragment->n_locals) < 0)
        return -1;
    if (fragment->init_locals)
        m->body->init_locals = 1;
    return 0;
}

int sxs_inject_lines(struct sxs_method *m, const struct sxs_action *a, struct sxs_il_insn *at)
{
    struct sxs_il_fragment fragment;
    if (assemble_fragment(m, a, &fragment) || add_locals(m, &fragment))
        return -1;
    if (sxs_il_insert_fragment(m->body, at, &fragment))
        return sxs_method_fail(m, "no memory");
    return 0;
}

/* ---- places ----------------------------------------------------------------------------------- */

/* Inserts the lines before or after @at. With lines before @at, branches to @at go to the lines,
 * and a block that begins at @at begins at the lines. */
static int insert_at(struct sxs_method *m, const struct sxs_il_fragment *fragment,
                     enum sxs_place place, struct sxs_il_insn *at)
{
    struct sxs_il_insn *from = sxs_il_target(at), *first = fragment->first;
    if (!from)
        return sxs_method_fail(m, "the instruction is gone");
    if (sxs_il_insert_fragment(m->body, place == SXS_PLACE_BEFORE ? from : from->next, fragment))
        return sxs_method_fail(m, "no memory");
    if (place != SXS_PLACE_BEFORE || !first)
        return 0;
    while (from->prev && sxs_il_opcodes[from->prev->opcode].flow == SXS_IL_FLOW_PREFIX)
        from = from->prev;
    sxs_il_move_targets(m->body, from, first, 1);
    return 0;
}

int sxs_inject_at_offset(struct sxs_method *m, const struct sxs_action *a)
{
    struct sxs_il_insn    *at = sxs_il_old_at(m->body, a->offset);
    struct sxs_il_fragment fragment;
    if (!at)
        return sxs_method_fail(m, "there is no instruction at offset 0x%x", a->offset);
    return assemble_fragment(m, a, &fragment) || add_locals(m, &fragment) ||
                   insert_at(m, &fragment, a->place, at)
               ? -1
               : 0;
}

int sxs_inject_at_spots(struct sxs_method *m, const struct sxs_spots *spots)
{
    struct sxs_il_fragment fragment, copy;
    if (assemble_fragment(m, spots->action, &fragment) || add_locals(m, &fragment))
        return -1;
    for (size_t i = 0; i < spots->n; i++) {
        int last = i + 1 == spots->n;
        if (!last && sxs_il_copy_fragment(m->body, &fragment, &copy))
            return sxs_method_fail(m, "no memory");
        if (insert_at(m, last ? &fragment : &copy, spots->action->place, spots->all[i]))
            return -1;
    }
    return 0;
}

/* ---- instructions by their text --------------------------------------------------------------- */

/* Replaces each run of blanks by one blank, and removes blanks at both ends. */
static void squeeze_blanks(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++)
        if (*p != ' ' && *p != '\t')
            *to++ = *p;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    if (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

static const char *line_of(const struct sxs_il_insn *insn, const struct sxs_il_names *names,
                           char *line)
{
    struct sxs_text t = sxs_text_counted(line, LINE);
    line[0] = '\0';
    sxs_il_put_insn(&t, insn, names);
    squeeze_blanks(line);
    return line;
}

/* Sets the error that no instruction matches. It shows the instructions with the pattern's first
 * word, or any when there is none. */
static int say_none(struct sxs_method *m, const char *pattern, const struct sxs_il_names *names)
{
    char               line[LINE], text[700];
    struct sxs_text    t = sxs_text_counted(text, sizeof(text));
    size_t             word = strcspn(pattern, " *?");
    unsigned           n = 0;
    text[0] = '\0';
    for (int any = 0; any < 2 && !n; any++)
        for (struct sxs_il_insn *i = m->body->first; i; i = i->next) {
            if (strncmp(line_of(i, names, line), pattern, word) != 0 && !any)
                continue;
            if (n++ < SHOWN_MAX)
                sxs_text_putf(&t, "%s\"%.200s\"", n > 1 ? ", " : "", line);
        }
    return sxs_method_fail(m, "no instruction fits \"%.200s\"; there is %s%s", pattern, text,
                           n > SHOWN_MAX ? " and more" : "");
}

static int fill_spots(struct sxs_method *m, const struct sxs_pattern *pattern,
                      const struct sxs_il_names *names, struct sxs_spots *spots)
{
    char line[LINE];
    spots->all = calloc(m->body->n_old + 1, sizeof(struct sxs_il_insn *));
    if (!spots->all)
        return sxs_method_fail(m, "no memory");
    for (struct sxs_il_insn *i = m->body->first; i; i = i->next)
        if (sxs_config_fits(pattern, line_of(i, names, line)))
            spots->all[spots->n++] = i;
    return spots->n ? 0 : say_none(m, pattern->text, names);
}

int sxs_spots_find(struct sxs_method *m, const struct sxs_action *a, struct sxs_spots *spots)
{
    struct sxs_images       images;
    const struct sxs_image *own;
    struct sxs_pattern      pattern = a->instruction;
    char                   *text = strdup(pattern.text);
    int                     err;
    *spots = (struct sxs_spots){.action = a};
    if (!text)
        return sxs_method_fail(m, "no memory");
    squeeze_blanks(text);
    pattern.text = text;
    sxs_images_begin(&images, m->tokens.module);
    own = sxs_images_own(&images);
    if (own) {
        struct sxs_il_names names = sxs_md_names(&own->md);
        err = fill_spots(m, &pattern, &names, spots);
    } else {
        err = sxs_method_fail(m, "its assembly's file is not there, or another by now: instructions "
                                 "cannot be found by their text");
    }
    sxs_images_end(&images);
    free(text);
    return err;
}
