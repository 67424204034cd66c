/* SPDX-License-Identifier: MIT */
/* sxsprof il: check the IL of an assembly's methods and print it. */
#include "cmd/assembly_body.h"
#include "cmd/assembly_file.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "instr/il/metadata_text.h"

#include <argp.h>
#include <fnmatch.h>
#include <stdlib.h>

#define TEXT_FIRST (1u << 20)

enum { NATIVE_CODE = 0x3 }; /* bits of a method's ImplFlags; set when it has no IL */

struct il_options {
    const char *file;
    const char *pattern; /* NULL: all methods */
    int         check;
};

struct listing {
    const struct il_options *options;
    struct sxs_metadata      md;
    struct sxs_il_names      names;
    struct sxs_il_body      *body;
    char                    *text;
    size_t                   size;
    unsigned long            n, refused;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct il_options *o = state->input;
    switch (key) {
    case 'c': o->check = 1; return 0;
    case ARGP_KEY_ARG:
        if (o->pattern)
            sxs_option_error(state, "'%s': expected one assembly and one pattern", arg);
        *(o->file ? &o->pattern : &o->file) = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->file)
            sxs_option_error(state, "expected the path of an assembly");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"check", 'c', NULL, 0, "Print nothing of methods that are right; say which are not", 0},
    {0},
};
const struct argp sxs_argp_il = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "ASSEMBLY [PATTERN]",
    .doc =
        "Print the IL of an assembly's methods as ilasm writes it, after checking that a runtime "
        "would take it.\v"
        "PATTERN is Namespace.Outer+Inner.Method with * and ?, and fits all overloads; by "
        "default all methods are printed.",
};

/* ---- one method ------------------------------------------------------------------------------- */

/* Prints a method. When the text does not fit into l->text, enlarges the buffer and formats the
 * text again. */
static int put_method(struct listing *l, uint32_t token, const struct sxs_il_error *error)
{
    for (;;) {
        struct sxs_text t = sxs_text_counted(l->text, l->size);
        sxs_text_put(&t, ".method ");
        sxs_md_put_method(&l->md, &t, token);
        sxs_text_putf(&t, " // 0x%08x\n{\n", token);
        if (error)
            sxs_text_putf(&t, "  // refused at IL_%04x: %s\n", error->offset, error->text);
        sxs_il_put_body(&t, l->body, "  ", &l->names);
        sxs_text_put(&t, "}\n");
        if (t.len < l->size)
            break;
        free(l->text);
        l->size = 2 * t.len;
        l->text = malloc(l->size);
        if (!l->text)
            return -1;
    }
    sxs_print_lines(stdout, l->text);
    return 0;
}

static int list_method(struct listing *l, uint32_t token, struct sxs_blob bytes, const char *name)
{
    struct sxs_il_error error;
    int                 err;
    l->n++;
    if (sxs_il_read(l->body, bytes.at, bytes.size, &error) != 0) {
        l->refused++;
        sxs_complain("%s: IL_%04x: %s", name, error.offset, error.text);
        return 0;
    }
    err = sxs_assembly_check_body(&l->md, l->body, token, &error);
    if (err) {
        l->refused++;
        sxs_complain("%s: IL_%04x: %s", name, error.offset, error.text);
    }
    return l->options->check ? 0 : put_method(l, token, err ? &error : NULL);
}

static int list_methods(struct listing *l)
{
    uint32_t n = sxs_md_rows(&l->md, SXS_TABLE_METHOD_DEF);
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t token = sxs_token(SXS_TABLE_METHOD_DEF, row);
        uint32_t rva = sxs_md_cell(&l->md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_RVA);
        uint32_t impl = sxs_md_cell(&l->md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_IMPL_FLAGS);
        char               name[4096];
        struct sxs_text    t = sxs_text_counted(name, sizeof(name));
        if (!rva || impl & NATIVE_CODE)
            continue;
        sxs_md_put_full_name(&l->md, &t, token);
        if (l->options->pattern && fnmatch(l->options->pattern, name, FNM_NOESCAPE) != 0)
            continue;
        if (list_method(l, token, sxs_md_at_rva(&l->md, rva), name) != 0)
            return -1;
    }
    return 0;
}

/* Reads the assembly and prints its IL. @arg: struct il_options. Returns an exit status. */
static int print_il(void *arg)
{
    struct il_options *options = arg;
    struct listing     l = {.options = options, .size = TEXT_FIRST};
    int                err = sxs_assembly_open(options->file, &l.md);
    if (err)
        return err;
    l.names = sxs_md_names(&l.md);
    l.body = sxs_il_new();
    l.text = malloc(l.size);
    if (!l.body || !l.text || list_methods(&l) != 0) {
        sxs_complain("out of memory");
        l.refused++;
    }
    sxs_il_free(l.body);
    free(l.text);
    if (!l.n && options->pattern)
        return sxs_wrong_input("%s: no method is called %s", options->file, options->pattern);
    if (options->check)
        sxs_print("%lu methods, %lu refused\n", l.n, l.refused);
    return sxs_finish_output() || l.refused ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

int sxs_cmd_il(int argc, char **argv)
{
    struct il_options options = {0};
    sxs_options_parse(&sxs_argp_il, argc, argv, 0, &options);
    const struct sxs_confined_verb needs = {.reads = {&options.file}};
    return sxs_confined_verb(&needs, print_il, &options);
}
