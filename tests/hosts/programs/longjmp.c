/* SPDX-License-Identifier: MIT */
/* longjmp - a host that leaves native frames by longjmp, in callbacks from managed code and outside
 * of them. It leaves native frames only, because runtimes do not allow a jump over managed frames.
 * Managed exceptions do not pass through native frames either. */
#include <setjmp.h>
#include <stdint.h>

#include "tests/hosts/hosting.h"

enum { JUMPS = 200 };

static void descend(jmp_buf back, int depth);

/* Calls go through this variable, so that the compiler makes a frame for each of them. */
static void (*volatile descend_more)(jmp_buf, int) = descend;

static __attribute__((noinline)) void descend(jmp_buf back, int depth)
{
    volatile char frame[256];

    frame[0] = (char)depth;
    if (depth == 0)
        longjmp(back, 1);
    descend_more(back, depth - frame[0] / frame[0]);
}

/* Called from managed code, ten managed frames deep. */
static int jump_below(intptr_t depth)
{
    jmp_buf back;

    if (setjmp(back))
        return 1;
    descend(back, (int)depth);
    return 0;
}

/* Jumps out of native frames after a managed call, which itself contained such a jump, has
 * returned. */
static int jump_around(intptr_t i)
{
    static jmp_buf back;

    if (setjmp(back))
        return 1;
    if (hosting_guest((int)i % hosting_len())->call_back(jump_below, 5) == 1)
        descend(back, 20);
    return 0;
}

int main(void)
{
    int below = 0, around = 0;

    hosting_start();
    for (int i = 0; i < JUMPS; i++) {
        below += hosting_guest(i % hosting_len())->call_back(jump_below, 1 + i % 30);
        around += jump_around(i);
        if (i % 20 == 0)
            hosting_guest(i % hosting_len())->faults(1);
    }
    hosting_claim(below == JUMPS, "%d jumps below managed frames", below);
    hosting_claim(around == JUMPS, "%d jumps around managed frames", around);
    hosting_claim(hosting_work(1) == 0, "work");
    return hosting_end();
}
