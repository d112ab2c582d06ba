#include "core/scaling/laws/ipso/ipso_step.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "core/numerics/least_squares.h"

enum { ROWS_LEAST = 7, DISTINCT_LEAST = 3, STEP_PARAMETERS = 5, KINK_PARAMETERS = 4 };

static const double significant = 0.01;
/* The step of TeraSort is over 30 % (IPSO section 2.5); a third of that counts as one. */
static const double jump_least_percent = 10;

/* Sums of a piece, about its own means. */
static double fit_piece(const double n[], const double y[], size_t rows, struct step_piece *piece)
{
    double n_mean = 0;
    double y_mean = 0;
    double nn = 0;
    double ny = 0;
    double rss = 0;
    for (size_t i = 0; i < rows; i++) {
        n_mean += n[i] / (double)rows;
        y_mean += y[i] / (double)rows;
    }
    for (size_t i = 0; i < rows; i++) {
        nn += (n[i] - n_mean) * (n[i] - n_mean);
        ny += (n[i] - n_mean) * (y[i] - y_mean);
    }
    piece->slope = ny / nn;
    piece->offset = y_mean - piece->slope * n_mean;
    for (size_t i = 0; i < rows; i++) {
        double off = y[i] - piece->offset - piece->slope * n[i];
        rss += off * off;
    }
    return rss;
}

static double line_at(const struct step_piece *piece, double n)
{
    return piece->offset + piece->slope * n;
}

/* The place that leaves least; returns what, and how many were tried. */
static double ipso_step_search(const double n[],
                               const double y[],
                               size_t rows,
                               const size_t distinct[],
                               struct step *step,
                               size_t *tried)
{
    double least = (double)INFINITY;
    *tried = 0;
    for (size_t split = 1; split < rows; split++) {
        if (n[split] == n[split - 1] || distinct[split] - 1 < DISTINCT_LEAST ||
            distinct[rows - 1] - distinct[split] + 1 < DISTINCT_LEAST)
            continue;
        struct step_piece before;
        struct step_piece after;
        double rss =
            fit_piece(n, y, split, &before) + fit_piece(n + split, y + split, rows - split, &after);
        ++*tried;
        if (rss >= least)
            continue;
        least = rss;
        *step = (struct step){.last_before = n[split - 1],
                              .first_after = n[split],
                              .at = (n[split - 1] + n[split]) / 2,
                              .before = before,
                              .after = after};
    }
    return least;
}

/* Two lines that meet, at the best of the counts observed and halfway between. */
static enum pv_code fit_kink(const double n[],
                             const double y[],
                             size_t rows,
                             struct arena *scratch,
                             double *least,
                             struct pv_error *err)
{
    double *x = arena_array(scratch, rows, 3 * sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t k = 1; k + 1 < 2 * rows; k++) {
        double joint = k % 2 == 0 ? n[k / 2] : (n[k / 2] + n[k / 2 + 1]) / 2;
        struct linear_fit fit;
        struct pv_error why = {0};
        struct arena_mark mark = arena_mark(scratch);
        for (size_t i = 0; i < rows; i++) {
            x[3 * i] = 1;
            x[3 * i + 1] = n[i];
            x[3 * i + 2] = fmax(0, n[i] - joint);
        }
        enum pv_code code = linear_fit(x, rows, 3, y, NULL, scratch, &fit, &why);
        if (code == PV_E_MEMORY)
            return pv_fail(err, code, "%s", why.detail);
        if (code == PV_OK)
            *least = fmin(*least, fit.rss);
        arena_rewind(scratch, mark);
    }
    return PV_OK;
}

/* The best of what has no step: its BIC, and for the F test the least that one curve leaves. */
static enum pv_code fit_rivals(const double n[],
                               const double y[],
                               size_t rows,
                               struct arena *scratch,
                               double *bic,
                               double *rss,
                               struct pv_error *err)
{
    struct growth growth;
    struct growth bent;
    double kink = (double)INFINITY;
    PV_TRY(growth_fit(n, y, rows, scratch, &growth, err));
    PV_TRY(growth_fit_bent(n, y, rows, scratch, &bent, err));
    PV_TRY(fit_kink(n, y, rows, scratch, &kink, err));
    *bic = fmin(fmin(growth.bic, bent.bic), growth_bic(kink, KINK_PARAMETERS, y, rows));
    *rss = fmin(growth.rss, bent.rss);
    return PV_OK;
}

static double
ipso_step_judge(double one_rss, double two_rss, const double y[], size_t rows, size_t tried)
{
    /* As many as a bent line has, which is what the two lines are held against. */
    const double more = STEP_PARAMETERS - 3;
    double freedom = (double)(rows - STEP_PARAMETERS);
    double rest = fmax(two_rss, 1e-18 * power_law_squares(y, rows));
    double f = (one_rss - two_rss) / more / (rest / freedom);
    return f > 0 ? fmin(1, (double)tried * gsl_cdf_fdist_Q(f, more, freedom)) : 1;
}

static enum pv_code ipso_step_decide(const double n[],
                                     const double y[],
                                     size_t rows,
                                     struct arena *scratch,
                                     struct step *step,
                                     struct pv_error *err)
{
    size_t *distinct = arena_array(scratch, rows, sizeof *distinct);
    if (distinct == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < rows; i++)
        distinct[i] = i == 0 ? 1 : distinct[i - 1] + (n[i] != n[i - 1]);
    struct step found = {.found = false};
    size_t tried;
    double two_rss = ipso_step_search(n, y, rows, distinct, &found, &tried);
    if (tried == 0)
        return PV_OK;
    double below = line_at(&found.before, found.at);
    found.jump_percent = 100 * (line_at(&found.after, found.at) / below - 1);
    if (!(below > 0) || !(found.jump_percent >= jump_least_percent))
        return PV_OK;
    double bic;
    double one_rss;
    PV_TRY(fit_rivals(n, y, rows, scratch, &bic, &one_rss, err));
    found.p_value = ipso_step_judge(one_rss, two_rss, y, rows, tried);
    found.found =
        growth_bic(two_rss, STEP_PARAMETERS, y, rows) < bic && found.p_value < significant;
    if (found.found)
        *step = found;
    return PV_OK;
}

enum pv_code step_find(const double n[],
                       const double y[],
                       size_t rows,
                       struct arena *scratch,
                       struct step *step,
                       struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    memset(step, 0, sizeof *step);
    if (rows < ROWS_LEAST)
        return PV_OK;
    enum pv_code code = ipso_step_decide(n, y, rows, scratch, step, err);
    arena_rewind(scratch, mark);
    return code;
}

void step_refit(const double n[], const double y[], size_t rows, struct step *step)
{
    size_t split = 0;
    while (split < rows && n[split] < step->first_after)
        split++;
    if (split < 2 || rows - split < 2 || n[0] == n[split - 1] || n[split] == n[rows - 1])
        return;
    (void)fit_piece(n, y, split, &step->before);
    (void)fit_piece(n + split, y + split, rows - split, &step->after);
}
