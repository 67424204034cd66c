/* SPDX-License-Identifier: MIT */
/** sampler.h - the tool "sample": stacks of every thread, by CPU or wall time. */
#ifndef SXS_SAMPLER_H
#define SXS_SAMPLER_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_sample_tool;

#endif
