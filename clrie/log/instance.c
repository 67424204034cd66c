/* SPDX-License-Identifier: MIT */
/* instance.c - the class global_log: the log as an object, without a plug-in's prefix. Each object is a
 * user of the log. */
#include "clrie/log/log.h"
#include "sxs_clrie.h"

struct clrie_global_log {
    CLRIE_OBJECT(CLRIE_FACES_global_log);
};

const uint32_t clrie_global_log_size = sizeof(struct clrie_global_log);

HRESULT clrie_log_instance(IProfilerManagerLogging **out)
{
    struct clrie_global_log *log = clrie_new(&clrie_global_log);
    *out = log ? clrie_face(&log->object, CLRIE_FACE_global_log_IProfilerManagerLogging) : NULL;
    if (!log)
        return E_OUTOFMEMORY;
    clrie_log_open();
    return S_OK;
}

void clrie_global_log_end(struct clrie_object *object)
{
    (void)object;
    clrie_log_close();
}

static HRESULT send_text(uint32_t level, const WCHAR *text)
{
    if (!text)
        return E_POINTER;
    clrie_log_write(NULL, level, text);
    return S_OK;
}

HRESULT clrie_global_log_LogMessage(struct clrie_global_log *self, const WCHAR *wszMessage)
{
    (void)self;
    return send_text(CLRIE_LOG_TRACE, wszMessage);
}

HRESULT clrie_global_log_LogError(struct clrie_global_log *self, const WCHAR *wszError)
{
    (void)self;
    return send_text(CLRIE_LOG_ERRORS, wszError);
}

HRESULT clrie_global_log_LogDumpMessage(struct clrie_global_log *self, const WCHAR *wszMessage)
{
    (void)self;
    return send_text(CLRIE_LOG_RESULTS, wszMessage);
}

/* Linux has no debug port. */
HRESULT clrie_global_log_EnableDiagnosticLogToDebugPort(struct clrie_global_log *self, BOOL enable)
{
    (void)self;
    (void)enable;
    return S_OK;
}

HRESULT clrie_global_log_GetLoggingFlags(struct clrie_global_log *self, LoggingFlags *pLoggingFlags)
{
    (void)self;
    *pLoggingFlags = (LoggingFlags)clrie_log_flags();
    return S_OK;
}

HRESULT clrie_global_log_SetLoggingFlags(struct clrie_global_log *self, LoggingFlags loggingFlags)
{
    (void)self;
    clrie_log_set_flags((uint32_t)loggingFlags);
    return S_OK;
}
