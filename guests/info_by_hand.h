/* SPDX-License-Identifier: MIT */
/** info_by_hand.h - the methods of a guest's Info that are written by hand outside info.c. */
#ifndef SXS_GUESTS_INFO_BY_HAND_H
#define SXS_GUESTS_INFO_BY_HAND_H

#include "guests/guest.h"

HRESULT guest_info_SetEnterLeaveFunctionHooks(ICorProfilerInfo15 *self, FunctionEnter *pFuncEnter,
                                              FunctionLeave    *pFuncLeave,
                                              FunctionTailcall *pFuncTailcall);
HRESULT guest_info_SetEnterLeaveFunctionHooks2(ICorProfilerInfo15 *self, FunctionEnter2 *pFuncEnter,
                                               FunctionLeave2    *pFuncLeave,
                                               FunctionTailcall2 *pFuncTailcall);
HRESULT guest_info_SetEnterLeaveFunctionHooks3(ICorProfilerInfo15 *self,
                                               FunctionEnter3     *pFuncEnter3,
                                               FunctionLeave3     *pFuncLeave3,
                                               FunctionTailcall3  *pFuncTailcall3);
HRESULT guest_info_SetEnterLeaveFunctionHooks3WithInfo(
    ICorProfilerInfo15 *self, FunctionEnter3WithInfo *pFuncEnter3WithInfo,
    FunctionLeave3WithInfo *pFuncLeave3WithInfo, FunctionTailcall3WithInfo *pFuncTailcall3WithInfo);
HRESULT guest_info_SetFunctionIDMapper(ICorProfilerInfo15 *self, FunctionIDMapper *pFunc);
HRESULT guest_info_SetFunctionIDMapper2(ICorProfilerInfo15 *self, FunctionIDMapper2 *pFunc,
                                        void *clientData);
HRESULT guest_info_GetFunctionEnter3Info(ICorProfilerInfo15 *self, FunctionID functionId,
                                         COR_PRF_ELT_INFO eltInfo, COR_PRF_FRAME_INFO *pFrameInfo,
                                         ULONG                          *pcbArgumentInfo,
                                         COR_PRF_FUNCTION_ARGUMENT_INFO *pArgumentInfo);
HRESULT guest_info_GetFunctionLeave3Info(ICorProfilerInfo15 *self, FunctionID functionId,
                                         COR_PRF_ELT_INFO eltInfo, COR_PRF_FRAME_INFO *pFrameInfo,
                                         COR_PRF_FUNCTION_ARGUMENT_RANGE *pRetvalRange);
HRESULT guest_info_GetFunctionTailcall3Info(ICorProfilerInfo15 *self, FunctionID functionId,
                                            COR_PRF_ELT_INFO    eltInfo,
                                            COR_PRF_FRAME_INFO *pFrameInfo);
HRESULT guest_info_GetILFunctionBody(ICorProfilerInfo15 *self, ModuleID moduleId,
                                     mdMethodDef methodId, LPCBYTE *ppMethodHeader,
                                     ULONG *pcbMethodSize);
HRESULT guest_info_SetILFunctionBody(ICorProfilerInfo15 *self, ModuleID moduleId,
                                     mdMethodDef methodid, LPCBYTE pbNewILMethodHeader);
HRESULT guest_info_SetILInstrumentedCodeMap(ICorProfilerInfo15 *self, FunctionID functionId,
                                            BOOL fStartJit, ULONG cILMapEntries,
                                            COR_IL_MAP *rgILMapEntries);
HRESULT guest_info_RequestReJIT(ICorProfilerInfo15 *self, ULONG cFunctions, ModuleID *moduleIds,
                                mdMethodDef *methodIds);
HRESULT guest_info_RequestRevert(ICorProfilerInfo15 *self, ULONG cFunctions, ModuleID *moduleIds,
                                 mdMethodDef *methodIds, HRESULT *status);
HRESULT guest_info_RequestReJITWithInliners(ICorProfilerInfo15 *self, DWORD dwRejitFlags,
                                            ULONG cFunctions, ModuleID *moduleIds,
                                            mdMethodDef *methodIds);
HRESULT guest_info_EventPipeStartSession(ICorProfilerInfo15 *self, UINT32 cProviderConfigs,
                                         COR_PRF_EVENTPIPE_PROVIDER_CONFIG *pProviderConfigs,
                                         BOOL requestRundown, EVENTPIPE_SESSION *pSession);
HRESULT guest_info_EventPipeAddProviderToSession(ICorProfilerInfo15               *self,
                                                 EVENTPIPE_SESSION                 session,
                                                 COR_PRF_EVENTPIPE_PROVIDER_CONFIG providerConfig);
HRESULT guest_info_EventPipeStopSession(ICorProfilerInfo15 *self, EVENTPIPE_SESSION session);
HRESULT guest_info_RequestProfilerDetach(ICorProfilerInfo15 *self,
                                         DWORD               dwExpectedCompletionMilliseconds);

#endif
