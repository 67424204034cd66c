/* SPDX-License-Identifier: MIT */
/**
 * code.c - the machine code of compiled methods, mapped as a CLR maps it.
 *
 * An address range is reserved without access rights. Pieces of a memfd named "doublemapper" are
 * mapped over it and made executable. Code is written through a second, writable mapping of the
 * same piece.
 */
#include "tests/fake/fake.h"

#include <sys/mman.h>
#include <unistd.h>

#define PIECE (64u << 10)

void fake_code_init(void)
{
    void *at = mmap64(NULL, FAKE_CODE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);
    fake.code_fd = memfd_create("doublemapper", MFD_CLOEXEC);
    if (at == MAP_FAILED || fake.code_fd < 0 || ftruncate(fake.code_fd, FAKE_CODE_SIZE) != 0) {
        perror("fakeclr: no memory for code");
        abort();
    }
    fake.code = at;
}

static bool map_up_to(uint32_t end)
{
    uint32_t ready = atomic_load(&fake.code_ready);
    while (ready < end) {
        if (ready + PIECE > FAKE_CODE_SIZE)
            return false;
        void *at = mmap64(fake.code + ready, PIECE, PROT_NONE, MAP_SHARED | MAP_FIXED, fake.code_fd,
                          ready);
        if (at == MAP_FAILED || mprotect(at, PIECE, PROT_READ | PROT_EXEC) != 0)
            return false;
        ready += PIECE;
    }
    atomic_store(&fake.code_ready, ready);
    return true;
}

/* Writes the code of one method. It has three entry points, each with a stack frame: call fn(arg)
 * through fake_frame_body(), read address 0, divide by 0. The faulting instructions are two bytes
 * long, so a handler can skip them and return to the epilogue. */
static void assemble(uint8_t *out)
{
    static const uint8_t call_head[] = {0x55, 0x48, 0x89, 0xE5, 0x48, 0xB8};
    static const uint8_t call_tail[] = {0xFF, 0xD0, 0x5D, 0xC3};
    static const uint8_t null_read[] = {0x55, 0x48, 0x89, 0xE5, 0x31, 0xC0, 0x8B, 0x00, 0x5D, 0xC3};
    static const uint8_t divide[] = {0x55, 0x48, 0x89, 0xE5, 0x31, 0xC9, 0xB8, 0x01, 0x00, 0x00,
                                     0x00, 0x31, 0xD2, 0xF7, 0xF9, 0x5D, 0xC3};
    uint64_t (*body)(uint64_t (*)(void *), void *) = fake_frame_body;
    memset(out, 0xCC, FAKE_CHUNK);
    memcpy(out, call_head, sizeof(call_head));
    memcpy(out + sizeof(call_head), &body, sizeof(body));
    memcpy(out + sizeof(call_head) + sizeof(body), call_tail, sizeof(call_tail));
    memcpy(out + FAKE_ENTRY_NULL, null_read, sizeof(null_read));
    memcpy(out + FAKE_ENTRY_DIVIDE, divide, sizeof(divide));
}

static bool place(unsigned number)
{
    uint32_t at = number * FAKE_CHUNK, piece = at / PIECE * PIECE;
    bool done = false;
    pthread_mutex_lock(&fake.code_lock);
    if (at + FAKE_CHUNK <= FAKE_CODE_SIZE && map_up_to(at + FAKE_CHUNK)) {
        void *rw = mmap64(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, fake.code_fd, piece);
        if (rw != MAP_FAILED) {
            assemble((uint8_t *)rw + (at - piece));
            munmap(rw, PIECE);
            done = true;
        }
    }
    pthread_mutex_unlock(&fake.code_lock);
    return done;
}

uint8_t *fake_code_of(const struct fake_function *function)
{
    return fake.code + (size_t)function->number * FAKE_CHUNK;
}

struct fake_function *fake_function_at(uint64_t ip)
{
    uint64_t base = (uint64_t)(uintptr_t)fake.code;
    if (!base || ip < base || ip >= base + atomic_load(&fake.code_ready))
        return NULL;
    struct fake_function *function = atomic_load(&fake.functions[(ip - base) / FAKE_CHUNK]);
    return function && atomic_load(&function->jitted) ? function : NULL;
}

HRESULT fake_jit(struct fake_function *function)
{
    uint64_t id = (uint64_t)(uintptr_t)function;
    if (function->dynamic)
        FAKE_RAISE(DynamicMethodJITCompilationStarted, id, 1, (uint64_t)(uintptr_t)function->sig,
                   function->sig_size);
    else
        FAKE_RAISE(JITCompilationStarted, id, 1);
    if (!function->dynamic)
        fake_hook_compiled(function);
    HRESULT hr = place(function->number) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        atomic_store(&function->jitted, 1);
        atomic_fetch_add(&fake.n_jitted, 1);
    }
    if (function->dynamic)
        FAKE_RAISE(DynamicMethodJITCompilationFinished, id, (uint64_t)hr, 1);
    else
        FAKE_RAISE(JITCompilationFinished, id, (uint64_t)hr, 1);
    return hr;
}

__attribute__((destructor)) static void code_drop(void)
{
    if (fake.code)
        munmap(fake.code, FAKE_CODE_SIZE);
    if (fake.code_fd >= 0)
        close(fake.code_fd);
    fake.code = NULL;
}
