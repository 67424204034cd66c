/* SPDX-License-Identifier: MIT */
/* The engine's log as objects: the host object that receives texts, and the class global_log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clrie/log/log.h"
#include "sxs_clrie.h"

static const GUID plugin_id = {
    0xD2959618, 0xF9B6, 0x4CB6, {0x80, 0xCF, 0xF3, 0xB0, 0xE3, 0x26, 0x38, 0x88}};

/* ---- a host object ----------------------------------------------------------------------------- */

struct host {
    IProfilerManagerLoggingHost com;
    int                         refs;
    int                         logs_itself; /* 1: it logs each text that it receives */
    char                        got[20000];  /* "E:", "M:" or "D:", the text, and '|' */
    size_t                      n;
};

static HRESULT host_QueryInterface(IProfilerManagerLoggingHost *self, const GUID *iid, void **out)
{
    (void)self, (void)iid;
    *out = NULL;
    return E_NOINTERFACE;
}

static ULONG host_AddRef(IProfilerManagerLoggingHost *self)
{
    return (ULONG)++((struct host *)(void *)self)->refs;
}

static ULONG host_Release(IProfilerManagerLoggingHost *self)
{
    return (ULONG)--((struct host *)(void *)self)->refs;
}

static HRESULT receive(IProfilerManagerLoggingHost *self, char kind, const WCHAR *text)
{
    struct host *host = (struct host *)(void *)self;
    host->n += (size_t)snprintf(host->got + host->n, sizeof(host->got) - host->n, "%c:", kind);
    for (; *text; text++)
        host->got[host->n++] = (char)*text;
    host->got[host->n++] = '|';
    host->got[host->n] = '\0';
    if (host->logs_itself)
        clrie_log_error(NULL, text);
    return E_FAIL; /* ignored */
}

static HRESULT host_LogMessage(IProfilerManagerLoggingHost *self, const WCHAR *text)
{
    return receive(self, 'M', text);
}
static HRESULT host_LogError(IProfilerManagerLoggingHost *self, const WCHAR *text)
{
    return receive(self, 'E', text);
}
static HRESULT host_LogDumpMessage(IProfilerManagerLoggingHost *self, const WCHAR *text)
{
    return receive(self, 'D', text);
}

static const IProfilerManagerLoggingHostVtbl host_vtbl = {host_QueryInterface, host_AddRef,
                                                          host_Release,        host_LogMessage,
                                                          host_LogError,       host_LogDumpMessage};

static struct host host;

static int start(void **state)
{
    (void)state;
    unsetenv("MicrosoftInstrumentationEngine_LogLevel");
    unsetenv("MicrosoftInstrumentationEngine_FileLog");
    unsetenv("MicrosoftInstrumentationEngine_FileLogPath");
    memset(&host, 0, sizeof(host));
    host.com.vtbl = &host_vtbl;
    host.refs = 1;
    clrie_log_open();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    clrie_log_close();
    assert_int_equal(clrie_log_flags(), 0);
    assert_int_equal(host.refs, 1); /* each reference was given back */
    return 0;
}

static const WCHAR text[] = {'a', '%', 's', 0};

/* ---- cases ------------------------------------------------------------------------------------- */

static void a_host_gets_texts_and_line_ends(void **state)
{
    (void)state;
    clrie_log_set_flags(CLRIE_LOG_ALL);
    clrie_log_set_host(&host, &host.com);
    clrie_log_message(NULL, text);
    clrie_log_error(NULL, text);
    clrie_log_dump(NULL, text);
    assert_string_equal(host.got, "M:a%s|M:\r\n|E:a%s|E:\r\n|D:a%s|");
}

static void a_host_has_the_level_of_everything(void **state)
{
    (void)state;
    clrie_log_set_host(&host, &host.com);
    assert_int_equal(clrie_log_flags(), 0); /* no level yet */
    clrie_log_error(NULL, text);
    clrie_log_set_file_flags(CLRIE_LOG_ALL); /* of the file alone */
    assert_int_equal(clrie_log_flags(), 0);
    clrie_log_error(NULL, text);
    assert_string_equal(host.got, "");
    clrie_log_set_flags(CLRIE_LOG_RESULTS);
    assert_int_equal(clrie_log_flags(), CLRIE_LOG_RESULTS);
    clrie_log_error(NULL, text);
    clrie_log_dump(NULL, text);
    assert_string_equal(host.got, "D:a%s|");
}

static void a_host_gets_texts_of_plug_ins_with_their_prefix(void **state)
{
    struct clrie_log_plugin plugin;
    (void)state;
    clrie_log_set_flags(CLRIE_LOG_RESULTS);
    clrie_log_set_host(&host, &host.com);
    clrie_log_plugin_start(&plugin, &plugin_id);
    clrie_log_dump(&plugin, text);
    clrie_log_plugin_end(&plugin);
    assert_string_equal(host.got, "D:[IM:D2959618-F9B6-4CB6-80CF-F3B0E3263888]a%s|");
}

static void a_level_of_a_plug_in_reaches_the_host(void **state)
{
    struct clrie_log_plugin plugin;
    (void)state;
    setenv("MicrosoftInstrumentationEngine_LogLevel_d2959618-F9B6-4cb6-80CF-F3B0E3263888", "Dumps",
           1);
    clrie_log_set_host(&host, &host.com);
    clrie_log_plugin_start(&plugin, &plugin_id);
    clrie_log_dump(NULL, text); /* the engine has no level */
    clrie_log_dump(&plugin, text);
    clrie_log_plugin_end(&plugin);
    unsetenv("MicrosoftInstrumentationEngine_LogLevel_d2959618-F9B6-4cb6-80CF-F3B0E3263888");
    assert_string_equal(host.got, "D:[IM:D2959618-F9B6-4CB6-80CF-F3B0E3263888]a%s|");
}

static void a_host_is_replaced_and_removed(void **state)
{
    static struct host other = {.com = {&host_vtbl}, .refs = 1};
    (void)state;
    clrie_log_set_flags(CLRIE_LOG_RESULTS);
    clrie_log_set_host(&host, &host.com);
    assert_int_equal(host.refs, 2);
    clrie_log_set_host(&other, &other.com);
    assert_int_equal(host.refs, 1);
    clrie_log_dump(NULL, text);
    clrie_log_drop_host(&host); /* is another's */
    clrie_log_dump(NULL, text);
    assert_string_equal(other.got, "D:a%s|D:a%s|");
    clrie_log_drop_host(&other);
    assert_int_equal(clrie_log_flags(), 0);
    assert_int_equal(other.refs, 1);
    clrie_log_set_host(&host, &host.com);
    clrie_log_set_host(&host, NULL);
    clrie_log_dump(NULL, text);
    assert_string_equal(host.got, "");
}

static void a_host_that_logs_does_not_call_itself(void **state)
{
    (void)state;
    clrie_log_set_flags(CLRIE_LOG_ALL);
    host.logs_itself = 1;
    clrie_log_set_host(&host, &host.com);
    clrie_log_dump(NULL, text);
    assert_string_equal(host.got, "D:a%s|");
}

static void a_host_gets_long_texts_cut(void **state)
{
    static WCHAR long_text[10000];
    (void)state;
    for (size_t i = 0; i < 9999; i++)
        long_text[i] = 'x';
    clrie_log_set_flags(CLRIE_LOG_RESULTS);
    clrie_log_set_host(&host, &host.com);
    clrie_log_dump(NULL, long_text);
    assert_int_equal(host.n, 2 + CLRIE_LOG_TEXT_MAX + 1);
}

/* The file stays open in the host object's own calls. */
static void the_global_log_is_an_object(void **state)
{
    IProfilerManagerLogging *log = NULL;
    IUnknown                *same = NULL;
    LoggingFlags             flags = 99;
    (void)state;
    assert_int_equal(clrie_log_instance(&log), S_OK);
    assert_int_equal(log->vtbl->GetLoggingFlags(log, &flags), S_OK);
    assert_int_equal(flags, 0);
    assert_int_equal(log->vtbl->SetLoggingFlags(log, LoggingFlags_InstrumentationResults), S_OK);
    clrie_log_set_host(&host, &host.com);
    assert_int_equal(log->vtbl->GetLoggingFlags(log, &flags), S_OK);
    assert_int_equal(flags, LoggingFlags_InstrumentationResults);
    assert_int_equal(log->vtbl->LogDumpMessage(log, text), S_OK);
    assert_int_equal(log->vtbl->LogError(log, text), S_OK); /* not in the level */
    assert_int_equal(log->vtbl->SetLoggingFlags(log, 7), S_OK);
    assert_int_equal(log->vtbl->LogError(log, text), S_OK);
    assert_int_equal(log->vtbl->LogMessage(log, text), S_OK);
    assert_string_equal(host.got, "D:a%s|E:a%s|E:\r\n|M:a%s|M:\r\n|"); /* no prefix */
    assert_int_equal(log->vtbl->EnableDiagnosticLogToDebugPort(log, 1), S_OK);
    assert_int_equal(log->vtbl->LogMessage(log, NULL), E_POINTER);
    assert_int_equal(log->vtbl->LogError(log, NULL), E_POINTER);
    assert_int_equal(log->vtbl->LogDumpMessage(log, NULL), E_POINTER);
    assert_int_equal(log->vtbl->GetLoggingFlags(log, NULL), E_POINTER);
    assert_int_equal(log->vtbl->QueryInterface(log, &IID_IProfilerManagerLogging, (void **)&same),
                     S_OK);
    assert_ptr_equal(same, log);
    assert_int_equal(log->vtbl->QueryInterface(log, &IID_IProfilerManager, (void **)&same),
                     E_NOINTERFACE);
    assert_int_equal(log->vtbl->Release(log), 1);
    assert_int_equal(log->vtbl->Release(log), 0);
}

static void the_global_log_outlives_the_engines(void **state)
{
    IProfilerManagerLogging *log = NULL;
    (void)state;
    assert_int_equal(clrie_log_instance(&log), S_OK);
    clrie_log_close(); /* the engine ends */
    log->vtbl->SetLoggingFlags(log, 7);
    clrie_log_set_host(&host, &host.com);
    assert_int_equal(log->vtbl->LogDumpMessage(log, text), S_OK);
    assert_string_equal(host.got, "D:a%s|");
    log->vtbl->Release(log); /* the last user: drops the host */
    assert_int_equal(host.refs, 1);
    clrie_log_open();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_host_gets_texts_and_line_ends, start, stop),
        cmocka_unit_test_setup_teardown(a_host_has_the_level_of_everything, start, stop),
        cmocka_unit_test_setup_teardown(a_host_gets_texts_of_plug_ins_with_their_prefix, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_level_of_a_plug_in_reaches_the_host, start, stop),
        cmocka_unit_test_setup_teardown(a_host_is_replaced_and_removed, start, stop),
        cmocka_unit_test_setup_teardown(a_host_that_logs_does_not_call_itself, start, stop),
        cmocka_unit_test_setup_teardown(a_host_gets_long_texts_cut, start, stop),
        cmocka_unit_test_setup_teardown(the_global_log_is_an_object, start, stop),
        cmocka_unit_test_setup_teardown(the_global_log_outlives_the_engines, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
