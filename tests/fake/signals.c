/* SPDX-License-Identifier: MIT */
/**
 * signals.c - process-wide signal handlers, installed and chained as a CLR on Linux does it.
 *
 * A fault in this runtime's code is handled: the handler skips the instruction, or, every second
 * time, does not return, because 8.0 unwinds past its handler. Any other fault goes to the handler
 * that was installed before. If that handler returns, a CLR would shut down; this is counted.
 * SIGRTMIN from this process is always accepted as an activation and never passed on.
 */
#include "tests/fake/fake.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction previous[65];

static bool handle_own(int signal, ucontext_t *context)
{
    greg_t *ip = &context->uc_mcontext.gregs[REG_RIP];
    struct fake_thread *thread = fake_self;
    if ((signal != SIGSEGV && signal != SIGFPE) || !fake_function_at((uint64_t)*ip))
        return false;
    atomic_fetch_add(&fake.faults, 1);
    if (thread && thread->fault_exit && thread->n_faults++ % 2) {
        atomic_fetch_add(&fake.faults_left, 1);
        siglongjmp(*thread->fault_exit, 1);
    }
    *ip += 2; /* both faulting instructions are two bytes long */
    return true;
}

static void call_previous(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *before = &previous[signal];
    atomic_fetch_add(&fake.faults_chained, 1);
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, info, context);
    } else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
        /* The instruction runs again, and the signal has its default effect. A signal that was sent
         * does not recur by itself, so raise it. */
        sigaction(signal, before, NULL);
        if (info->si_code <= 0 || signal == SIGABRT)
            raise(signal);
        return;
    } else {
        before->sa_handler(signal);
    }
    atomic_fetch_add(&fake.after_previous, 1);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (!handle_own(signal, context))
        call_previous(signal, info, context);
}

static void on_activation(int signal, siginfo_t *info, void *context)
{
    struct fake_thread *thread = fake_self;
    if (info->si_pid != getpid()) {
        const struct sigaction *before = &previous[signal];
        if (before->sa_flags & SA_SIGINFO)
            before->sa_sigaction(signal, info, context);
        else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
            before->sa_handler(signal);
        return;
    }
    atomic_fetch_add(&fake.activations, 1);
    if (thread) {
        atomic_fetch_add(&thread->answered, 1);
        return;
    }
    /* From 9.0 the real handler uses the thread object here without a check, and it is NULL. */
    atomic_fetch_add(&fake.foreign_activations, 1);
    if (fake.strict && fake.major >= 9)
        abort();
}

static void take(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler};
    action.sa_flags = SA_SIGINFO | SA_RESTART | flags;
    sigemptyset(&action.sa_mask);
    if (flags & SA_ONSTACK)
        sigaddset(&action.sa_mask, SIGRTMIN);
    sigaction(signal, &action, &previous[signal]);
}

void fake_signals_install(void)
{
    take(SIGILL, on_fault, 0);
    take(SIGFPE, on_fault, 0);
    take(SIGBUS, on_fault, 0);
    take(SIGABRT, on_fault, 0);
    take(SIGTRAP, on_fault, 0);
    take(SIGSEGV, on_fault, SA_ONSTACK);
    take(SIGRTMIN, on_activation, 0);
}

static void fault_once(uint8_t *entry)
{
    void (*run)(void) = NULL;
    sigjmp_buf here;
    memcpy(&run, &entry, sizeof(run));
    fake_self->fault_exit = &here;
    if (sigsetjmp(here, 1) == 0)
        run();
    fake_self->fault_exit = NULL;
}

void fake_faults(unsigned n)
{
    static _Atomic(struct fake_function *) faulting;
    struct fake_function *function = atomic_load(&faulting);
    if (!fake.signals || !fake_thread_attach())
        return;
    if (!function) {
        struct fake_module *module = atomic_load(&fake.modules[0]);
        struct fake_class *type = fake_class_new(module, "Fake.Faults", NULL, 0, NULL);
        function = fake_method_new(module, type, "Fault", NULL, 0, 0, NULL);
        if (!function || FAILED(fake_jit(function)))
            return;
        atomic_store(&faulting, function);
    }
    uint8_t *code = fake_code_of(function);
    for (unsigned i = 0; i < n; i++)
        fault_once(code + (i / 2 % 2 ? FAKE_ENTRY_DIVIDE : FAKE_ENTRY_NULL));
}
