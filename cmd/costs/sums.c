/* SPDX-License-Identifier: MIT */
#include "cmd/costs/sums.h"

#include <math.h>

#define TAIL 0.025 /* the chance that the true value is below, or above, an interval */
#define LARGE \
    1000 /* values of alpha from which on the distribution is nearly that of a transformed normal */

/* ---- gamma distributions --------------------------------------------------------------------- */

struct gamma {
    double alpha, scale;
};

static struct gamma gamma_of(double mean, double var)
{
    return (struct gamma){mean * mean / var, var / mean};
}

/* Approximation of Wilson and Hilferty: the cube root is nearly normal. */
static double chance_large(double a, double x)
{
    double z = (cbrt(x / a) - 1 + 1 / (9 * a)) * 3 * sqrt(a);
    return erfc(-z / M_SQRT2) / 2;
}

static double chance_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int i = 1; i < 10000 && term > sum * 1e-12; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* The continued fraction of the other tail, from its far end (Lentz). */
static double chance_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d, delta = 0;
    for (int i = 1; i < 10000 && fabs(delta - 1) > 1e-12; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        c = b + an / c;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        delta = c * d;
        h *= delta;
    }
    return 1 - h * exp(a * log(x) - x - lgamma(a));
}

/* Returns the chance that a gamma distributed number is at most @v. */
static double chance_below(const struct gamma *g, double v)
{
    double a = g->alpha, x = v / g->scale;
    if (!(x > 0))
        return 0;
    return a >= LARGE  ? chance_large(a, x)
           : x < a + 1 ? chance_series(a, x)
                       : chance_fraction(a, x);
}

/* ---- intervals -------------------------------------------------------------------------------- */

/* Returns the number below which both distributions together have the chance @p. */
static double quantile(const struct gamma g[2], double p)
{
    double low = 0, high = g[1].alpha * g[1].scale;
    while (chance_below(&g[0], high) + chance_below(&g[1], high) < 2 * p)
        high *= 2;
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        double v = (low + high) / 2;
        if (chance_below(&g[0], v) + chance_below(&g[1], v) < 2 * p)
            low = v;
        else
            high = v;
    }
    return (low + high) / 2;
}

struct estimate {
    double sum, recorded, var; /* recorded: the part of the sum that is known; var: its variance */
    double one, top_var;       /* the cost of one more record, and what it adds to the variance */
};

/* A sum consists of whole costs, so the bounds of the distributions, which have no steps, are moved by half a
 * cost. */
static struct sxs_cost_interval interval_of(const struct estimate *e)
{
    double rest = e->sum - e->recorded;
    double top = (sqrt(e->one * e->one + 4 * e->top_var) - e->one) / 2; /* (n - 1) * one */
    if (!(rest > 0 && e->var > 0 && isfinite(rest * rest / e->var) && isfinite(top + e->top_var)))
        return (struct sxs_cost_interval){e->sum, e->sum};
    const struct gamma g[2] = {gamma_of(rest, e->var), gamma_of(rest + top, e->var + e->top_var)};
    struct sxs_cost_interval out = {quantile(g, TAIL) - e->one / 2,
                                    quantile(g, 1 - TAIL) + e->one / 2};
    out.low = e->recorded + (out.low > 0 ? out.low : 0);
    out.high += e->recorded;
    return out;
}

struct sxs_cost_interval sxs_cost_interval_n(const struct sxs_cost_sum *s)
{
    double                top = s->differ ? 2 * s->top_n : s->top_n;
    const struct estimate e = {s->n, (double)s->records, s->var_n, 1, top * (top - 1)};
    return interval_of(&e);
}

struct sxs_cost_interval sxs_cost_interval_value(const struct sxs_cost_sum *s)
{
    const struct estimate e = {s->value, s->recorded, s->var_value, s->top_value, s->top_var};
    return interval_of(&e);
}

double sxs_cost_error(double var, double v)
{
    return v > 0 && var > 0 ? sqrt(var) / v : 0;
}
