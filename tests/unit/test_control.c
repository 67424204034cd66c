/* SPDX-License-Identifier: MIT */
/* test_control.c - the control socket: clients of every kind are served, refused or closed, and
 * sessions begin and end as they ask. The sessions are a stub. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/thread.h"
#include "control/control.h"
#include "control/message/name.h"
#include "control/server.h"
#include "control/session_thread.h"
#include "control/socket.h"
#include "tests/unit/sessions_stub.h"

#define START 17ull /* start time in names of this test */
#define ROUND 250   /* clients at a time */

static int listener = -1, woken = -1;

/* ---- the server ------------------------------------------------------------------------------ */

static void wake(void)
{
    static const uint64_t one = 1;
    if (write(woken, &one, sizeof(one)) != sizeof(one))
        abort();
}

static void serve(void)
{
    sxs_server_init(listener, woken);
    for (;;)
        sxs_server_turn(-1);
}

static int start_server(void **state)
{
    static const struct sxs_thread server = {"server", serve};
    struct rlimit                  limit;
    char                           why[100] = "";
    (void)state;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    woken = eventfd(0, EFD_NONBLOCK);
    listener = sxs_control_listen(START, why, sizeof(why));
    return woken < 0 || listener < 0 || sxs_session_thread_start(wake) || sxs_thread_start(&server);
}

/* ---- clients --------------------------------------------------------------------------------- */

static int join(void)
{
    struct sockaddr_un name;
    socklen_t          len = sxs_control_name(&name, getpid(), START, 0);
    int                fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, len), 0);
    return fd;
}

static void put(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads one answer. Returns 0 when the connection was closed instead. */
static int get(int fd, char *answer, size_t size)
{
    size_t n = 0;
    answer[0] = '\0';
    while (n < size - 1 && !(n > 1 && memcmp(answer + n - 2, "\n\n", 2) == 0)) {
        ssize_t got = recv(fd, answer + n, 1, 0);
        if (got <= 0)
            return 0;
        answer[++n] = '\0';
    }
    return 1;
}

static int is_closed(int fd)
{
    char byte;
    return recv(fd, &byte, 1, 0) <= 0;
}

/* Sends a request on a connection of its own, and checks the answer's first line and a part of it. */
static void ask(const char *request, const char *first, const char *part)
{
    char answer[SXS_CONTROL_MAX];
    int  fd = join();
    put(fd, request);
    assert_true(get(fd, answer, sizeof(answer)));
    if (strncmp(answer, first, strlen(first)) != 0 || !strstr(answer, part))
        fail_msg("expected %s with %s: %s", first, part, answer);
    close(fd);
}

static void wait_for_phase(enum sxs_session_phase phase)
{
    struct sxs_session_state s;
    do {
        poll(NULL, 0, 1);
        sxs_session_get_state(&s);
    } while (s.phase != phase);
}

static unsigned counted(const unsigned *counter)
{
    unsigned n;
    pthread_mutex_lock(&stub.lock);
    n = *counter;
    pthread_mutex_unlock(&stub.lock);
    return n;
}

static void set_gate(int shut)
{
    pthread_mutex_lock(&stub.lock);
    stub.gate = shut;
    pthread_cond_broadcast(&stub.opened);
    pthread_mutex_unlock(&stub.lock);
}

#define START_ONE "sxsprof 1 start\ntools=sample\nout=/tmp\n"

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_session_begins_and_ends(void **state)
{
    unsigned settles = counted(&stub.settles);
    (void)state;
    ask("sxsprof 1 status\n\n", "ok\n", "phase=none\n");
    ask("sxsprof 1 stop\n\n", "error\n", "why=nothing is recorded\n");
    ask("sxsprof 1 snapshot\n\n", "error\n", "why=nothing is recorded\n");
    ask(START_ONE "id=a\n\n", "ok\n", "phase=on\n");
    ask("sxsprof 1 status\n\n", "ok\n", "tools=sample\nout=/tmp/1\n");
    ask("sxsprof 1 status\n\n", "ok\n", "runtime=2 9.0.0 picked live /y/libcoreclr.so\n");
    ask(START_ONE "id=b\n\n", "error\n", "why=another session is on\n");
    ask("sxsprof 1 snapshot\n\n", "ok\n", "out=/tmp/1\n");
    assert_int_equal(counted(&stub.settles), settles + 1);
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
    ask(START_ONE "\n", "ok\n", "phase=on\n");
    ask("sxsprof 1 stop\n\n", "ok\n", "out=/tmp/1\n");
    ask("sxsprof 1 detach\ntimeout_ms=5\n\n", "ok\n", "phase=none\n");
}

static void wrong_requests_are_refused_with_a_reason(void **state)
{
    unsigned begins = counted(&stub.begins);
    (void)state;
    ask("GET / HTTP/1.1\nHost: x\n\n", "error\n", "why=line 2 of the message is not NAME=VALUE\n");
    ask("GET / HTTP/1.1\n\n", "error\n", "why=not a request of sxsprof\n");
    ask("\n\n", "error\n", "why=not a request of sxsprof\n");
    ask("sxsprof 2 status\n\n", "error\n", "takes requests of version 1\n");
    ask("sxsprof 1 attach\n\n", "error\n", "knows no request 'attach'\n");
    ask("sxsprof 1 start\nout=/tmp\n\n", "error\n", "why=tools is missing");
    ask("sxsprof 1 start\ntools=sample\nout=tmp\n\n", "error\n", "why=out is missing");
    ask("sxsprof 1 start\ntools=none\nout=/tmp\n\n", "error\n", "why=there is no tool none\n");
    ask(START_ONE "duration_ms=0\n\n", "error\n", "why=duration_ms=0: expected 1 to");
    ask(START_ONE "duration_ms=-1\n\n", "error\n", "why=duration_ms=-1: expected 1 to");
    ask(START_ONE "duration_ms=99999999999999999999\n\n", "error\n", "expected 1 to");
    ask(START_ONE "id=123456789012345678901234567890123\n\n", "error\n",
        "why=id: expected at most 32");
    ask("sxsprof 1 detach\ntimeout_ms=x\n\n", "error\n", "why=timeout_ms=x: expected");
    assert_int_equal(counted(&stub.begins), begins);
}

static void requests_that_arrive_at_once_or_in_pieces_are_answered(void **state)
{
    static const char request[] = "sxsprof 1 status\n\n";
    char              answer[SXS_CONTROL_MAX];
    int               fd = join();
    (void)state;
    put(fd, "sxsprof 1 status\n\nsxsprof 1 stop\n\nsxsprof 1 status\n\nsxsprof 1 sta");
    for (int i = 0; i < 3; i++) {
        assert_true(get(fd, answer, sizeof(answer)));
        assert_int_equal(strncmp(answer, i == 1 ? "error\n" : "ok\n", 3), 0);
    }
    put(fd, "tus\n\n");
    assert_true(get(fd, answer, sizeof(answer)));
    for (size_t i = 0; i < strlen(request); i++)
        assert_int_equal(send(fd, request + i, 1, 0), 1);
    assert_true(get(fd, answer, sizeof(answer)));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_true(is_closed(fd));
    close(fd);
}

/* More than fit are silent, cut their request short, or do not read. */
static void clients_that_keep_nothing_moving_are_closed(void **state)
{
    int fds[SXS_SERVER_CLIENTS + 8], stuffed = join();
    (void)state;
    for (ssize_t n = 1; n > 0;)
        n = send(stuffed, "sxsprof 1 status\n\n", 18, MSG_DONTWAIT | MSG_NOSIGNAL);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = join();
        if (i % 2)
            put(fds[i], "sxsprof 1 status\n");
    }
    ask("sxsprof 1 status\n\n", "ok\n", "phase=none\n");
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        assert_true(is_closed(fds[i]));
        close(fds[i]);
    }
    while (!is_closed(stuffed))
        continue;
    close(stuffed);
}

/* Sends @request on @n connections and then reads the answers. Returns how many are refused. */
static unsigned crowd(const char *request, unsigned n)
{
    static int fds[ROUND];
    char       answer[SXS_CONTROL_MAX];
    unsigned   refused = 0;
    for (unsigned i = 0; i < n; i++) {
        fds[i] = join();
        put(fds[i], request);
    }
    for (unsigned i = 0; i < n; i++) {
        assert_true(get(fds[i], answer, sizeof(answer)));
        refused += strncmp(answer, "error\n", 6) == 0;
        close(fds[i]);
    }
    return refused;
}

static void a_thousand_clients_are_served_while_a_session_ends(void **state)
{
    int  stops[SXS_SERVER_JOBS];
    char answer[SXS_CONTROL_MAX];
    (void)state;
    ask(START_ONE "\n", "ok\n", "phase=on\n");
    set_gate(1);
    for (size_t i = 0; i < ARRAY_LEN(stops); i++)
        put(stops[i] = join(), "sxsprof 1 stop\n\n");
    wait_for_phase(SXS_SESSION_ENDING);
    ask("sxsprof 1 status\n\n", "ok\n", "phase=ending\n");
    for (unsigned i = 0; i < 1000; i += ROUND)
        assert_int_equal(crowd("sxsprof 1 status\n\n", ROUND), 0);
    assert_int_equal(crowd("sxsprof 1 stop\n\n", ROUND), ROUND); /* too many wait */
    set_gate(0);
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        assert_true(get(stops[i], answer, sizeof(answer)));
        assert_int_equal(strncmp(answer, i ? "error\n" : "ok\n", 3), 0);
        close(stops[i]);
    }
    ask("sxsprof 1 status\n\n", "ok\n", "phase=none\n");
}

static void a_held_session_ends_with_its_connection(void **state)
{
    char     answer[SXS_CONTROL_MAX];
    int      fd = join();
    unsigned ends = counted(&stub.ends), detaches = counted(&stub.detaches);
    (void)state;
    put(fd, START_ONE "hold=1\n\n");
    assert_true(get(fd, answer, sizeof(answer)));
    close(fd);
    wait_for_phase(SXS_SESSION_NONE);
    assert_int_equal(counted(&stub.ends), ends + 1);
    /* closed before the answer, and detached */
    fd = join();
    put(fd, START_ONE "hold=1\ndetach=1\n\n");
    close(fd);
    while (counted(&stub.detaches) == detaches)
        poll(NULL, 0, 1);
    assert_int_equal(counted(&stub.ends), ends + 2);
    /* the connection ends with the session, too */
    fd = join();
    put(fd, START_ONE "hold=1\n\n");
    assert_true(get(fd, answer, sizeof(answer)));
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
    assert_true(is_closed(fd));
    close(fd);
    assert_int_equal(counted(&stub.ends), ends + 3);
}

/* A session that an attach has begun is joined by its command. */
static void a_session_is_joined_by_its_id(void **state)
{
    char     answer[SXS_CONTROL_MAX];
    int      fd;
    unsigned begins = counted(&stub.begins);
    (void)state;
    ask(START_ONE "id=x\n\n", "ok\n", "phase=on\n");
    fd = join();
    put(fd, START_ONE "id=x\nhold=1\n\n");
    assert_true(get(fd, answer, sizeof(answer)));
    assert_int_equal(strncmp(answer, "ok\n", 3), 0);
    assert_int_equal(counted(&stub.begins), begins + 1);
    close(fd);
    wait_for_phase(SXS_SESSION_NONE);
}

static void a_session_ends_at_its_time_limit(void **state)
{
    struct sxs_message attach;
    char               request[] = "sxsprof 1 attach\nduration_ms=1\ndetach=1\n\n", why[100];
    unsigned           detaches = counted(&stub.detaches), ends = counted(&stub.ends);
    (void)state;
    ask(START_ONE "duration_ms=5\n\n", "ok\n", "out=/tmp/1\n");
    wait_for_phase(SXS_SESSION_NONE);
    ask(START_ONE "duration_ms=3600000\n\n", "ok\n", "left_ms=3");
    ask("sxsprof 1 status\n\n", "ok\n", "left_ms=3");
    assert_int_equal(sxs_message_parse(request, strlen(request), &attach, why, sizeof(why)), 0);
    assert_int_equal(sxs_control_begun(&attach, why, sizeof(why)), 0);
    while (counted(&stub.detaches) == detaches)
        poll(NULL, 0, 1);
    assert_int_equal(counted(&stub.ends), ends + 2);
}

/* An attach whose session could not begin does not end the one that is on. */
static void the_time_limit_of_an_attach_is_that_of_its_session(void **state)
{
    struct sxs_message attach;
    char request[] = "sxsprof 1 attach\nid=other\nduration_ms=1\ndetach=1\n\n", why[100];
    char wrong[] = "sxsprof 1 attach\nid=mine\nduration_ms=x\n\n";
    (void)state;
    ask(START_ONE "id=mine\nduration_ms=3600000\n\n", "ok\n", "left_ms=3");
    assert_int_equal(sxs_message_parse(request, strlen(request), &attach, why, sizeof(why)), 0);
    assert_int_equal(sxs_control_begun(&attach, why, sizeof(why)), 0);
    ask("sxsprof 1 status\n\n", "ok\n", "left_ms=3");
    assert_int_equal(sxs_message_parse(wrong, strlen(wrong), &attach, why, sizeof(why)), 0);
    assert_int_equal(sxs_control_begun(&attach, why, sizeof(why)), -EINVAL);
    ask(START_ONE "id=mine\nhold=1\n\n", "ok\n", "number=");
    wait_for_phase(SXS_SESSION_NONE); /* its connection is closed */
}

/* The library detaches by itself, as it would if the session had begun; not while one is on. */
static void an_attach_whose_session_cannot_begin_detaches_at_its_time_limit(void **state)
{
    struct sxs_message attach;
    char               request[] = "sxsprof 1 attach\nid=n\nduration_ms=50\ndetach=1\n\n", why[100];
    unsigned           detaches = counted(&stub.detaches);
    (void)state;
    assert_int_equal(sxs_message_parse(request, strlen(request), &attach, why, sizeof(why)), 0);
    sxs_control_not_begun(&attach);
    while (counted(&stub.detaches) == detaches)
        poll(NULL, 0, 1);
    sxs_control_not_begun(&attach);
    ask(START_ONE "\n", "ok\n", "phase=on\n");
    poll(NULL, 0, 300);
    ask("sxsprof 1 status\n\n", "ok\n", "phase=on\n");
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
    ask(START_ONE "duration_ms=3600000\n\n", "ok\n", "left_ms=3");
    sxs_control_not_begun(&attach);
    ask("sxsprof 1 status\n\n", "ok\n", "left_ms=3");
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
    assert_int_equal(counted(&stub.detaches), detaches + 1);
}

/* The time limit of a session that was ended otherwise does not end the next one. */
static void a_time_limit_is_of_one_session(void **state)
{
    (void)state;
    ask(START_ONE "duration_ms=300\n\n", "ok\n", "phase=on\n");
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
    ask(START_ONE "\n", "ok\n", "phase=on\n");
    poll(NULL, 0, 600);
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
}

/* The stub's session ends and another one begins, as a ring does it. */
static void go_on(void)
{
    unsigned before;
    sxs_session_thread_change();
    pthread_mutex_lock(&stub.lock);
    before = stub.state.number;
    stub.state.phase = SXS_SESSION_NONE;
    pthread_mutex_unlock(&stub.lock);
    wake();
    ask("sxsprof 1 status\n\n", "ok\n", "phase=none\n");
    pthread_mutex_lock(&stub.lock);
    stub.state.phase = SXS_SESSION_ON;
    stub.state.number++;
    pthread_mutex_unlock(&stub.lock);
    sxs_session_thread_goes_on(before, before + 1);
    sxs_session_thread_change();
    wake();
}

static void a_session_that_goes_on_keeps_its_connection_and_its_limit(void **state)
{
    char     answer[SXS_CONTROL_MAX];
    int      fd = join();
    unsigned ends = counted(&stub.ends), rings = counted(&stub.rings);
    (void)state;
    put(fd, START_ONE "hold=1\nkeep=10m\nduration_ms=3600000\n\n");
    assert_true(get(fd, answer, sizeof(answer)));
    assert_int_equal(counted(&stub.rings), rings + 1);
    go_on();
    go_on();
    ask("sxsprof 1 status\n\n", "ok\n", "left_ms=3");
    assert_int_equal(counted(&stub.ends), ends);
    assert_int_equal(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0), 0);
    close(fd);
    wait_for_phase(SXS_SESSION_NONE);
    assert_int_equal(counted(&stub.ends), ends + 1);
    ask(START_ONE "\n", "ok\n", "phase=on\n"); /* another one, without a limit */
    fd = join();
    put(fd, "sxsprof 1 status\n\n");
    assert_true(get(fd, answer, sizeof(answer)));
    assert_null(strstr(answer, "left_ms"));
    close(fd);
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
}

/* A segment has ended, and the next one could not begin yet. Returns the session's number. */
static unsigned end_segment(void)
{
    unsigned number;
    pthread_mutex_lock(&stub.lock);
    stub.state.phase = SXS_SESSION_NONE;
    number = stub.state.number;
    pthread_mutex_unlock(&stub.lock);
    atomic_store(&stub.between, 1);
    return number;
}

static void a_ring_between_two_segments_ends_as_one_that_records(void **state)
{
    unsigned detaches = counted(&stub.detaches);
    (void)state;
    sxs_session_thread_also(NULL, sxs_ring_stop);
    ask(START_ONE "keep=10m\n\n", "ok\n", "phase=on\n");
    end_segment();
    ask("sxsprof 1 stop\n\n", "ok\n", "phase=none\n");
    ask("sxsprof 1 stop\n\n", "error\n", "why=");
    ask(START_ONE "keep=10m\nduration_ms=3600000\ndetach=1\n\n", "ok\n", "phase=on\n");
    sxs_session_thread_limit(end_segment(), 1, 1);
    while (counted(&stub.detaches) == detaches)
        poll(NULL, 0, 1);
    assert_int_equal(atomic_load(&stub.between), 0);
    sxs_session_thread_also(NULL, NULL);
}

static void a_name_that_is_taken_is_stepped_over(void **state)
{
    char               why[100] = "";
    int                others[SXS_CONTROL_NAMES];
    struct sockaddr_un bound;
    socklen_t          len = sizeof(bound);
    char               expected[64];
    (void)state; /* the server of this test has the first name */
    for (unsigned i = 1; i < SXS_CONTROL_NAMES; i++) {
        others[i] = sxs_control_listen(START, why, sizeof(why));
        assert_true(others[i] >= 0);
        len = sizeof(bound);
        assert_int_equal(getsockname(others[i], (struct sockaddr *)&bound, &len), 0);
        snprintf(expected, sizeof(expected), "sxsprof/%d/%llu/%u", (int)getpid(), START, i);
        assert_int_equal(len - offsetof(struct sockaddr_un, sun_path) - 1, strlen(expected));
        assert_memory_equal(bound.sun_path + 1, expected, strlen(expected));
    }
    others[0] = sxs_control_listen(START, why, sizeof(why)); /* all are taken: a random name */
    assert_true(others[0] >= 0);
    len = sizeof(bound);
    assert_int_equal(getsockname(others[0], (struct sockaddr *)&bound, &len), 0);
    snprintf(expected, sizeof(expected), "sxsprof/%d/%llu/", (int)getpid(), START);
    assert_int_equal(len - offsetof(struct sockaddr_un, sun_path) - 1, strlen(expected) + 16);
    assert_memory_equal(bound.sun_path + 1, expected, strlen(expected));
    close(others[0]);
    for (unsigned i = 1; i < SXS_CONTROL_NAMES; i++)
        close(others[i]);
}

static void the_start_time_is_found_behind_any_name(void **state)
{
    static const char plain[] =
        "12 (dotnet) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n";
    static const char odd[] =
        "12 (a) 1 (b)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n";
    unsigned long long start = 0;
    (void)state;
    assert_int_equal(sxs_control_start_time(plain, &start), 0);
    assert_int_equal(start, 4711);
    start = 0;
    assert_int_equal(sxs_control_start_time(odd, &start), 0);
    assert_int_equal(start, 4711);
    assert_int_equal(sxs_control_start_time("12 (dotnet) S 1 2", &start), -1);
    assert_int_equal(sxs_control_start_time("", &start), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_begins_and_ends),
        cmocka_unit_test(wrong_requests_are_refused_with_a_reason),
        cmocka_unit_test(requests_that_arrive_at_once_or_in_pieces_are_answered),
        cmocka_unit_test(clients_that_keep_nothing_moving_are_closed),
        cmocka_unit_test(a_thousand_clients_are_served_while_a_session_ends),
        cmocka_unit_test(a_held_session_ends_with_its_connection),
        cmocka_unit_test(a_session_is_joined_by_its_id),
        cmocka_unit_test(a_session_ends_at_its_time_limit),
        cmocka_unit_test(the_time_limit_of_an_attach_is_that_of_its_session),
        cmocka_unit_test(an_attach_whose_session_cannot_begin_detaches_at_its_time_limit),
        cmocka_unit_test(a_time_limit_is_of_one_session),
        cmocka_unit_test(a_session_that_goes_on_keeps_its_connection_and_its_limit),
        cmocka_unit_test(a_ring_between_two_segments_ends_as_one_that_records),
        cmocka_unit_test(a_name_that_is_taken_is_stepped_over),
        cmocka_unit_test(the_start_time_is_found_behind_any_name),
    };
    return cmocka_run_group_tests_name("control", tests, start_server, NULL);
}
