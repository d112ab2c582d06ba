#include "core/scaling/laws/startup_overhead.h"

#include <math.h>
#include <stdlib.h>

#include "core/numerics/least_squares.h"

/* What the rows on one executor count add up to. */
struct group {
    double m;
    double w; /* sum of w^2 */
    double t; /* sum of w^2 t */
};

struct groups {
    struct group *items;
    size_t n;
    size_t *of; /* group of each row */
};

/* The line A + B min(m, theta) and how far it is from the means of the groups. */
struct line {
    double a;
    double b;
    double theta;
    double sum;
    size_t at; /* group at or before theta */
};

double startup_factor(double epsilon, double theta, double m)
{
    return 1 - epsilon + epsilon * fmin(m, theta);
}

/* --- groups --- */

static int by_executors(const void *a, const void *b)
{
    const struct group *x = a;
    const struct group *y = b;
    return (x->m > y->m) - (x->m < y->m);
}

static size_t find_group(const struct groups *g, double m)
{
    size_t low = 0;
    size_t high = g->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(g->items[middle].m <= m ? &low : &high) = middle;
    }
    return low;
}

static bool make_groups(const double executors[],
                        const double times_s[],
                        const double weights[],
                        size_t n,
                        struct arena *scratch,
                        struct groups *g)
{
    g->items = arena_calloc(scratch, n, sizeof *g->items);
    g->of = arena_array(scratch, n, sizeof *g->of);
    if (g->items == NULL || g->of == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        g->items[i].m = executors[i];
    qsort(g->items, n, sizeof *g->items, by_executors);
    g->n = 0;
    for (size_t i = 0; i < n; i++)
        if (g->n == 0 || g->items[i].m > g->items[g->n - 1].m)
            g->items[g->n++] = g->items[i];
    for (size_t i = 0; i < n; i++) {
        double w = weights == NULL ? 1 : weights[i];
        g->of[i] = find_group(g, executors[i]);
        g->items[g->of[i]].w += w * w;
        g->items[g->of[i]].t += w * w * times_s[i];
    }
    return true;
}

/* --- one theta, one gap --- */

static void startup_overhead_measure(const struct groups *g, struct line *line)
{
    line->sum = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct group *at = &g->items[i];
        double off = line->a + line->b * fmin(at->m, line->theta);
        if (at->w > 0) {
            off -= at->t / at->w;
            line->sum += at->w * off * off;
        }
    }
}

/* The line of least squares through min(m, theta) of groups [0, n) with both coefficients >= 0. */
static void draw(const struct groups *g, size_t n, double theta, struct line *line)
{
    double w = 0;
    double x = 0;
    double t = 0;
    for (size_t i = 0; i < n; i++) {
        w += g->items[i].w;
        x += g->items[i].w * fmin(g->items[i].m, theta);
        t += g->items[i].t;
    }
    double mean_x = x / w;
    double mean_t = t / w;
    double xx = 0;
    double xt = 0;
    double raw = 0; /* sum of x^2 */
    for (size_t i = 0; i < n; i++) {
        double at = fmin(g->items[i].m, theta);
        double off = at - mean_x;
        xx += g->items[i].w * off * off;
        xt += off * (g->items[i].t - g->items[i].w * mean_t);
        raw += g->items[i].w * at * at;
    }
    line->theta = theta;
    line->b = xx > 0 ? fmax(0, xt / xx) : 0;
    line->a = mean_t - line->b * mean_x;
    if (line->a < 0) {
        line->a = 0;
        line->b = (xt + mean_t * x) / raw;
    }
}

static void keep_better(const struct groups *g, struct line *line, size_t at, struct line *best)
{
    startup_overhead_measure(g, line);
    line->at = at;
    if (line->sum < best->sum)
        *best = *line;
}

/* theta inside the gap after group k: the line through what lies left of it meets the mean of what
 * lies right of it. */
static void try_gap(const struct groups *g, size_t k, struct line *best)
{
    struct line line;
    double w = 0;
    double t = 0;
    for (size_t i = k + 1; i < g->n; i++) {
        w += g->items[i].w;
        t += g->items[i].t;
    }
    if (!(w > 0))
        return;
    draw(g, k + 1, g->items[k].m, &line);
    line.theta = line.b > 0 ? (t / w - line.a) / line.b : 0;
    /* At the rim of the gap it is a count, which is tried by itself. */
    if (line.theta > g->items[k].m * (1 + 1e-9) && line.theta < g->items[k + 1].m * (1 - 1e-9))
        keep_better(g, &line, k, best);
}

/* Over the counts and gaps from group `from` to group `to`; among equals the largest theta, so that
 * nothing is called saturated without need. */
static struct line startup_overhead_search(const struct groups *g, size_t from, size_t to)
{
    struct line best = {.sum = (double)INFINITY};
    for (size_t k = to + 1; k-- > from;) {
        struct line line;
        if (k > 0 && k + 1 < g->n)
            try_gap(g, k, &best);
        if (g->items[k].w > 0 || k == to) {
            draw(g, g->n, g->items[k].m, &line);
            keep_better(g, &line, k, &best);
        }
    }
    return best;
}

/* --- what is known of the parameters --- */

/* Derivatives of the time by t0, epsilon, theta, for those the data determine. */
static size_t
startup_overhead_differentiate(const struct startup *fit, double m, double row[3], size_t which[3])
{
    bool inner = fit->epsilon > 0 && fit->epsilon < 1;
    size_t k = 0;
    which[k] = 0;
    row[k++] = startup_factor(fit->epsilon, fit->theta, m);
    if (inner) {
        which[k] = 1;
        row[k++] = fit->t0_s * (fmin(m, fit->theta) - 1);
    }
    if (fit->epsilon > 0 && fit->saturates) {
        which[k] = 2;
        row[k++] = m > fit->theta ? fit->t0_s * fit->epsilon : 0;
    }
    return k;
}

static enum pv_code set_variance(const double executors[],
                                 const double times_s[],
                                 const double weights[],
                                 size_t n,
                                 struct arena *scratch,
                                 struct startup *fit,
                                 struct pv_error *err)
{
    struct linear_fit linear;
    struct pv_error why = {0};
    size_t which[3];
    double row[3];
    size_t k = startup_overhead_differentiate(fit, 1, row, which);
    double *x = arena_array(scratch, n, k * sizeof *x);
    double *residuals = arena_array(scratch, n, sizeof *residuals);
    if (x == NULL || residuals == NULL)
        return pv_no_memory(err);
    double squares = 0;
    double sizes = 0;
    for (size_t i = 0; i < n; i++) {
        double w = weights == NULL ? 1 : weights[i];
        (void)startup_overhead_differentiate(fit, executors[i], &x[i * k], which);
        residuals[i] =
            times_s[i] - fit->t0_s * startup_factor(fit->epsilon, fit->theta, executors[i]);
        squares += w * w * residuals[i] * residuals[i];
        sizes += w * w * times_s[i] * times_s[i];
    }
    fit->freedom = n > k ? (double)(n - k) : 0;
    fit->variance = n > k ? fmax(squares, sizes * 2e-28) / fit->freedom : (double)NAN;
    enum pv_code code = linear_fit(x, n, k, residuals, weights, scratch, &linear, &why);
    if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    for (size_t a = 0; a < k && code == PV_OK && fit->freedom > 0; a++)
        for (size_t b = 0; b < k; b++)
            fit->covariance[which[a]][which[b]] = fit->variance * linear.inverse[a][b];
    return PV_OK;
}

/* --- without one row --- */

static void startup_overhead_leave_out(struct groups *g,
                                       const struct line *best,
                                       const double executors[],
                                       const double times_s[],
                                       const double weights[],
                                       size_t n,
                                       double left_out_s[])
{
    bool full = g->n <= STARTUP_FULL;
    size_t from = full || best->at < 2 ? 0 : best->at - 2;
    size_t to = full || best->at + 2 >= g->n ? g->n - 1 : best->at + 2;
    for (size_t i = 0; i < n; i++) {
        struct group *group = &g->items[g->of[i]];
        struct group kept = *group;
        double w = weights == NULL ? 1 : weights[i];
        group->w = kept.w - w * w > 1e-12 * kept.w ? kept.w - w * w : 0;
        group->t = group->w > 0 ? kept.t - w * w * times_s[i] : 0;
        struct line line = startup_overhead_search(g, from, to);
        left_out_s[i] = n > 1 ? line.a + line.b * fmin(executors[i], line.theta) : (double)NAN;
        *group = kept;
    }
}

enum pv_code startup_fit(const double executors[],
                         const double times_s[],
                         const double weights[],
                         size_t n,
                         struct arena *scratch,
                         double left_out_s[],
                         struct startup *fit,
                         struct pv_error *err)
{
    struct groups g;
    struct arena_mark mark = arena_mark(scratch);
    if (!make_groups(executors, times_s, weights, n, scratch, &g))
        return pv_no_memory(err);
    struct line best = startup_overhead_search(&g, 0, g.n - 1);
    struct startup made = {.t0_s = best.a + best.b, .theta = best.theta};
    made.epsilon = made.t0_s > 0 ? best.b / made.t0_s : 0;
    double largest = g.items[g.n - 1].m;
    made.saturates = made.epsilon > 0 && best.theta < largest;
    if (made.epsilon == 0)
        made.theta = largest;
    enum pv_code code = set_variance(executors, times_s, weights, n, scratch, &made, err);
    if (code == PV_OK && left_out_s != NULL)
        startup_overhead_leave_out(&g, &best, executors, times_s, weights, n, left_out_s);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *fit = made;
    return code;
}
