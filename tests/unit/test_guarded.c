/* SPDX-License-Identifier: MIT */
/* test_guarded.c - memory that is not there: guarded loads recover, copies say how far they came, and a
 * walk over such a stack ends there. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/guarded.h"
#include "base/safe_read.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/fast/walk_fast.h"
#include "tests/unit/router_fixture.h"

#define PAGE ((size_t)4096)

/* Two pages, of which the second cannot be read. It stays reserved: nobody else's memory may come to lie there. */
static char *page_before_hole(void)
{
    char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    memset(at, 'a', PAGE);
    CHECK_EQ(mprotect(at + PAGE, PAGE, PROT_NONE), 0);
    return at;
}

static char *page_before_end_of_file(void)
{
    int   fd = memfd_create("short", MFD_CLOEXEC);
    char *at;
    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
    at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(at != MAP_FAILED);
    memset(at, 'a', PAGE);
    return at;
}

/* The router linked in here is not preloaded; these tests know that it is in front. */
static struct fake_host routed(void)
{
    struct fake_host h = signalling("8.0");
    CHECK_EQ(sxs_signals()->guard(sxs_guarded_code()), 0); /* another handler might come first */
    CHECK_EQ(sxs_guarded_reliable(), 0);
    sxs_guarded_rely(1);
    CHECK_EQ(sxs_guarded_reliable(), 1);
    return h;
}

static void copies(void)
{
    char  to[64];
    char *at = page_before_hole(), *file = page_before_end_of_file();
    routed();
    errno = 77;
    CHECK_EQ(sxs_guarded_copy(to, (uintptr_t)at, 64), 64);
    CHECK(to[0] == 'a' && to[63] == 'a');
    CHECK_EQ(sxs_guarded_copy(to, (uintptr_t)at + PAGE - 5, 64), 5);
    CHECK_EQ(sxs_guarded_copy(to, (uintptr_t)at + PAGE, 64), 0);
    CHECK_EQ(sxs_guarded_copy(to, (uintptr_t)file + PAGE - 7, 64), 7);  /* SIGBUS */
    CHECK_EQ(sxs_guarded_copy(to, UINT64_C(0x8000000000000000), 8), 0); /* no address at all */
    CHECK_EQ(sxs_guarded_copy(to, 0, 0), 0);
    CHECK_EQ(errno, 77);
    CHECK_EQ(unwanted_by_all(), 0);
}

static void the_copy_stops_where_memory_does(void **state)
{
    (void)state;
    PASSES(copies);
}

static inline int load(uintptr_t at, uintptr_t *out)
{
    uintptr_t got;
    SXS_GUARDED_LOAD(got, at, 0, gone);
    *out = got;
    return 1;
gone:
    return 0;
}

/* Each has two values of one variable meet after the load. They are called through the array, so
 * that they are compiled as they stand and get different registers to leave behind. */
static uintptr_t word_or_0(uintptr_t at)
{
    uintptr_t word;
    return load(at, &word) ? word : 0;
}

static uintptr_t word_from_0(uintptr_t at)
{
    uintptr_t word = 0;
    return load(at, &word) ? word : 0;
}

static uintptr_t kind_of_word(uintptr_t at)
{
    uintptr_t word;
    uintptr_t is_there = (uintptr_t)load(at, &word);
    return is_there && word > 1 ? word : is_there;
}

static void loads(void)
{
    static uintptr_t (*volatile const of[])(uintptr_t) = {word_or_0, word_from_0, kind_of_word};
    uintptr_t at = (uintptr_t)page_before_hole(), a = UINT64_C(0x6161616161616161);
    routed();
    for (unsigned i = 0; i < ARRAY_LEN(of); i++) {
        CHECK_EQ(of[i](at), a); /* leaves the word in a register for the next call */
        CHECK_EQ(of[i](at + PAGE), 0);
        CHECK_EQ(of[i](at + PAGE - sizeof(a)), a);
    }
    CHECK_EQ(unwanted_by_all(), 0);
}

static void a_load_that_fails_leaves_no_word(void **state)
{
    (void)state;
    PASSES(loads);
}

static void faults_of_others(void)
{
    routed();
    host_takes(SIGSEGV, hooked_sigaction);
    fault_here();
    CHECK_EQ(atomic_load(&host_calls), 1);
    CHECK_EQ(unwanted_by_all(), 1);
}

static void faults_of_other_code_are_not_recovered(void **state)
{
    (void)state;
    PASSES(faults_of_others);
}

static void blocked(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS};
    char             to[8], *at = page_before_hole();
    routed();
    for (unsigned i = 0; i < ARRAY_LEN(faults); i++) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, faults[i]);
        pthread_sigmask(SIG_BLOCK, &one, NULL);
        CHECK_EQ(sxs_guarded_reliable(), 0);
        CHECK_EQ(sxs_safe_read(to, (uintptr_t)at + PAGE - 3, 8),
                 3); /* the kernel is asked instead */
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        CHECK_EQ(sxs_guarded_reliable(), 1);
    }
}

static void a_thread_that_blocks_the_fault_asks_the_kernel(void **state)
{
    (void)state;
    PASSES(blocked);
}

static void unreliable(void)
{
    char to[16];
    sxs_guarded_rely(0);
    CHECK_EQ(sxs_safe_read(to, (uintptr_t)page_before_hole() + PAGE - 5, 16), 5);
}

static void without_the_router_the_kernel_is_asked(void **state)
{
    (void)state;
    PASSES(unreliable);
}

/* A stack of @n frames by rbp, the last of which lies in the hole; @uc is inside the first. */
static void chain_into_hole(char *page, unsigned n, ucontext_t *uc, uintptr_t *hi)
{
    uintptr_t *word = (uintptr_t *)(void *)page;
    memset(page, 0, PAGE);
    for (unsigned i = 0; i < n; i++) {
        uintptr_t *next = i + 1 < n ? &word[4 * (i + 1)] : (uintptr_t *)(void *)(page + PAGE + 64);
        word[4 * i + 2] = (uintptr_t)next; /* rbp of the caller */
        word[4 * i + 3] =
            (uintptr_t)&chain_into_hole; /* an address in code; with a table or without */
    }
    getcontext(uc);
    uc->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)word;
    uc->uc_mcontext.gregs[REG_RBP] = (greg_t)(uintptr_t)&word[2];
    *hi = (uintptr_t)page + 2 * PAGE;
}

/* From everywhere on the page and with every kind of rule that the code of this program has. */
static unsigned walk_everywhere(int checked)
{
    char     *page = page_before_hole();
    unsigned  frames = 0;
    uintptr_t code = (uintptr_t)&chain_into_hole;
    for (unsigned at = 0; at < 4000; at++) {
        ucontext_t             uc;
        uintptr_t              ips[64], sps[64];
        enum sxs_sample_end    end;
        struct sxs_walk_limits limits = {.max = 64, .checked = checked};
        chain_into_hole(page, 1 + at % 100, &uc, &limits.stack_hi);
        limits.stack_lo = (uintptr_t)page;
        uc.uc_mcontext.gregs[REG_RIP] = (greg_t)code + (greg_t)at;
        if (at % 3 == 1)
            uc.uc_mcontext.gregs[REG_RSP] += (greg_t)(PAGE - 8 - at % 64 / 8 * 8);
        if (at % 3 == 2)
            uc.uc_mcontext.gregs[REG_RBP] = (greg_t)((uintptr_t)page + PAGE - 8);
        frames += (unsigned)sxs_walk_fast(&uc, &limits, ips, &end);
        CHECK(end < SXS_N_SAMPLE_ENDS);
        CHECK(sxs_walk_fast_sps(&uc, &limits, ips, sps, &end) >= 1);
    }
    CHECK(frames > 4000); /* some were followed */
    return frames;
}

static void walks(void)
{
    unsigned guarded, checked;
    routed();
    CHECK(sxs_tables_refresh() >= 0);
    guarded = walk_everywhere(0);
    checked = walk_everywhere(1);
    CHECK_EQ(guarded, checked);
    CHECK_EQ(unwanted_by_all(), 0);
}

static void a_walk_ends_where_the_stack_is_gone(void **state)
{
    (void)state;
    PASSES(walks);
}

/* The frame of a signal that was interrupted, cut off by the end of the mapping. */
static void cut_signal_frame(void)
{
    char *page = page_before_hole();
    struct kernel_action {
        void    *handler;
        uint64_t flags;
        void    *restorer;
        uint64_t mask;
    } kernel;
    routed();
    CHECK(sxs_tables_refresh() >= 0);
    CHECK_EQ(syscall(SYS_rt_sigaction, SIGSEGV, NULL, &kernel, sizeof(kernel.mask)), 0);
    for (size_t room = 8; room < sizeof(ucontext_t); room += 8) {
        ucontext_t             uc;
        uintptr_t              ips[8];
        enum sxs_sample_end    end;
        struct sxs_walk_limits limits = {.max = 8};
        getcontext(&uc);
        limits.stack_lo = (uintptr_t)page + PAGE - room;
        limits.stack_hi = (uintptr_t)page + 4 * PAGE;
        uc.uc_mcontext.gregs[REG_RSP] = (greg_t)limits.stack_lo;
        uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)kernel.restorer;
        CHECK(sxs_walk_fast(&uc, &limits, ips, &end) >= 1);
        CHECK(end != SXS_SAMPLE_END_BOTTOM);
    }
}

static void a_signal_frame_that_is_cut_off_ends_the_walk(void **state)
{
    (void)state;
    PASSES(cut_signal_frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_copy_stops_where_memory_does),
        cmocka_unit_test(a_load_that_fails_leaves_no_word),
        cmocka_unit_test(faults_of_other_code_are_not_recovered),
        cmocka_unit_test(a_thread_that_blocks_the_fault_asks_the_kernel),
        cmocka_unit_test(without_the_router_the_kernel_is_asked),
        cmocka_unit_test(a_walk_ends_where_the_stack_is_gone),
        cmocka_unit_test(a_signal_frame_that_is_cut_off_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
