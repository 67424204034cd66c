/* SPDX-License-Identifier: MIT */
/**
 * info.h - which version of ICorProfilerInfo brought what this library uses.
 *
 * A runtime is asked for the versions that it has (QueryInterface), so this is not a fact of a version
 * of .NET: sxs_runtime_has() of manager/runtime.h answers. Code that cannot ask a
 * runtime, such as the checks before an attach, compares with the column `info` of facts.h.
 */
#ifndef SXS_RUNTIME_FACTS_INFO_H
#define SXS_RUNTIME_FACTS_INFO_H

/** Lowest version of ICorProfilerInfo with these functions. Source: corprof.idl. */
enum sxs_info_since {
    SXS_INFO_REJIT = 4,           /* RequestReJIT() */
    SXS_INFO_EVENT_MASK_2 = 5,    /* SetEventMask2(): high bits, such as COR_PRF_HIGH_BASIC_GC */
    SXS_INFO_APPLY_METADATA = 7,  /* ApplyMetaData() */
    SXS_INFO_DYNAMIC_UNLOADS = 9, /* COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS */
    SXS_INFO_NATIVE_CODE = 9,     /* GetNativeCodeStartAddresses(): all code of a method */
    SXS_INFO_SUSPEND = 10,        /* SuspendRuntime() */
    SXS_INFO_EVENT_PIPE = 12,     /* EventPipeStartSession() */
    SXS_INFO_HANDLES = 13,        /* CreateHandle(), GetObjectIDFromHandle() */
    SXS_INFO_HEAP_WALK = 15,      /* EnumerateGCHeapObjects() */
};

#endif
