/* SPDX-License-Identifier: MIT */
/* Values in the file "calls": hooks with info, texts beside events, and what a damaged file makes of them. */
#include "tests/unit/calls_fixture.h"

#include "arch/arch.h"
#include "tests/unit/dice.h"
#include "values/formatter.h"

/* As a runtime's helper leaves it: above the hook's frame, the stack pointer where it is looked for. */
struct saved {
    uintptr_t words[32];
    void     *info; /* a COR_PRF_ELT_INFO points here */
};

static struct sxs_formatter refused = {.refused = "told"}; /* asks no runtime */

static void hook(void (*f)(struct sxs_called *, uintptr_t), unsigned fn, uintptr_t above)
{
    struct saved s = {.info = s.words};
    s.words[4] = s.words[29] = ((uintptr_t)&s + above) & ~(uintptr_t)7;
    f(&called[fn], (uintptr_t)&s.info);
}

static struct sxs_calls_read_thread *last_thread(struct sxs_calls *c, uint32_t tid)
{
    for (size_t i = 0; i < c->n_threads; i++)
        if (c->threads[i].tid == tid)
            return &c->threads[i];
    return NULL;
}

static _Atomic uint32_t tid;

static const char *two_calls(void)
{
    uintptr_t far = 60000;
    tid = (uint32_t)gettid();
    for (int i = 0; i < 2; i++) {
        hook(sxs_values_enter, 0, far);
        SO(sxs_calls_state && sxs_calls_state->top->fn == &called[0]);
        hook(sxs_values_enter, 1, far - 4096); /* no values are wanted of it */
        hook(sxs_values_leave, 1, far - 4096);
        SO(sxs_calls_state->top->fn == &called[0]);
        hook(sxs_values_leave, 0, far);
        SO(sxs_calls_state->top == sxs_calls_state->frames);
    }
    return NULL;
}

static void hooks_count_and_record(void **state)
{
    struct sxs_calls           *c;
    const struct sxs_calls_read_thread *t;
    (void)state;
    atomic_store(&called[0].formatter, &refused);
    on_thread(two_calls);
    atomic_store(&called[0].formatter, NULL);
    c = read_file();
    t = last_thread(c, tid);
    assert_non_null(t);
    assert_int_equal(t->n_events, 8);
    assert_int_equal(t->n_texts, 4);
    assert_int_equal(t->texts[0].event, 0);
    assert_string_equal(t->texts[0].text, "<?: told>");
    assert_int_equal(t->texts[1].event, 3);
    assert_int_equal(t->texts[2].event, 4);
    assert_int_equal(t->texts[3].event, 7);
    assert_string_equal(t->texts[3].text, "<?: told>");
    assert_int_equal(t->stale + t->unmatched + t->values_lost, 0);
    sxs_calls_free(c);
}

/* 0 calls 1; 1 leaves by a tail call to 2, which leaves by one to code without hooks. Then 0 calls 3, which leaves
 * likewise, and 0 ends. */
static const char *tail_calls(void)
{
    uintptr_t far = 60000;
    tid = (uint32_t)gettid();
    hook(sxs_values_enter, 0, far);
    hook(sxs_values_enter, 1, far - 4096);
    hook(sxs_values_enter, 2, far - 4096);
    SO(sxs_calls_state->top->fn == &called[2] && sxs_calls_state->top[-1].fn == &called[0]);
    hook(sxs_values_enter, 3, far - 2048);
    SO(sxs_calls_state->top->fn == &called[3] && sxs_calls_state->top[-1].fn == &called[0]);
    hook(sxs_values_leave, 0, far);
    SO(sxs_calls_state->top == sxs_calls_state->frames);
    return NULL;
}

static void calls_left_by_tail_calls_end_with_the_next_hook(void **state)
{
    static const unsigned char  kinds[] = {SXS_CALLS_ENTER, SXS_CALLS_ENTER, SXS_CALLS_LEAVE,
                                           SXS_CALLS_ENTER, SXS_CALLS_LEAVE, SXS_CALLS_ENTER,
                                           SXS_CALLS_LEAVE, SXS_CALLS_LEAVE};
    struct sxs_calls           *c;
    const struct sxs_calls_read_thread *t;
    (void)state;
    for (unsigned i = 1; i < 4; i++)
        atomic_store(&called[i].formatter, &refused);
    on_thread(tail_calls);
    for (unsigned i = 1; i < 4; i++)
        atomic_store(&called[i].formatter, NULL);
    c = read_file();
    t = last_thread(c, tid);
    assert_non_null(t);
    assert_int_equal(t->n_events, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(t->events[i].kind, kinds[i]);
    assert_int_equal(t->n_texts,
                     6); /* of 1, 2 and 3: arguments, and what is said instead of results */
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(t->texts[i].text, t->events[t->texts[i].event].kind == SXS_CALLS_ENTER
                                                  ? "<?: told>"
                                                  : "<?: left by a tail call>");
    assert_int_equal(t->stale + t->unmatched + t->unwound + t->values_lost, 0);
    sxs_calls_free(c);
}

static void enter(unsigned fn, uintptr_t sp)
{
    if (sxs_trace_enter(&called[fn], sp))
        sxs_tree_enter_slow(&called[fn], sp, 0);
}

static void leave(unsigned fn, uintptr_t sp)
{
    if (sxs_trace_leave(&called[fn], sp, sxs_tick()))
        sxs_tree_leave_slow(&called[fn], sp);
}

/* Texts of all lengths, over the ends of many blocks. */
static const char *many_texts(void)
{
    char text[SXS_CALLS_TEXT_MAX];
    tid = (uint32_t)gettid();
    for (unsigned i = 0; i < 4000; i++) {
        size_t size = i % (SXS_CALLS_TEXT_MAX + 1);
        memset(text, 'a' + (int)(i % 26), sizeof(text));
        enter(2, 0x1000);
        sxs_calls_note_text(sxs_calls_state, sxs_calls_state->event - 1, text, size);
        leave(2, 0x1000);
    }
    return NULL;
}

static void texts_lie_beside_their_events(void **state)
{
    struct sxs_calls           *c;
    const struct sxs_calls_read_thread *t;
    (void)state;
    while (sxs_calls_file_make_room() > 0)
        ;
    on_thread(many_texts);
    c = read_file();
    t = last_thread(c, tid);
    assert_true(t && t->n_texts > 3000 && t->n_events > 6000);
    assert_int_equal(t->n_texts + t->values_lost, 4000);
    for (size_t i = 0, all = 0; i < t->n_texts; i++) {
        size_t number = t->texts[i].event / 2, size = number % (SXS_CALLS_TEXT_MAX + 1);
        assert_int_equal(t->events[t->texts[i].event].kind, SXS_CALLS_ENTER);
        assert_int_equal(strlen(t->texts[i].text), size);
        assert_true(!size || t->texts[i].text[size - 1] == (char)('a' + number % 26));
        assert_true(!i || t->texts[i].event > all);
        all = t->texts[i].event;
    }
    sxs_calls_free(c);
}

static const char *no_room(void)
{
    uint32_t had = head->max_blocks;
    char     text[SXS_CALLS_TEXT_MAX] = "x";
    tid = (uint32_t)gettid();
    head->max_blocks = atomic_load(&head->n_blocks) + 1;
    for (unsigned i = 0; i < 2000; i++) {
        struct sxs_calls_event *before;
        enter(3, 0x2000);
        before = sxs_calls_state->event;
        if (before && before[-1].kind == SXS_CALLS_ENTER)
            sxs_calls_note_text(sxs_calls_state, before - 1, text, 300);
        leave(3, 0x2000);
    }
    head->max_blocks = had;
    return NULL;
}

static void what_finds_no_room_is_counted(void **state)
{
    struct sxs_calls           *c;
    const struct sxs_calls_read_thread *t;
    (void)state;
    on_thread(no_room);
    c = read_file();
    t = last_thread(c, tid);
    assert_true(t && t->events_lost && t->values_lost && t->n_texts && t->n_texts < 100);
    sxs_calls_free(c);
}

/* ---- damage ------------------------------------------------------------------------------------ */

static void check(const struct sxs_calls *c)
{
    for (size_t i = 0; i < c->n_threads; i++) {
        const struct sxs_calls_read_thread *t = &c->threads[i];
        for (size_t k = 0; k < t->n_texts; k++) {
            assert_true(t->texts[k].event < t->n_events);
            assert_true(!k || t->texts[k].event > t->texts[k - 1].event);
            assert_true(strlen(t->texts[k].text) <= SXS_CALLS_TEXT_MAX);
        }
    }
}

static void damage(void **state)
{
    unsigned char    *at = sxs_calls_cell(0);
    size_t            size = (size_t)atomic_load(&head->n_taken) * SXS_CALLS_CHUNK;
    unsigned char    *good = malloc(size);
    struct sxs_calls *c;
    char              why[200];
    const char       *rounds = getenv("N_FUZZ");
    (void)state;
    assert_non_null(good);
    memcpy(good, at, size); /* the file is mapped: it is damaged where it lies */
    for (int n = rounds ? atoi(rounds) : 150; n > 0; n--) {
        for (uint64_t k = 1 + roll(200); k > 0; k--) {
            size_t   place = roll(size - 16) & ~(size_t)15;
            uint32_t kind = SXS_CALLS_TEXT | (uint32_t)roll(roll(2) ? 700 : 1 << 24) << 8;
            if (roll(2))
                memcpy(at + place + 12, &kind, 4);
            else
                at[place + roll(16)] = (unsigned char)roll(256);
        }
        alarm(20);
        if (sxs_calls_read(SXS_FILES_OF(folder_fd), &c, why, sizeof(why)) == 0) {
            check(c);
            sxs_calls_free(c);
        }
        memcpy(at, good, size);
    }
    alarm(0);
    free(good);
}

static int make_traced_file(void **state)
{
    int err = make_file(state);
    if (!err)
        head->max_blocks = 400;
    return err;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_count_and_record),
        cmocka_unit_test(calls_left_by_tail_calls_end_with_the_next_hook),
        cmocka_unit_test(texts_lie_beside_their_events),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, make_traced_file, drop_file);
}
