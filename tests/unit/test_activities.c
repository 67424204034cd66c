/* SPDX-License-Identifier: MIT */
/* test_activities.c - the Activity of a thread is read from memory as a runtime lays it out; from damaged
 * memory, and while the runtime is stopped, none is read, and never a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/hash.h"
#include "sampling/activities_internal.h"
#include "session/write/samples_write.h"

/* Classes are distinguished by these numbers, as by the addresses of their descriptions. */
enum {
    A_THREAD = 0x1000,
    A_STRING = 0x2000,
    A_CONTEXT = 0x3000,
    A_PAIRS = 0x4000,
    A_ARRAY = 0x5000,
    A_EMPTY = 0x6000,
    A_ACTIVITY = 0x7000,
    A_OTHER = 0x8000,
    A_ITEMS = 0x9000,
    A_TAGS = 0xa000,
    A_TAG = 0xb000,
    A_ENDPOINT = 0xc000,
    A_PATTERN = 0xd000
};

#define WORDS 512

static struct {
    struct sxs_activities a;
    uintptr_t            *heap; /* WORDS words, then memory that cannot be read */
    size_t                used;
    uintptr_t             native, key, activity, map, thread;
} world;

static const char trace_text[] = "0123456789abcdef0123456789abcdef",
                  span_text[] = "00f067aa0ba902b7";

static uintptr_t put(const uintptr_t *words, size_t n)
{
    uintptr_t at = (uintptr_t)&world.heap[world.used];
    memcpy(&world.heap[world.used], words, n * sizeof(*words));
    world.used += n;
    assert_true(world.used <= WORDS);
    return at;
}
#define PUT(...) \
    put((uintptr_t[]){__VA_ARGS__}, sizeof((uintptr_t[]){__VA_ARGS__}) / sizeof(uintptr_t))

static uintptr_t put_string(const char *text)
{
    struct {
        uintptr_t cls;
        uint32_t  n;
        uint16_t  units[52];
    } string = {.cls = A_STRING, .n = (uint32_t)strlen(text)};
    for (size_t i = 0; i < string.n; i++)
        string.units[i] = (uint16_t)text[i];
    return put((const uintptr_t *)(const void *)&string, (12 + 2 * string.n + 7) / 8);
}

static void learn(uintptr_t id, struct sxs_role role)
{
    size_t at = (size_t)(sxs_hash_id(id) >> 32);
    while (atomic_load(&world.a.seen[at % SXS_SEEN_CLASSES].id))
        at++;
    world.a.seen[at % SXS_SEEN_CLASSES].role = role;
    atomic_store(&world.a.seen[at % SXS_SEEN_CLASSES].id, id);
    atomic_store(&world.a.seen[at % SXS_SEEN_CLASSES].known, 1);
}

static void learn_all(void)
{
    learn(A_CONTEXT, (struct sxs_role){.kind = SXS_ROLE_CONTEXT, .values = 8});
    learn(A_PAIRS, (struct sxs_role){.kind = SXS_ROLE_PAIRS, .pairs = {2, {8, 24}, {16, 32}}});
    learn(A_ARRAY, (struct sxs_role){.kind = SXS_ROLE_ARRAY, .array = {8, 24}});
    learn(A_EMPTY, (struct sxs_role){.kind = SXS_ROLE_EMPTY});
    learn(A_OTHER, (struct sxs_role){.kind = SXS_ROLE_OTHER});
    learn(A_TAGS, (struct sxs_role){.kind = SXS_ROLE_TAGS, .tags_first = 8});
    learn(A_TAG, (struct sxs_role){.kind = SXS_ROLE_TAG, .tag = {8, 16, 24}});
    learn(A_ENDPOINT, (struct sxs_role){.kind = SXS_ROLE_ENDPOINT, .endpoint = {8, 16}});
    learn(A_PATTERN, (struct sxs_role){.kind = SXS_ROLE_PATTERN, .raw = 8});
    learn(A_ACTIVITY,
          (struct sxs_role){.kind = SXS_ROLE_ACTIVITY, .activity = {8, 16, 24, 32, 40, 48}});
}

/* A thread with an Activity in a map with two entries; its parent is "GET". */
static int make_world(void **state)
{
    uintptr_t other, parent, slot;
    (void)state;
    memset(&world, 0, sizeof(world));
    world.heap = mmap(NULL, 2 * WORDS * sizeof(uintptr_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(world.heap != MAP_FAILED);
    assert_int_equal(mprotect(world.heap + WORDS, WORDS * sizeof(uintptr_t), PROT_NONE), 0);
    learn_all();
    world.key = PUT(A_OTHER);
    other = PUT(A_OTHER);
    parent = PUT(A_ACTIVITY, put_string("ffffffffffffffffffffffffffffffff"),
                 put_string("ffffffffffffffff"), 0, put_string("GET"), 0, 0);
    world.activity = PUT(A_ACTIVITY, put_string(trace_text), put_string(span_text), parent,
                         put_string("child"), 0, 0);
    world.map = PUT(A_PAIRS, other, other, world.key, world.activity);
    world.native = PUT(0, 0);
    world.thread = PUT(A_THREAD, PUT(A_CONTEXT, world.map), world.native);
    slot = PUT(world.thread); /* the handle */
    ((uintptr_t *)world.native)[1] = slot;
    world.a.thread = A_THREAD;
    world.a.string = A_STRING;
    world.a.handle_at = 8;
    world.a.context_at = 8;
    world.a.native_at = 16;
    world.a.key_at = PUT(world.key);
    atomic_store(&world.a.learned, SXS_LEARNED_ALL);
    return 0;
}

static int drop_world(void **state)
{
    (void)state;
    return munmap(world.heap, 2 * WORDS * sizeof(uintptr_t));
}

/* The stack of the thread; NULL: none. */
static const struct sxs_activity_stack *stack;
static enum sxs_endpoint_source         source; /* of the last name */
static int                              is_known;

static enum sxs_activity_found look(char name[SXS_ACTIVITY_UNITS + 1], int *is_right)
{
    static const uint8_t      trace[16] = {1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                           1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    static const uint8_t      span[8] = {0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7};
    struct sxs_sample_context context;
    struct sxs_activity_text  text = {0};
    enum sxs_activity_found   found =
        sxs_activities_read(&world.a, world.native, stack, &context, &text);
    source = text.source;
    is_known = text.is_known;
    *is_right = found == SXS_FOUND_ONE && memcmp(context.trace, trace, 16) == 0 &&
                memcmp(context.span, span, 8) == 0;
    for (unsigned i = 0; found == SXS_FOUND_ONE && i < text.n; i++)
        name[i] = (char)text.units[i];
    name[found == SXS_FOUND_ONE ? text.n : 0] = '\0';
    return found;
}

static void check_found(const char *expected)
{
    char name[SXS_ACTIVITY_UNITS + 1];
    int  is_right;
    assert_int_equal(look(name, &is_right), SXS_FOUND_ONE);
    assert_true(is_right);
    assert_string_equal(name, expected);
}

static void check_not(enum sxs_activity_found expected)
{
    char name[SXS_ACTIVITY_UNITS + 1];
    int  is_right;
    assert_int_equal(look(name, &is_right), expected);
}

static void set_map(uintptr_t map)
{
    uintptr_t context = ((uintptr_t *)world.thread)[1];
    ((uintptr_t *)context)[1] = map;
}

/* ---- what is there --------------------------------------------------------------------------- */

static void the_activity_is_found_with_the_name_of_the_oldest_above_it(void **state)
{
    (void)state;
    check_found("GET");
}

static void a_map_of_many_values_is_searched(void **state)
{
    uintptr_t items = PUT(A_ITEMS, 3, world.thread, world.thread, 1, world.map, world.thread, 2,
                          world.key, world.activity, 3);
    (void)state;
    set_map(PUT(A_ARRAY, items));
    check_found("GET");
    ((uintptr_t *)items)[1] = 2; /* entries: the last one is not there */
    check_not(SXS_FOUND_NONE);
    ((uintptr_t *)items)[1] = 100000;
    check_not(SXS_FOUND_UNKNOWN);
}

static void a_thread_without_one_has_none(void **state)
{
    (void)state;
    set_map(PUT(A_EMPTY));
    check_not(SXS_FOUND_NONE);
    set_map(PUT(A_PAIRS, world.thread, world.activity, world.map, world.activity)); /* other keys */
    check_not(SXS_FOUND_NONE);
    set_map(PUT(A_PAIRS, world.key, 0, world.map, world.activity));
    check_not(SXS_FOUND_NONE);
    set_map(0);
    check_not(SXS_FOUND_NONE);
    ((uintptr_t *)world.thread)[1] = 0; /* no ExecutionContext */
    check_not(SXS_FOUND_NONE);
    ((uintptr_t *)world.native)[1] = 0; /* no Thread */
    check_not(SXS_FOUND_NONE);
}

static void the_route_is_the_name_if_there_is_one(void **state)
{
    uintptr_t parent = ((uintptr_t *)world.activity)[3];
    uintptr_t route = PUT(A_TAG, put_string("http.route"), put_string("/order/{id}"), 0);
    uintptr_t path = PUT(A_TAG, put_string("url.path"), put_string("/order/7"), route);
    (void)state;
    ((uintptr_t *)parent)[6] = PUT(A_TAGS, PUT(A_TAG, put_string("x"), 0, path));
    check_found("/order/{id}");
    ((uintptr_t *)path)[3] = 0;
    check_found("/order/{number}");
}

static void an_unknown_class_is_asked_for(void **state)
{
    char   name[SXS_ACTIVITY_UNITS + 1];
    int    is_right, is_asked = 0;
    size_t n = 0;
    (void)state;
    ((uintptr_t *)world.map)[0] = 0x77000; /* another class of maps */
    assert_int_equal(look(name, &is_right), SXS_FOUND_UNKNOWN);
    for (size_t i = 0; i < SXS_SEEN_CLASSES; i++) {
        n += atomic_load(&world.a.seen[i].id) != 0;
        is_asked |= atomic_load(&world.a.seen[i].id) == 0x77000;
    }
    assert_true(is_asked);
    assert_int_equal(look(name, &is_right), SXS_FOUND_UNKNOWN);
    for (size_t i = 0; i < SXS_SEEN_CLASSES; i++)
        n -= atomic_load(&world.a.seen[i].id) != 0;
    assert_int_equal(n, 0); /* once */
}

static void as_long_as_the_key_is_not_known_nothing_is_found_and_values_are_asked_for(void **state)
{
    (void)state;
    atomic_store(&world.a.learned, SXS_LEARNED_THREADS);
    ((uintptr_t *)world.activity)[0] = 0x78000;
    check_not(SXS_FOUND_UNKNOWN);
    for (size_t i = 0; i < SXS_SEEN_CLASSES; i++)
        if (atomic_load(&world.a.seen[i].id) == 0x78000)
            return;
    fail();
}

/* ---- what is not ----------------------------------------------------------------------------- */

static void nothing_is_found_while_the_runtime_stops_its_threads(void **state)
{
    (void)state;
    sxs_activities_running(&world.a); /* the end of a stop that was not counted */
    check_found("GET");
    atomic_store(&world.a.n_stops, 1);
    check_not(SXS_FOUND_UNKNOWN);
    atomic_store(&world.a.n_stops, 2); /* the next begins before the end of the first is reported */
    sxs_activities_running(&world.a);
    check_not(SXS_FOUND_UNKNOWN);
    sxs_activities_running(&world.a);
    check_found("GET");
}

/* Every word of the heap in turn is replaced by addresses that cannot be read, by those of other objects, and by
 * numbers. The ids are those of the Activity, or none are found; but text of the ids may be damaged itself. */
static void damaged_memory_gives_the_right_ids_or_none(void **state)
{
    uintptr_t bad[] = {0,
                       1,
                       7,
                       (uintptr_t)(world.heap + WORDS),
                       UINT64_C(0x8000000000000000),
                       UINTPTR_MAX,
                       world.thread,
                       world.map,
                       world.key,
                       world.native};
    uintptr_t trace = ((uintptr_t *)world.activity)[1], span = ((uintptr_t *)world.activity)[2];
    size_t    n_found = 0, n_lost = 0;
    (void)state;
    for (size_t i = 0; i < world.used; i++) {
        uintptr_t at = (uintptr_t)&world.heap[i], kept = world.heap[i];
        int       is_text =
            (at >= trace + 8 && at < trace + 12 + 64) || (at >= span + 8 && at < span + 12 + 32);
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            char                    name[SXS_ACTIVITY_UNITS + 1];
            int                     is_right;
            enum sxs_activity_found found;
            world.heap[i] = bad[k];
            found = look(name, &is_right);
            if (found == SXS_FOUND_ONE && !is_text)
                assert_true(is_right);
            n_found += found == SXS_FOUND_ONE;
            n_lost += found != SXS_FOUND_ONE;
        }
        world.heap[i] = kept;
    }
    assert_true(n_found && n_lost);
    check_found("GET");
}

static void a_thread_that_belongs_to_another_is_not_believed(void **state)
{
    (void)state;
    ((uintptr_t *)world.thread)[2] = world.native + 8;
    check_not(SXS_FOUND_UNKNOWN);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static uintptr_t                 words[64]; /* of a stack */
static struct sxs_activity_stack found_stack;

/* A class whose objects have @size bytes, and the class from which it derives. */
static uintptr_t put_class(unsigned size, uintptr_t parent)
{
    return PUT((uintptr_t)(size + 8) << 32, 0, parent);
}

/* A request of ASP.NET Core with this Activity. Its reference is in a task that continues after
 * another one, which is on the stack. */
static void put_request(uintptr_t activity, uintptr_t endpoint, const char *path)
{
    struct sxs_request_layout *r = &world.a.requests;
    uintptr_t                  request, box, inner;
    r->task = put_class(16, 0);
    r->context = put_class(16, 0);
    r->request = put_class(56, 0);
    r->feature = put_class(16, 0);
    r->continuation_at = r->activity_at = 8;
    r->feature_at = 8;
    r->endpoint_feature_at = 16;
    r->endpoint_at = 24;
    r->base_at = 32;
    r->path_at = 40;
    atomic_store(&r->known, 1);
    box = put_class(24, put_class(16, r->task));
    request = PUT(put_class(56, put_class(56, r->request)), PUT(r->feature, activity), 0, endpoint,
                  put_string("/shop"), path ? put_string(path) : 0, 0);
    ((uintptr_t *)request)[2] = request;
    inner = PUT(box, PUT(box, 0, request, 0), 0, 0);
    memset(words, 0, sizeof(words));
    words[3] = world.key;
    words[7] = 0x7f12;
    words[9] = inner;
    found_stack =
        (struct sxs_activity_stack){.from = (uintptr_t)words, .to = (uintptr_t)(words + 64)};
    stack = &found_stack;
}

static uintptr_t put_endpoint(const char *route, const char *display)
{
    return PUT(A_ENDPOINT, route ? PUT(A_PATTERN, put_string(route)) : 0, put_string(display));
}

static int drop_request(void **state)
{
    stack = NULL;
    return drop_world(state);
}

static void a_request_is_called_by_the_route_of_its_endpoint(void **state)
{
    (void)state;
    put_request(world.activity, put_endpoint("/order/{id}", "HTTP: GET /order/{id}"), "/order/7");
    check_found("/order/{id}");
    assert_int_equal(source, SXS_ENDPOINT_ROUTE);
}

static void a_route_gets_its_first_slash(void **state)
{
    (void)state;
    put_request(world.activity, put_endpoint("order/{id}", "Shop.Get"), "/order/7");
    check_found("/order/{id}");
}

static void a_route_that_many_actions_share_is_not_the_name(void **state)
{
    (void)state;
    put_request(world.activity, put_endpoint("{controller}/{action}", "Shop.Get"), "/order/7");
    check_found("Shop.Get");
    assert_int_equal(source, SXS_ENDPOINT_ROUTE);
}

static void the_request_of_another_activity_is_not_taken(void **state)
{
    (void)state;
    put_request(world.thread, put_endpoint("/order/{id}", "x"), "/order/7");
    check_found("GET");
    assert_int_equal(source, SXS_ENDPOINT_NAME);
}

static void a_request_without_an_endpoint_is_called_by_its_path(void **state)
{
    (void)state;
    put_request(world.activity, 0, "/order/7");
    check_found("/shop/order/{number}");
    assert_int_equal(source, SXS_ENDPOINT_PATH);
}

static void the_route_of_a_known_span_is_not_read_again(void **state)
{
    (void)state;
    put_request(world.activity, put_endpoint("/order/{id}", "x"), "/order/7");
    memcpy(&found_stack.known, (const uint8_t[]){0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}, 8);
    check_found("");
    assert_true(is_known);
    found_stack.known++;
    check_found("/order/{id}");
    assert_false(is_known);
}

/* Objects that refer to each other in circles, and a stack full of words that lead to them. */
static void a_search_ends(void **state)
{
    uintptr_t all[32], box;
    (void)state;
    put_request(world.thread, 0, NULL);
    box = put_class(24, world.a.requests.task);
    for (size_t i = 0; i < 32; i++)
        all[i] = PUT(box, 0, 0, 0);
    for (size_t i = 0; i < 32; i++)
        for (size_t k = 1; k < 4; k++)
            ((uintptr_t *)all[i])[k] = all[(i * 7 + k * 5) % 32];
    for (size_t i = 0; i < 64; i++)
        words[i] = all[i % 32];
    check_found("GET");
}

static void check_folded(const char *path, const char *expected)
{
    struct sxs_activity_text text = {0};
    char                     folded[SXS_ACTIVITY_UNITS + 1] = "";
    for (; path[text.n]; text.n++)
        text.units[text.n] = (uint16_t)path[text.n];
    sxs_activities_fold(&text);
    for (unsigned i = 0; i < text.n; i++)
        folded[i] = (char)text.units[i];
    folded[text.n] = '\0';
    assert_string_equal(folded, expected);
}

static void numbers_and_guids_of_a_path_are_folded(void **state)
{
    (void)state;
    check_folded("", "");
    check_folded("/", "/");
    check_folded("/ef/17", "/ef/{number}");
    check_folded("/ef/6292/", "/ef/{number}/");
    check_folded("17", "{number}");
    check_folded("/v2/a1/1a", "/v2/a1/1a");
    check_folded("/a//9", "/a//{number}");
    check_folded("/u/9f0c2b1e-aaaa-BBBB-cccc-000000000001/x", "/u/{guid}/x");
    check_folded("/u/9f0c2b1eaaaabbbbcccc000000000001", "/u/{guid}");
    check_folded("/u/00000000000000000000000000000001", "/u/{guid}");
    check_folded("/u/9f0c2b1e-aaaa-bbbb-cccc-00000000000g",
                 "/u/9f0c2b1e-aaaa-bbbb-cccc-00000000000g");
    check_folded(
        "/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1",
        "/{number}/{number}/{number}/{number}/{number}/{number}/{number}/{number}/{number}/"
        "{number}/{number}/{number}/{number}/{n");
}

/* ---- names of endpoints ---------------------------------------------------------------------- */

static void a_name_for_which_there_was_no_room_is_written_later(void **state)
{
    const struct sxs_activity_text get = {.n = 3, .units = {'G', 'E', 'T'}},
                                   put_text = {.n = 3, .units = {'P', 'U', 'T'}};
    struct sxs_folder              folder;
    char                           path[] = "/tmp/sxsprof-test.XXXXXX", command[64];
    uint32_t                       number;
    (void)state;
    assert_non_null(mkdtemp(path));
    assert_int_equal(sxs_folder_open(&folder, path), 0);
    world.a.writer = sxs_samples_create(&folder, 1 << 24, NULL);
    assert_non_null(world.a.writer);
    for (size_t size = 50000; size > 16; size /= 2)
        while (sxs_samples_reserve(world.a.writer, size)) {
        }
    assert_int_equal(sxs_activities_endpoint(&world.a, &get), 0);
    assert_int_equal(sxs_activities_endpoint(&world.a, &get), 0);
    assert_int_equal(sxs_samples_make_room(world.a.writer), 0);
    number = sxs_activities_endpoint(&world.a, &get);
    assert_int_not_equal(number, 0);
    assert_int_equal(sxs_activities_endpoint(&world.a, &get), number);
    assert_int_not_equal(sxs_activities_endpoint(&world.a, &put_text), number);
    sxs_samples_finish(world.a.writer);
    sxs_folder_close(&folder);
    snprintf(command, sizeof(command), "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_request)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_activity_is_found_with_the_name_of_the_oldest_above_it),
        TEST(a_map_of_many_values_is_searched),
        TEST(a_thread_without_one_has_none),
        TEST(the_route_is_the_name_if_there_is_one),
        TEST(an_unknown_class_is_asked_for),
        TEST(as_long_as_the_key_is_not_known_nothing_is_found_and_values_are_asked_for),
        TEST(nothing_is_found_while_the_runtime_stops_its_threads),
        TEST(damaged_memory_gives_the_right_ids_or_none),
        TEST(a_thread_that_belongs_to_another_is_not_believed),
        TEST(a_name_for_which_there_was_no_room_is_written_later),
        TEST(a_request_is_called_by_the_route_of_its_endpoint),
        TEST(a_route_gets_its_first_slash),
        TEST(a_route_that_many_actions_share_is_not_the_name),
        TEST(the_request_of_another_activity_is_not_taken),
        TEST(a_request_without_an_endpoint_is_called_by_its_path),
        TEST(the_route_of_a_known_span_is_not_read_again),
        TEST(a_search_ends),
        TEST(numbers_and_guids_of_a_path_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
