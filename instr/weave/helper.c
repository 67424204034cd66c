/* SPDX-License-Identifier: MIT */
#include "instr/weave/helper.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code_path.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/text/utf8.h"
#include "instr/metadata/metadata.h"
#include "instr/metadata/signature.h"
#include "instr/weave/assembly_copy.h"
#include "instr/weave/image.h"
#include "runtime_facts/version.h"
#include "session/write/instrument_write.h"

#define MAX_NODES 256
enum { METHOD_STATIC = 0x0010 };

static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct sxs_helper *helpers; /* guarded by lock */
static SXS_TLS int loading; /* 1: this thread loads a helper; code that runs meanwhile on this
                                      thread calls no helpers, so that it cannot wait for itself */
SXS_SESSION_KEEPS(lock);
SXS_SESSION_KEEPS(helpers); /* code with their addresses may still run */

/* ---- the file --------------------------------------------------------------------------------- */

/* Whether @name, as in Namespace.Outer+Inner, is the name of the TypeDef in @row. */
static int is_type(const struct sxs_metadata *md, uint32_t row, const char *name)
{
    const char *space =
        sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_NAMESPACE));
    const char *own =
        sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_NAME));
    uint32_t outer = sxs_md_enclosing(md, sxs_token(SXS_TABLE_TYPE_DEF, row));
    size_t   n = strlen(own), len = strlen(name);
    if (len < n || strcmp(name + len - n, own) != 0)
        return 0;
    if (!outer) {
        size_t at = strlen(space);
        return at ? len == at + 1 + n && memcmp(name, space, at) == 0 && name[at] == '.' : len == n;
    }
    char text[1024];
    if (len < n + 1 || name[len - n - 1] != '+' || len - n - 1 >= sizeof(text))
        return 0;
    memcpy(text, name, len - n - 1);
    text[len - n - 1] = '\0';
    return is_type(md, outer & 0xffffff, text);
}

static uint32_t find_type(const struct sxs_metadata *md, const char *name)
{
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_TYPE_DEF); row++)
        if (is_type(md, row, name))
            return row;
    return 0;
}

static uint32_t find_method(struct sxs_method *m, const struct sxs_metadata *md, uint32_t type,
                            const char *name)
{
    uint32_t found = 0;
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_METHOD_DEF); row++) {
        uint32_t at = sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_NAME);
        if (strcmp(sxs_md_string(md, at), name) != 0 ||
            sxs_md_owner(md, sxs_token(SXS_TABLE_METHOD_DEF, row)) !=
                sxs_token(SXS_TABLE_TYPE_DEF, type))
            continue;
        if (found) {
            sxs_method_set_why(m, "there are several methods %s in the helper", name);
            return 0;
        }
        found = row;
    }
    if (!found)
        sxs_method_set_why(m, "there is no method %s in the helper", name);
    else if (!(sxs_md_cell(md, SXS_TABLE_METHOD_DEF, found, SXS_METHOD_DEF_FLAGS) &
               METHOD_STATIC)) {
        sxs_method_set_why(m, "the helper's method %s is not static", name);
        return 0;
    }
    return found;
}

static int may_be_handed(uint8_t element)
{
    return (element >= SXS_ELEMENT_BOOLEAN && element <= SXS_ELEMENT_STRING) ||
           element == SXS_ELEMENT_I || element == SXS_ELEMENT_U || element == SXS_ELEMENT_OBJECT;
}

static int read_signature(struct sxs_method *m, const struct sxs_metadata *md, uint32_t method,
                          struct sxs_helper *h)
{
    struct sxs_blob     blob = sxs_md_signature(md, sxs_token(SXS_TABLE_METHOD_DEF, method));
    struct sxs_sig_node nodes[MAX_NODES];
    struct sxs_sig      sig;
    if (sxs_sig_parse(SXS_SIG_METHOD, blob.at, blob.size, nodes, MAX_NODES, &sig) || sig.n_generic)
        return sxs_method_fail(m, "the helper's method %s is generic, or cannot be read",
                               h->method);
    h->result = nodes[sxs_sig_plain(&sig, sig.result)].element;
    if (h->result != SXS_ELEMENT_VOID && !may_be_handed(h->result))
        return sxs_method_fail(m,
                               "the result of the helper's method %s is neither object nor "
                               "primitive",
                               h->method);
    for (uint32_t i = sig.params; i != SXS_SIG_NONE; i = nodes[i].next) {
        uint8_t element = nodes[sxs_sig_plain(&sig, i)].element;
        if (h->n_parameters == SXS_HELPER_PARAMS || !may_be_handed(element))
            return sxs_method_fail(m,
                                   "parameter %u of the helper's method %s is neither object "
                                   "nor primitive",
                                   h->n_parameters, h->method);
        h->parameters[h->n_parameters++] = element;
    }
    return 0;
}

/* Whether the helper was built for a newer .NET than the runtime, by the version of its reference
 * to the core library. */
static int is_for_newer(struct sxs_method *m, const struct sxs_metadata *md,
                        const struct sxs_helper *h)
{
    const char        *runtime = sxs_runtime_version(m->tokens.module.rt);
    struct sxs_release is;
    sxs_release_parse(runtime, &is);
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_ASSEMBLY_REF); row++) {
        const char *name =
            sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_ASSEMBLY_REF, row, SXS_ASSEMBLY_REF_NAME));
        uint32_t major = sxs_md_cell(md, SXS_TABLE_ASSEMBLY_REF, row, SXS_ASSEMBLY_REF_MAJOR);
        if ((!strcmp(name, "System.Runtime") || !strcmp(name, "System.Private.CoreLib")) &&
            major > is.major)
            return sxs_method_fail(m, "helper %s is built for .NET %u, the runtime is %s", h->path,
                                   major, runtime);
    }
    return 0;
}

static int look_up(struct sxs_method *m, const struct sxs_metadata *md, struct sxs_helper *h)
{
    uint32_t type = find_type(md, h->type), method;
    if (is_for_newer(m, md, h))
        return -1;
    if (!type)
        return sxs_method_fail(m, "there is no type %s in %s", h->type, h->path);
    method = find_method(m, md, type, h->method);
    return method ? read_signature(m, md, method, h) : -1;
}

static int read_file(struct sxs_method *m, struct sxs_helper *h)
{
    const struct sxs_assembly_copy *copy;
    int                             err = sxs_assembly_copy_get(h->path, &copy);
    if (err)
        return sxs_method_fail(m, "helper %s: %s", h->path,
                               err == EINVAL  ? "not an assembly"
                               : err == EBUSY ? "it is being written to"
                                              : strerror(err));
    err = look_up(m, &copy->file.md, h);
    sxs_assembly_copy_put(copy);
    return err;
}

/* ---- finding ---------------------------------------------------------------------------------- */

static void forget_helper(struct sxs_helper *h)
{
    free(h->path);
    free(h->type);
    free(h->method);
    free(h);
}

static struct sxs_helper *find_helper(uint32_t runtime, const struct sxs_call_target *t)
{
    struct sxs_helper *h;
    pthread_mutex_lock(&lock);
    for (h = helpers; h; h = h->next)
        if (h->runtime == runtime && !strcmp(h->path, t->path) && !strcmp(h->type, t->type) &&
            !strcmp(h->method, t->method))
            break;
    pthread_mutex_unlock(&lock);
    return h;
}

/* Returns the file that the runtime would load for the assembly @name; the caller frees it. */
static char *path_of(struct sxs_method *m, const char *name)
{
    char                    text[700];
    struct sxs_text         where = sxs_text_counted(text, sizeof(text));
    struct sxs_images       images;
    const struct sxs_image *image;
    char                   *path = NULL;
    sxs_images_begin(&images, m->tokens.module);
    image = sxs_images_find(&images, name);
    if (image && image->path) {
        path = strdup(image->path);
    } else if (image) {
        sxs_method_set_why(m, "helper %s was loaded from memory: it has no file", name);
    } else {
        sxs_images_put_folders(&images, &where);
        sxs_method_set_why(m, "helper %s is not loaded and not found in %s", name, text);
    }
    sxs_images_end(&images);
    return path;
}

/* Whether a rule's `assembly` is a path of a file, not the name of an assembly. */
static int is_file(const char *path)
{
    size_t n = strlen(path);
    return strchr(path, '/') || (n > 4 && strcmp(path + n - 4, ".dll") == 0);
}

/* Makes the helper's record in the session file, which has its counters. */
static void record_helper(struct sxs_helper *h)
{
    char text[2048];
    snprintf(text, sizeof(text), "%s.%s in %s", h->type, h->method, h->path);
    h->record = sxs_instrument_helper(h->runtime, text);
    h->session = sxs_session_generation();
}

static struct sxs_helper *find_file(struct sxs_method *m, const struct sxs_call_target *target)
{
    uint32_t           runtime = sxs_runtime_number(m->tokens.module.rt);
    struct sxs_helper *h = find_helper(runtime, target);
    if (h && h->session != sxs_session_generation())
        record_helper(h);
    if (h)
        return h;
    h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->runtime = runtime;
    h->path = strdup(target->path);
    h->type = strdup(target->type);
    h->method = strdup(target->method);
    if (!h->path || !h->type || !h->method || read_file(m, h)) {
        forget_helper(h);
        return NULL;
    }
    record_helper(h);
    pthread_mutex_lock(&lock);
    h->next = helpers; /* two threads may add the same helper: each of the two works */
    helpers = h;
    pthread_mutex_unlock(&lock);
    return h;
}

struct sxs_helper *sxs_helper_find(struct sxs_method *m, const struct sxs_call_target *target)
{
    struct sxs_call_target file = *target;
    struct sxs_helper     *h;
    char                  *path, refused[512];
    if (is_file(target->path) && sxs_code_path_refused(target->path, refused, sizeof(refused))) {
        sxs_method_set_why(m, "helper %s", refused);
        return NULL;
    }
    if (is_file(target->path))
        return find_file(m, target);
    path = path_of(m, target->path);
    if (!path)
        return NULL;
    file.path = path;
    h = find_file(m, &file);
    free(path);
    return h;
}

/* ---- callouts: called by the IL --------------------------------------------------------------- */

enum { LOAD, READY, SKIP };

/* Returns LOAD: this thread is to load the helper; READY: it is loaded; SKIP: do not call it. */
static int32_t begin_load(struct sxs_helper *h)
{
    if (atomic_load_explicit(&h->function, memory_order_acquire))
        return loading ? SKIP : READY;
    if (loading || atomic_load(&h->failed))
        return SKIP;
    loading = 1;
    return LOAD;
}

static void set_ready(struct sxs_helper *h, uintptr_t function)
{
    loading = 0;
    atomic_store_explicit(&h->function, function, memory_order_release);
}

/* The helper threw, or could not be loaded. Runs in cooperative mode, where a callout should not
 * write to the log. Each of the two lines is written nevertheless, because it comes only once for a
 * helper. */
static void set_failed(struct sxs_helper *h, const struct sxs_marker *marker)
{
    uint64_t before = atomic_fetch_add_explicit(&h->threw, 1, memory_order_relaxed);
    sxs_callout_swallowed(marker);
    if (h->record)
        atomic_fetch_add_explicit(&h->record->threw, 1, memory_order_relaxed);
    if (!loading) {
        if (!before)
            sxs_error("tool instrument: runtime %u: %s of %s in %s threw, and may again: the program "
                      "goes on",
                      h->runtime, h->method, h->type, h->path);
        return;
    }
    loading = 0;
    if (h->record)
        atomic_store_explicit(&h->record->failed, 1, memory_order_relaxed);
    if (!atomic_exchange(&h->failed, 1))
        sxs_error("tool instrument: runtime %u cannot load %s of %s in %s: it is not called",
                  h->runtime, h->method, h->type, h->path);
}

/* ---- the IL ----------------------------------------------------------------------------------- */

static int member_ref(struct sxs_emit *e, const char *type, const char *name, const uint8_t *sig,
                      size_t size, enum sxs_il_opcode opcode)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&e->m->tokens);
    uint32_t             owner, token;
    if (sxs_tokens_core_type(&e->m->tokens, type, &owner) ||
        tokens.member(tokens.context, owner, name, sig, size, &token))
        return sxs_method_fail(e->m, "%s", e->m->tokens.error);
    return sxs_emit(e, sxs_il_token(e->m->body, opcode, token));
}

/* A signature that is being written. */
struct made {
    uint8_t bytes[48];
    size_t  size;
};

static int put_type(struct sxs_method *m, struct made *s, uint8_t element, const char *name)
{
    uint32_t token;
    if (sxs_tokens_core_type(&m->tokens, name, &token))
        return sxs_method_fail(m, "%s", m->tokens.error);
    s->bytes[s->size++] = element;
    s->size += sxs_emit_coded(s->bytes + s->size, token);
    return 0;
}

static void put_byte(struct made *s, uint8_t byte)
{
    s->bytes[s->size++] = byte;
}

static int emit_text(struct sxs_emit *e, const char *utf8)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&e->m->tokens);
    WCHAR                wide[4096];
    uint32_t             token;
    size_t               n = sxs_utf16_of(utf8, wide, ARRAY_LEN(wide));
    if (!n)
        return sxs_method_fail(e->m, "a helper's name is too long");
    if (tokens.string(tokens.context, wide, n, &token))
        return sxs_method_fail(e->m, "%s", e->m->tokens.error);
    return sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_LDSTR, token));
}

#define REFLECTION "System.Reflection."

/* Emits Assembly.LoadFrom(path).GetType(type, true) */
static int find_the_type(struct sxs_emit *e, const struct sxs_helper *h)
{
    struct sxs_method *m = e->m;
    struct made        load = {{0, 1}, 2}, get = {{0x20, 2}, 2};
    if (put_type(m, &load, SXS_ELEMENT_CLASS, REFLECTION "Assembly"))
        return -1;
    put_byte(&load, SXS_ELEMENT_STRING);
    if (put_type(m, &get, SXS_ELEMENT_CLASS, "System.Type"))
        return -1;
    put_byte(&get, SXS_ELEMENT_STRING);
    put_byte(&get, SXS_ELEMENT_BOOLEAN);
    return emit_text(e, h->path) ||
           member_ref(e, REFLECTION "Assembly", "LoadFrom", load.bytes, load.size, SXS_IL_CALL) ||
           emit_text(e, h->type) || sxs_emit(e, sxs_il_ldc(m->body, 1)) ||
           member_ref(e, REFLECTION "Assembly", "GetType", get.bytes, get.size, SXS_IL_CALLVIRT);
}

/* Emits .GetMethod(method, flags).MethodHandle.GetFunctionPointer() */
static int find_the_function(struct sxs_emit *e, const struct sxs_helper *h)
{
    static const uint8_t pointer[] = {0x20, 0, SXS_ELEMENT_I};
    struct sxs_method   *m = e->m;
    struct made          get = {{0x20, 2}, 2}, handle = {{0x20, 0}, 2}, local = {{0}, 0};
    int                  number;
    if (put_type(m, &get, SXS_ELEMENT_CLASS, REFLECTION "MethodInfo"))
        return -1;
    put_byte(&get, SXS_ELEMENT_STRING);
    if (put_type(m, &get, SXS_ELEMENT_VALUETYPE, REFLECTION "BindingFlags") ||
        put_type(m, &handle, SXS_ELEMENT_VALUETYPE, "System.RuntimeMethodHandle") ||
        put_type(m, &local, SXS_ELEMENT_VALUETYPE, "System.RuntimeMethodHandle"))
        return -1;
    number = sxs_method_add_locals(m, local.bytes, local.size, 1);
    if (number < 0)
        return -1;
    return emit_text(e, h->method) ||
           sxs_emit(e, sxs_il_ldc(m->body, 0x38)) || /* BindingFlags: Static, Public, NonPublic */
           member_ref(e, "System.Type", "GetMethod", get.bytes, get.size, SXS_IL_CALLVIRT) ||
           member_ref(e, REFLECTION "MethodBase", "get_MethodHandle", handle.bytes, handle.size,
                      SXS_IL_CALLVIRT) ||
           sxs_emit(e, sxs_il_stloc(m->body, (uint16_t)number)) ||
           sxs_emit(e, sxs_il_ldloca(m->body, (uint16_t)number)) ||
           member_ref(e, "System.RuntimeMethodHandle", "GetFunctionPointer", pointer,
                      sizeof(pointer), SXS_IL_CALL);
}

int sxs_emit_helper_load(struct sxs_emit *e, struct sxs_helper *h, struct sxs_il_insn *skip)
{
    static const uint8_t two[] = {SXS_ELEMENT_I, SXS_ELEMENT_I}, i4 = SXS_ELEMENT_I4;
    struct sxs_il_body  *body = e->m->body;
    struct sxs_il_insn  *go_on = sxs_il_insn(body, SXS_IL_NOP);
    int                  state = sxs_method_add_locals(e->m, &i4, 1, 1);
    if (state < 0)
        return -1;
    return sxs_emit_pointer(e, h) ||
                   sxs_emit_callout(e, (uintptr_t)begin_load, SXS_ELEMENT_I4, two, 1) ||
                   sxs_emit(e, sxs_il_stloc(body, (uint16_t)state)) ||
                   sxs_emit(e, sxs_il_ldloc(body, (uint16_t)state)) ||
                   sxs_emit(e, sxs_il_ldc(body, SKIP)) ||
                   sxs_emit(e, sxs_il_branch(body, SXS_IL_BEQ, skip)) ||
                   sxs_emit(e, sxs_il_ldloc(body, (uint16_t)state)) ||
                   sxs_emit(e, sxs_il_branch(body, SXS_IL_BRTRUE, go_on)) ||
                   sxs_emit_pointer(e, h) || find_the_type(e, h) || find_the_function(e, h) ||
                   sxs_emit_callout(e, (uintptr_t)set_ready, SXS_ELEMENT_VOID, two, 2) ||
                   sxs_emit(e, go_on)
               ? -1
               : 0;
}

int sxs_emit_helper_call(struct sxs_emit *e, struct sxs_helper *h)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&e->m->tokens);
    uint8_t              sig[SXS_HELPER_PARAMS + 3];
    uint32_t             token;
    sig[0] = 0; /* managed */
    sig[1] = h->n_parameters;
    sig[2] = h->result;
    memcpy(sig + 3, h->parameters, h->n_parameters);
    if (tokens.signature(tokens.context, sig, 3u + h->n_parameters, &token))
        return sxs_method_fail(e->m, "%s", e->m->tokens.error);
    return sxs_emit_pointer(e, (const void *)(uintptr_t)&h->function) ||
           sxs_emit(e, sxs_il_insn(e->m->body, SXS_IL_LDIND_I)) ||
           sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_CALLI, token));
}

int sxs_emit_helper_failed(struct sxs_emit *e, struct sxs_helper *h,
                           const struct sxs_marker *marker)
{
    static const uint8_t two[] = {SXS_ELEMENT_I, SXS_ELEMENT_I};
    return sxs_emit_pointer(e, h) || sxs_emit_pointer(e, marker) ||
           sxs_emit_callout(e, (uintptr_t)set_failed, SXS_ELEMENT_VOID, two, 2);
}
