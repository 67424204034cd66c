/* SPDX-License-Identifier: MIT */
/* test_exceptions_file.c - the file of events stays as large as it is when no more throw sites can be listed. */
#include "tests/unit/fake_host.h"

#include "events/exceptions.h"
#include "events/file.h"
#include "events/known.h"
#include "record/chunks.h"
#include "record/session_write.h"

#define TRIES 10000 /* of 1 ms: the service thread makes room in the file meanwhile */
#define MORE  1000u

static struct sxs_events_header *head;

/* Bytes of records in all chunks of the file. */
static uint64_t used(void)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < atomic_load(&head->n_chunks); i++) {
        struct sxs_chunk_header *chunk =
            (void *)((char *)head + SXS_HEADER_SIZE + (size_t)i * SXS_CHUNK_SIZE);
        uint32_t one = atomic_load(&chunk->used);
        all += (one < SXS_CHUNK_SIZE ? one : SXS_CHUNK_SIZE) - sizeof(*chunk);
    }
    return all;
}

/* An exception thrown by the function with the name @thrown. Returns 0 when it was counted as lost. */
static int one_lands(uint32_t thrown)
{
    static struct sxs_event_exception record;
    struct sxs_flight                 v = {.runtime = 1, .record = &record, .type = 1};
    uint64_t                          lost = atomic_load(&head->exceptions_lost);
    v.thrown = thrown;
    v.fate = SXS_FATE_NATIVE;
    sxs_exceptions_landed(&v);
    return atomic_load(&head->exceptions_lost) == lost;
}

static void full_body(void)
{
    const char *path = temporary();
    uint64_t    before;
    sxs_session_open(path);
    head = sxs_events_open("exceptions", SXS_EVENTS_OF_EXCEPTIONS);
    CHECK(head);
    for (uint32_t i = 0; i < SXS_KNOWN_MOST; i++)
        for (int tries = 0; !one_lands(i); tries++) {
            CHECK(tries < TRIES);
            usleep(1000);
        }
    CHECK(!one_lands(SXS_KNOWN_MOST));
    before = used();
    for (uint32_t i = 1; i <= MORE; i++)
        CHECK(!one_lands(SXS_KNOWN_MOST + i));
    CHECK_EQ(used(), before);
    CHECK(one_lands(0)); /* a site that is listed is counted all the same */
    remove_tree(path);
}

static void a_full_table_of_sites_takes_no_more_of_the_file(void **state)
{
    (void)state;
    PASSES(full_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_table_of_sites_takes_no_more_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
