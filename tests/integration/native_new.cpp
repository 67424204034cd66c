// SPDX-License-Identifier: MIT
// native_new.cpp - allocates blocks by each operator new of C++, and releases them by each operator
// delete. Compiled into a program, or into a library that a program in C loads by dlopen().
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <dlfcn.h>

static const std::align_val_t aligned{128};

static void *volatile kept; // so that the compiler leaves no pair out

// Block sizes begin at @first; operator number I, in the order below, allocates @first + 2 I bytes N times
// and keeps them, and as often @first + 2 I + 1 bytes and releases them.
template <typename Allocate, typename Release>
static void use(std::size_t bytes, int n, Allocate allocate, Release release)
{
    for (int i = 0; i < n; i++) {
        kept = allocate(bytes);
        std::memset(kept, 'x', bytes);
        kept = allocate(bytes + 1);
        release(kept, bytes + 1);
    }
}

extern "C" __attribute__((visibility("default"))) void news_use(std::size_t first, int n)
{
    use(
        first, n, [](std::size_t b) { return ::operator new(b); },
        [](void *p, std::size_t) { ::operator delete(p); });
    use(
        first + 2, n, [](std::size_t b) { return ::operator new[](b); },
        [](void *p, std::size_t) { ::operator delete[](p); });
    use(
        first + 4, n, [](std::size_t b) { return ::operator new(b, std::nothrow); },
        [](void *p, std::size_t) { ::operator delete(p, std::nothrow); });
    use(
        first + 6, n, [](std::size_t b) { return ::operator new[](b, std::nothrow); },
        [](void *p, std::size_t) { ::operator delete[](p, std::nothrow); });
    use(
        first + 8, n, [](std::size_t b) { return ::operator new(b); },
        [](void *p, std::size_t b) { ::operator delete(p, b); });
    use(
        first + 10, n, [](std::size_t b) { return ::operator new[](b); },
        [](void *p, std::size_t b) { ::operator delete[](p, b); });
}

// The same for the operators with an alignment, for which libstdc++ asks malloc() for a multiple of it.
extern "C" __attribute__((visibility("default"))) void news_use_aligned(std::size_t first, int n)
{
    const std::size_t step = 256;
    for (int form = 0; form < 3; form++)
        for (int i = 0; i < n; i++) {
            std::size_t size = first + (2 * form + 0) * step, gone = size + step;
            kept = form == 1 ? ::operator new(size, aligned, std::nothrow)
                             : ::operator new[](size, aligned);
            kept = form == 1 ? ::operator new(gone, aligned, std::nothrow)
                             : ::operator new[](gone, aligned);
            if (reinterpret_cast<std::size_t>(kept) % 128)
                std::abort();
            if (form == 0)
                ::operator delete[](kept, aligned);
            else if (form == 1)
                ::operator delete(kept, aligned, std::nothrow);
            else
                ::operator delete[](kept, gone, aligned);
        }
}

static int n_handled;

// Returns 0 if an operator that finds no memory does what the language says.
extern "C" __attribute__((visibility("default"))) int news_fail(void)
{
    volatile std::size_t huge = static_cast<std::size_t>(-1) / 2 - 4096;
    int                  thrown = 0;
    std::set_new_handler([] {
        if (++n_handled % 2 == 0)
            std::set_new_handler(nullptr);
    });
    try {
        kept = ::operator new(huge);
    } catch (const std::bad_alloc &) {
        thrown++;
    }
    try {
        kept = ::operator new[](huge, aligned);
    } catch (const std::bad_alloc &) {
        thrown++;
    }
    kept = ::operator new(huge, std::nothrow);
    if (thrown != 2 || n_handled != 2 || kept) {
        std::printf("thrown %d, handler called %d times, block %p\n", thrown, n_handled, kept);
        return 1;
    }
    return 0;
}

// jemalloc's own functions, if @n > 0 and the process has them: @first bytes are kept, first + 1 released.
extern "C" __attribute__((visibility("default"))) void news_use_jemalloc(std::size_t first, int n)
{
    auto mallocx = reinterpret_cast<void *(*)(std::size_t, int)>(dlsym(RTLD_DEFAULT, "mallocx"));
    auto rallocx =
        reinterpret_cast<void *(*)(void *, std::size_t, int)>(dlsym(RTLD_DEFAULT, "rallocx"));
    auto sdallocx =
        reinterpret_cast<void (*)(void *, std::size_t, int)>(dlsym(RTLD_DEFAULT, "sdallocx"));
    auto dallocx = reinterpret_cast<void (*)(void *, int)>(dlsym(RTLD_DEFAULT, "dallocx"));
    for (int i = 0; i < n; i++) {
        kept = mallocx(first, 0);
        kept = mallocx(first + 1, 0);
        sdallocx(kept, first + 1, 0);
        kept = std::malloc(first + 2); // released by the other family
        sdallocx(kept, first + 2, 0);
        kept = mallocx(first + 3, 0);
        std::free(kept);
        kept = mallocx(first + 4, 0);
        kept = rallocx(kept, first + 5, 0);
        dallocx(kept, 0);
    }
}
