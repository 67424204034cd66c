/* SPDX-License-Identifier: MIT */
/*
 * clauses.c - exception clauses: IExceptionSection and IExceptionClause.
 *
 * Until a plug-in or a change of the graph needs them, the clauses are in the body only. After that
 * (`loaded`) the objects are what counts, and the body gets them by clrie_clauses_commit().
 */
#include <stdlib.h>
#include <string.h>

#include "clrie/graph/internal.h"
#include "clrie/object/enumerator.h"

struct clrie_clause {
    CLRIE_OBJECT(2);
    DWORD                     flags;
    mdToken                   token;
    struct clrie_instruction *part[CLRIE_N_PARTS]; /* held; NULL: not set */
};
const uint32_t clrie_clause_size = sizeof(struct clrie_clause);

struct clrie_section {
    CLRIE_OBJECT(2);
    struct clrie_graph   *graph;   /* NULL: it ended */
    struct clrie_clause **clauses; /* held */
    uint32_t              n, room;
    uint8_t               loaded;
};
const uint32_t clrie_section_size = sizeof(struct clrie_section);

/* ---- one clause ------------------------------------------------------------------------------- */

static void set_part(struct clrie_clause *clause, unsigned part, struct clrie_instruction *i)
{
    struct clrie_instruction *was = clause->part[part];
    if (i)
        clrie_hold(&i->object);
    clause->part[part] = i;
    if (was)
        clrie_unhold(&was->object);
}

void clrie_clause_end(struct clrie_object *object)
{
    for (unsigned p = 0; p < CLRIE_N_PARTS; p++)
        set_part((struct clrie_clause *)object, p, NULL);
}

static HRESULT get_part(struct clrie_clause *clause, unsigned part, IInstruction **out)
{
    struct clrie_instruction *i = clause->part[part];
    return clrie_hand_out(i ? &i->object : NULL, 0, (void **)out);
}

static HRESULT take_part(struct clrie_clause *clause, unsigned part, IInstruction *face)
{
    struct clrie_instruction *i = NULL;
    HRESULT                   hr = face ? clrie_instruction_take(face, &i) : S_OK;
    if (SUCCEEDED(hr))
        set_part(clause, part, i);
    return hr;
}

HRESULT clrie_clause_GetFlags(struct clrie_clause *self, DWORD *pFlags)
{
    *pFlags = self->flags;
    return S_OK;
}

HRESULT clrie_clause_GetTryFirstInstruction(struct clrie_clause *self, IInstruction **ppInstruction)
{
    return get_part(self, CLRIE_TRY_FIRST, ppInstruction);
}

HRESULT clrie_clause_GetTryLastInstruction(struct clrie_clause *self, IInstruction **ppInstruction)
{
    return get_part(self, CLRIE_TRY_LAST, ppInstruction);
}

HRESULT clrie_clause_GetHandlerFirstInstruction(struct clrie_clause *self,
                                                IInstruction       **ppInstruction)
{
    return get_part(self, CLRIE_HANDLER_FIRST, ppInstruction);
}

HRESULT clrie_clause_GetHandlerLastInstruction(struct clrie_clause *self,
                                               IInstruction       **ppInstruction)
{
    return get_part(self, CLRIE_HANDLER_LAST, ppInstruction);
}

HRESULT clrie_clause_GetFilterFirstInstruction(struct clrie_clause *self,
                                               IInstruction       **ppInstruction)
{
    return get_part(self, CLRIE_FILTER_FIRST, ppInstruction);
}

HRESULT clrie_clause_GetExceptionHandlerType(struct clrie_clause *self, mdToken *pToken)
{
    *pToken = self->token;
    return S_OK;
}

HRESULT clrie_clause_SetFlags(struct clrie_clause *self, DWORD flags)
{
    self->flags = flags;
    return S_OK;
}

HRESULT clrie_clause_SetTryFirstInstruction(struct clrie_clause *self, IInstruction *pInstruction)
{
    return take_part(self, CLRIE_TRY_FIRST, pInstruction);
}

HRESULT clrie_clause_SetTryLastInstruction(struct clrie_clause *self, IInstruction *pInstruction)
{
    return take_part(self, CLRIE_TRY_LAST, pInstruction);
}

HRESULT clrie_clause_SetHandlerFirstInstruction(struct clrie_clause *self,
                                                IInstruction        *pInstruction)
{
    return take_part(self, CLRIE_HANDLER_FIRST, pInstruction);
}

HRESULT clrie_clause_SetHandlerLastInstruction(struct clrie_clause *self,
                                               IInstruction        *pInstruction)
{
    return take_part(self, CLRIE_HANDLER_LAST, pInstruction);
}

HRESULT clrie_clause_SetFilterFirstInstruction(struct clrie_clause *self,
                                               IInstruction        *pInstruction)
{
    return take_part(self, CLRIE_FILTER_FIRST, pInstruction);
}

HRESULT clrie_clause_SetExceptionHandlerType(struct clrie_clause *self, mdToken token)
{
    self->token = token;
    return S_OK;
}

/* ---- the section's list ----------------------------------------------------------------------- */

/* Inserts and holds @clause. */
static HRESULT insert_clause(struct clrie_section *section, uint32_t at,
                             struct clrie_clause *clause)
{
    if (section->n == section->room) {
        uint32_t              room = 2 * section->room + 4;
        struct clrie_clause **more = realloc(section->clauses, room * sizeof(*more));
        if (!more)
            return E_OUTOFMEMORY;
        section->clauses = more;
        section->room = room;
    }
    memmove(section->clauses + at + 1, section->clauses + at,
            (section->n - at) * sizeof(section->clauses[0]));
    clrie_hold(&clause->object);
    section->clauses[at] = clause;
    section->n++;
    return S_OK;
}

static void clear_list(struct clrie_section *section)
{
    while (section->n)
        clrie_unhold(&section->clauses[--section->n]->object);
}

/* The parts of @c in the order of the interface. */
static void parts_of(const struct sxs_il_clause *c, struct sxs_il_insn *parts[CLRIE_N_PARTS])
{
    parts[CLRIE_TRY_FIRST] = c->try_first;
    parts[CLRIE_TRY_LAST] = c->try_last;
    parts[CLRIE_HANDLER_FIRST] = c->handler_first;
    parts[CLRIE_HANDLER_LAST] = c->handler_last;
    parts[CLRIE_FILTER_FIRST] = c->kind == SXS_IL_FILTER ? c->filter_first : NULL;
}

static HRESULT load_clause(struct clrie_section *section, const struct sxs_il_clause *c)
{
    struct clrie_clause *clause = clrie_new(&clrie_clause);
    struct clrie_graph  *graph = section->graph;
    struct sxs_il_insn  *parts[CLRIE_N_PARTS];
    HRESULT              hr;
    if (!clause)
        return E_OUTOFMEMORY;
    clause->flags = c->kind;
    clause->token = c->kind == SXS_IL_CATCH ? c->token : 0;
    parts_of(c, parts);
    for (unsigned p = 0; p < CLRIE_N_PARTS; p++) {
        struct clrie_instruction *i = clrie_instruction_of(graph, graph->body, parts[p]);
        if (parts[p] && !i) {
            clrie_unref(&clause->object);
            return E_OUTOFMEMORY;
        }
        set_part(clause, p, i);
    }
    hr = insert_clause(section, section->n, clause);
    clrie_unref(&clause->object);
    return hr;
}

static HRESULT load(struct clrie_section *section)
{
    HRESULT hr = section->graph ? S_OK : E_UNEXPECTED;
    if (FAILED(hr) || section->loaded)
        return hr;
    for (uint32_t c = 0; SUCCEEDED(hr) && c < section->graph->body->n_clauses; c++)
        hr = load_clause(section, &section->graph->body->clauses[c]);
    if (SUCCEEDED(hr))
        section->loaded = 1;
    else
        clear_list(section);
    return hr;
}

/* ---- with the graph --------------------------------------------------------------------------- */

struct clrie_section *clrie_graph_section(struct clrie_graph *graph)
{
    if (!graph->section) {
        graph->section = clrie_new(&clrie_section);
        if (!graph->section)
            return NULL;
        graph->section->graph = graph;
        graph->section->object.owner = &graph->object;
    }
    return graph->section;
}

void clrie_section_end(struct clrie_object *object)
{
    struct clrie_section *section = (struct clrie_section *)object;
    clear_list(section);
    free(section->clauses);
}

void clrie_section_free(struct clrie_section *section)
{
    if (!section)
        return;
    section->object.owner = NULL;
    section->graph = NULL;
    clrie_unref(&section->object);
}

void clrie_clauses_remove_all(struct clrie_graph *graph)
{
    if (graph->section)
        clear_list(graph->section);
    if (graph->body->n_clauses)
        sxs_il_set_changed(graph->body);
    graph->body->n_clauses = 0;
}

static struct sxs_il_insn *commit_part(const struct clrie_graph  *graph,
                                       const struct clrie_clause *clause, unsigned part)
{
    const struct clrie_instruction *i = clause->part[part];
    return i && i->body == graph->body ? clrie_current(i) : NULL;
}

HRESULT clrie_clauses_commit(struct clrie_graph *graph)
{
    struct clrie_section *section = graph->section;
    if (!section || !section->loaded)
        return S_OK;
    graph->body->n_clauses = 0;
    for (uint32_t i = 0; i < section->n; i++) {
        const struct clrie_clause *clause = section->clauses[i];
        struct sxs_il_clause      *c = sxs_il_add_clause(graph->body, i);
        if (!c)
            return E_OUTOFMEMORY;
        c->kind = clause->flags;
        c->token = clause->flags == SXS_IL_CATCH ? clause->token : 0;
        c->try_first = commit_part(graph, clause, CLRIE_TRY_FIRST);
        c->try_last = commit_part(graph, clause, CLRIE_TRY_LAST);
        c->handler_first = commit_part(graph, clause, CLRIE_HANDLER_FIRST);
        c->handler_last = commit_part(graph, clause, CLRIE_HANDLER_LAST);
        c->filter_first =
            clause->flags == SXS_IL_FILTER ? commit_part(graph, clause, CLRIE_FILTER_FIRST) : NULL;
    }
    sxs_il_set_changed(graph->body);
    return S_OK;
}

HRESULT clrie_section_forget(struct clrie_graph *graph)
{
    HRESULT hr = clrie_clauses_commit(graph);
    if (SUCCEEDED(hr) && graph->section) {
        clear_list(graph->section);
        graph->section->loaded = 0;
    }
    return hr;
}

static int body_names(const struct sxs_il_body *body, const struct sxs_il_insn *insn)
{
    struct sxs_il_insn *parts[CLRIE_N_PARTS];
    for (uint32_t c = 0; c < body->n_clauses; c++) {
        parts_of(&body->clauses[c], parts);
        for (unsigned p = 0; p < CLRIE_N_PARTS; p++)
            if (parts[p] == insn)
                return 1;
    }
    return 0;
}

HRESULT clrie_clauses_update(struct clrie_graph *graph, struct clrie_instruction *from,
                             struct clrie_instruction *to)
{
    struct clrie_section *section = graph->section;
    if (!graph->method)
        return S_OK;
    if (!section || !section->loaded) {
        if (!body_names(graph->body, from->insn))
            return S_OK;
        section = clrie_graph_section(graph);
        if (!section || FAILED(load(section)))
            return E_OUTOFMEMORY;
    }
    for (uint32_t i = 0; i < section->n; i++)
        for (unsigned p = 0; p < CLRIE_N_PARTS; p++) {
            int is_end = p == CLRIE_TRY_LAST || p == CLRIE_HANDLER_LAST;
            if (section->clauses[i]->part[p] == from && (!is_end || from->removed))
                set_part(section->clauses[i], p, to);
        }
    return S_OK;
}

/* ---- IExceptionSection ------------------------------------------------------------------------ */

HRESULT clrie_section_GetMethodInfo(struct clrie_section *self, IMethodInfo **ppMethodInfo)
{
    return clrie_graph_info(self->graph, ppMethodInfo);
}

HRESULT clrie_section_GetExceptionClauses(struct clrie_section   *self,
                                          IEnumExceptionClauses **ppEnumExceptionClauses)
{
    HRESULT              hr = load(self);
    struct clrie_object *list;
    void               **faces;
    *ppEnumExceptionClauses = NULL;
    if (FAILED(hr))
        return hr;
    faces = calloc(self->n + 1, sizeof(*faces));
    if (!faces)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < self->n; i++)
        faces[i] = clrie_face(&self->clauses[i]->object, 0);
    list = clrie_enumerator_new(&clrie_clause_list, faces, self->n);
    free(faces);
    if (!list)
        return E_OUTOFMEMORY;
    *ppEnumExceptionClauses = clrie_face(list, 0);
    return S_OK;
}

static HRESULT take_clause(IExceptionClause *face, struct clrie_clause **out)
{
    static const struct clrie_class *const class[] = {&clrie_clause};
    if (!face)
        return E_POINTER;
    *out = (struct clrie_clause *)clrie_object_of(face, class, 1);
    return *out ? S_OK : E_INVALIDARG;
}

HRESULT clrie_section_AddExceptionClause(struct clrie_section *self,
                                         IExceptionClause     *pExceptionClause)
{
    struct clrie_clause *clause;
    HRESULT              hr = take_clause(pExceptionClause, &clause);
    if (SUCCEEDED(hr))
        hr = load(self);
    if (FAILED(hr))
        return hr;
    return insert_clause(self, self->n, clause);
}

HRESULT clrie_section_RemoveExceptionClause(struct clrie_section *self,
                                            IExceptionClause     *pExceptionClause)
{
    HRESULT hr = load(self);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < self->n; i++) {
        struct clrie_clause *clause = self->clauses[i];
        if (clrie_face(&clause->object, 0) != pExceptionClause)
            continue;
        self->n--;
        memmove(self->clauses + i, self->clauses + i + 1, (self->n - i) * sizeof(self->clauses[0]));
        clrie_unhold(&clause->object);
        break;
    }
    return hr;
}

HRESULT clrie_section_RemoveAllExceptionClauses(struct clrie_section *self)
{
    HRESULT hr = load(self);
    if (SUCCEEDED(hr))
        clear_list(self);
    return hr;
}

/* The first offset of the try block, and the offset after it. */
static void try_range(const struct clrie_clause *clause, uint32_t *begin, uint64_t *end)
{
    DWORD offset;
    clrie_instruction_GetOffset(clause->part[CLRIE_TRY_FIRST], &offset);
    *begin = offset;
    clrie_instruction_GetOffset(clause->part[CLRIE_TRY_LAST], &offset);
    *end = (uint64_t)offset + sxs_il_length(clause->part[CLRIE_TRY_LAST]->insn);
}

/* After the last clause whose try block lies within that of @fresh; else at the beginning. */
static HRESULT find_place(const struct clrie_section *section, const struct clrie_clause *fresh,
                          uint32_t *at)
{
    uint32_t begin, other_begin;
    uint64_t end, other_end;
    *at = 0;
    for (uint32_t i = section->n; i-- > 0;) {
        const struct clrie_clause *clause = section->clauses[i];
        if (!fresh->part[CLRIE_TRY_FIRST] || !fresh->part[CLRIE_TRY_LAST] ||
            !clause->part[CLRIE_TRY_FIRST] || !clause->part[CLRIE_TRY_LAST])
            return E_POINTER;
        try_range(fresh, &begin, &end);
        try_range(clause, &other_begin, &other_end);
        if (begin <= other_begin && other_end <= end) {
            *at = i + 1;
            return S_OK;
        }
    }
    return S_OK;
}

HRESULT clrie_section_AddNewExceptionClause(
    struct clrie_section *self, DWORD flags, IInstruction *pTryFirstInstruction,
    IInstruction *pTryLastInstruction, IInstruction *pHandlerFirstInstruction,
    IInstruction *pHandlerLastInstruction, IInstruction *pFilterLastInstruction,
    mdToken handlerTypeToken, IExceptionClause **ppExceptionClause)
{
    IInstruction *const  parts[CLRIE_N_PARTS] = {pTryFirstInstruction, pTryLastInstruction,
                                                 pHandlerFirstInstruction, pHandlerLastInstruction,
                                                 pFilterLastInstruction};
    struct clrie_clause *clause;
    uint32_t             at = 0;
    HRESULT              hr = load(self);
    *ppExceptionClause = NULL;
    if (FAILED(hr))
        return hr;
    clause = clrie_new(&clrie_clause);
    if (!clause)
        return E_OUTOFMEMORY;
    clause->flags = flags;
    clause->token = handlerTypeToken;
    for (unsigned p = 0; SUCCEEDED(hr) && p < CLRIE_N_PARTS; p++)
        hr = take_part(clause, p, parts[p]);
    if (SUCCEEDED(hr))
        hr = find_place(self, clause, &at);
    if (SUCCEEDED(hr))
        hr = insert_clause(self, at, clause);
    if (SUCCEEDED(hr))
        *ppExceptionClause = clrie_face(&clause->object, 0); /* with the first reference */
    else
        clrie_unref(&clause->object);
    return hr;
}
