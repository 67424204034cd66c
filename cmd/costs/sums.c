/* SPDX-License-Identifier: MIT */
#include "cmd/costs/sums.h"

#include <math.h>

double sxs_cost_error(double var, double v)
{
    return v > 0 && var > 0 ? sqrt(var) / v : 0;
}
