/* SPDX-License-Identifier: MIT */
/* test_guest_info.c - every method of the ICorProfilerInfo of guests reaches the right runtime. */
#include "guests/guests.h"
#include "guests/ids.h"
#include "tests/guests/profiler.h"
#include "tests/unit/fake_host.h"

/* ---- two guests on two runtimes --------------------------------------------------------------- */

#define HOLDER "{5E5C0001-0000-4000-8000-0000000000C5}"

static struct fake_host clr[2];
static struct prof     *guest[2];

__attribute__((visibility("default"))) HRESULT guests_class_object(const GUID *clsid,
                                                                   const GUID *iid, void **out);
HRESULT guests_class_object(const GUID *clsid, const GUID *iid, void **out)
{
    static int     once;
    IClassFactory *factory = sxs_class_factory();
    (void)clsid;
    sxs_manager_init(NULL, 0);
    if (!once++)
        sxs_guests_init();
    return factory->vtbl->QueryInterface(factory, iid, out);
}

static void begin(const char *first, const char *second)
{
    const char *const versions[] = {first, second};
    char              declared[1200];
    void             *library;
    struct prof *(*holder_of)(unsigned);
    snprintf(declared, sizeof(declared), "%s=%s", HOLDER, built("guests/libholder.so"));
    setenv("SXSPROF_GUESTS", declared, 1);
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_with("@program:guests_class_object");
    for (unsigned i = 0; i < 2; i++)
        clr[i] = fake_start(versions[i]);
    library = dlopen(built("guests/libholder.so"), RTLD_NOW | RTLD_NOLOAD);
    CHECK(library);
    *(void **)&holder_of = fake_symbol(library, "holder_of");
    for (unsigned i = 0; i < 2; i++)
        CHECK((guest[i] = holder_of(i + 1)) != NULL);
    CHECK(guest[0]->info != guest[1]->info);
}

static void end(void)
{
    for (unsigned i = 0; i < 2; i++)
        fake_end(&clr[i]);
}

/* ---- the generated calls ---------------------------------------------------------------------- */

struct info_slot {
    const char *name;
    HRESULT (*call)(ICorProfilerInfo15 *info);
    void (*expect)(uint64_t *words); /* the first 8 bytes of each argument */
    unsigned n_arguments;
    int      by_hand;    /* its effect is shared by guests: arguments and count may differ */
    unsigned ids, exact; /* bit i: argument i is an ID; it is recorded one by one */
    struct {
        const char *direction, *type, *name;
    } parameters[12];
};

/* Memory that arguments point to: 256 bytes each. The second half is another runtime's. */
static uint8_t arguments[2][1 << 16] __attribute__((aligned(1 << 16)));
static int foreign; /* the number of the argument that is an ID of the other runtime; -1: none */

/* Arguments of 8 bytes are addresses and IDs, and get an address of that memory; smaller ones are
 * counts and flags, and get a small number. */
#define AT(i) ((uintptr_t)&arguments[foreign == (i)][(i)*256])
#define ARG(i, type)                                                       \
    ({                                                                     \
        uintptr_t        words_[8] = {sizeof(type) < 8 ? (i) + 1 : AT(i)}; \
        __typeof__(type) arg_;                                             \
        memcpy(&arg_, words_, sizeof(arg_));                               \
        arg_;                                                              \
    })
#define FIRST_WORD(value)                                                             \
    ({                                                                                \
        __typeof__(value) v_ = (value);                                               \
        uint64_t          word_ = 0;                                                  \
        memcpy(&word_, &v_, sizeof(v_) < sizeof(word_) ? sizeof(v_) : sizeof(word_)); \
        word_;                                                                        \
    })

#include "sxs_guest_test.inc"

/* Calls one method on the first guest. Checks that it arrives at its runtime, once, as it is. */
static void check_slot(unsigned slot, unsigned from, HRESULT result)
{
    const struct info_slot *m = &info_slots[slot];
    const struct fake_host *own = &clr[from], *other = &clr[!from];
    uint64_t                before = own->c->called(m->name), others = other->c->called(m->name);
    uint64_t                words[16] = {0}; /* no method has more arguments */
    HRESULT                 hr;
    foreign = -1;
    CHECK_EQ(own->c->fail_call(m->name, result, 1), S_OK);
    hr = m->call(guest[from]->info);
    own->c->fail_call(m->name, S_OK, 1);
    if (other->c->called(m->name) != others)
        dprintf(check_fd, "# %s\n", m->name);
    CHECK_EQ(other->c->called(m->name), others);
    if (m->by_hand)
        return;
    if (hr != result || own->c->called(m->name) != before + 1)
        dprintf(check_fd, "# %s\n", m->name);
    CHECK_EQ(hr, result);
    CHECK_EQ(own->c->called(m->name), before + 1);
    m->expect(words);
    for (unsigned i = 0; i < m->n_arguments; i++) {
        if (own->c->argument(m->name, i) != words[i])
            dprintf(check_fd, "# %s, argument %u\n", m->name, i);
        CHECK_EQ(own->c->argument(m->name, i), words[i]);
    }
}

static void every_slot_body(void)
{
    unsigned n = 0, exact = 0;
    begin("10.0", "9.0");
    for (unsigned slot = 3; slot < SXS_N_INFO_SLOTS; slot++) {
        CHECK(info_slots[slot].call);
        for (unsigned from = 0; from < 2; from++) {
            if (slot == SXS_INFO_SLOT_RequestProfilerDetach) /* ends the guest: test_guest_detach */
                continue;
            check_slot(slot, from, CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
            if (!info_slots[slot].by_hand)
                check_slot(slot, from, S_FALSE);
        }
        n++;
        exact += !info_slots[slot].by_hand;
    }
    CHECK_EQ(n, SXS_N_INFO_SLOTS - 3);
    CHECK(exact > 80);
    end();
}

static void every_slot_arrives_once_in_the_right_runtime(void **state)
{
    (void)state;
    PASSES(every_slot_body);
}

static void foreign_body(void)
{
    unsigned           n = 0;
    struct sxs_runtime one = {.number = 1}, two = {.number = 2};
    begin("10.0", "9.0");
    guest_id_note(&one, (uintptr_t)arguments[0], 0);
    guest_id_note(&two, (uintptr_t)arguments[1], 0);
    for (unsigned slot = 3; slot < SXS_N_INFO_SLOTS; slot++) {
        const struct info_slot *m = &info_slots[slot];
        for (int i = 0; i < (int)m->n_arguments; i++) {
            uint64_t before[2] = {clr[0].c->called(m->name), clr[1].c->called(m->name)};
            HRESULT  hr;
            if (!(m->ids >> i & 1) || m->by_hand)
                continue;
            foreign = i;
            if (m->exact >> i & 1)
                guest_id_note(&two, AT(i), 1);
            hr = m->call(guest[0]->info);
            if (hr != E_INVALIDARG)
                dprintf(check_fd, "# %s, argument %d\n", m->name, i);
            CHECK_EQ(hr, E_INVALIDARG);
            CHECK_EQ(clr[0].c->called(m->name), before[0]);
            CHECK_EQ(clr[1].c->called(m->name), before[1]);
            n++;
        }
    }
    CHECK(n > 50);
    foreign = -1;
    end();
}

static void an_id_of_another_runtime_is_refused_by_every_slot(void **state)
{
    (void)state;
    PASSES(foreign_body);
}

static void lacks_body(void)
{
    unsigned n = 0;
    begin("10.0", "5.0");
    foreign = -1;
    for (unsigned slot = 3; slot < SXS_N_INFO_SLOTS; slot++) {
        if (slot < SXS_INFO_SLOT_CreateHandle) /* the first slot after ICorProfilerInfo12 */
            continue;
        CHECK_EQ(info_slots[slot].call(guest[1]->info), E_NOTIMPL);
        CHECK_EQ(clr[1].c->called(info_slots[slot].name), 0);
        n++;
    }
    CHECK(n >= 7);
    end();
}

static void a_slot_that_the_runtime_lacks_is_not_implemented(void **state)
{
    (void)state;
    PASSES(lacks_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_arrives_once_in_the_right_runtime),
        cmocka_unit_test(an_id_of_another_runtime_is_refused_by_every_slot),
        cmocka_unit_test(a_slot_that_the_runtime_lacks_is_not_implemented),
    };
    return cmocka_run_group_tests(tests, plain_environment, NULL);
}
