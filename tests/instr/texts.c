/* SPDX-License-Identifier: MIT */
/* texts.c - assembles the ilasm text of every method body, and compares. TAP. usage: il_texts FILE... */
#include <stdlib.h>

#include "instr/il/assemble.h"
#include "instr/il/metadata_text.h"
#include "tests/instr/assembly.h"
#include "tests/instr/graph.h"
#include "tests/instr/tokens.h"

#define TEXT_SIZE (1u << 26)

static struct {
    unsigned long        n, assembled, same;
    unsigned             n_reported;
    char                *text;
    struct sxs_il_body  *body, *again;
    struct sxs_il_names  names;
    struct sxs_il_tokens tokens;
} run;

static void tell(const struct method *m, const char *file, const char *what, uint32_t offset)
{
    const char *line = run.text + offset;
    if (run.n_reported++ > 20)
        return;
    while (line > run.text && line[-1] != '\n')
        line--;
    printf("# %s, method 0x%08x: %s: %.*s\n", file, m->token, what, (int)strcspn(line, "\n"), line);
}

static int write_text(struct sxs_il_body *body, char *bytes)
{
    struct sxs_text t = sxs_text_counted(bytes, TEXT_SIZE);
    sxs_il_put_body(&t, body, "  ", &run.names);
    return t.len < TEXT_SIZE ? 0 : -1;
}

/* Compares locals by the bytes of their signatures. */
static int same_locals(struct method *m, const struct sxs_il_fragment *f)
{
    struct sxs_blob old = find_locals(m, run.body);
    static uint8_t  bytes[1 << 18];
    size_t          size;
    if (!run.body->locals || !m->method.n_locals)
        return f->n_locals == 0;
    size = sxs_il_add_locals(NULL, 0, f->locals, f->locals_size, f->n_locals, bytes, sizeof(bytes), NULL);
    return size == old.size && !memcmp(bytes, old.at, size);
}

static void one(struct method *m, const char *file)
{
    struct sxs_il_source   source = {run.text, 0, &run.tokens};
    struct sxs_il_fragment f;
    struct sxs_il_error    e = {0};
    const uint8_t         *bytes;
    size_t                 size;
    if (sxs_il_read(run.body, m->bytes.at, m->bytes.size, &e) != 0)
        return;
    run.n++;
    sxs_il_clear(run.again);
    if (write_text(run.body, run.text) != 0 ||
        sxs_il_assemble(run.again, &source, &f, &e) != 0 ||
        sxs_il_insert_fragment(run.again, NULL, &f) != 0) {
        tell(m, file, e.text, e.offset);
        return;
    }
    run.assembled++;
    if (!same_locals(m, &f) || f.init_locals > run.body->init_locals) {
        tell(m, file, "other locals", 0);
        return;
    }
    if (sxs_il_check(run.again, &m->method, &e) != 0 ||
        run.again->max_stack > run.body->max_stack) {
        tell(m, file, "refused, or another stack", 0);
        return;
    }
    run.again->locals = run.body->locals;
    run.again->init_locals = run.body->init_locals;
    run.again->max_stack = run.body->max_stack;
    if (!same_graph(run.body, run.again) || sxs_il_write(run.again, &bytes, &size, &e) != 0)
        tell(m, file, "another body", 0);
    else
        run.same++;
}

static void all_of(struct sxs_metadata *md, const char *file)
{
    struct tokens *tokens = tokens_new(md);
    struct method  m;
    run.tokens = tokens_ask(tokens);
    run.names = sxs_md_names(md);
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_METHOD_DEF); row++)
        if (find_method(md, row, &m) == 0)
            one(&m, file);
    tokens_free(tokens);
}

int main(int argc, char **argv)
{
    struct sxs_metadata md;
    run.text = malloc(TEXT_SIZE);
    run.body = sxs_il_new();
    run.again = sxs_il_new();
    for (int i = 1; run.text && i < argc; i++)
        if (open_assembly(argv[i], &md) == 0)
            all_of(&md, argv[i]);
    printf("%s 1 - each of %lu texts is assembled: %lu\n",
           run.n && run.assembled == run.n ? "ok" : "not ok", run.n, run.assembled);
    printf("%s 2 - each of %lu is the same body again: %lu\n1..2\n",
           run.n && run.same == run.n ? "ok" : "not ok", run.n, run.same);
    free(run.text);
    sxs_il_free(run.body);
    sxs_il_free(run.again);
    return !run.n || run.same != run.n;
}
