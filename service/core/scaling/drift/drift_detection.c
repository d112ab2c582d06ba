#include "core/scaling/drift/drift_detection.h"
#include "base/order.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "core/numerics/quantile.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"

const char *drift_reason_name(enum drift_reason reason)
{
    switch (reason) {
    case DRIFT_FULL:
        return "full";
    case DRIFT_STARVED:
        return "underprovisioned";
    case DRIFT_FAILURES:
        return "task_failures";
    case DRIFT_OUTLYING:
        return "outlier";
    case DRIFT_FADED:
        return "before_drift";
    }
    return "";
}

const char *drift_state_name(enum drift_state state)
{
    switch (state) {
    case DRIFT_UNKNOWN:
        return "unknown";
    case DRIFT_STABLE:
        return "stable";
    case DRIFT_PRESENT:
        return "drifted";
    case DRIFT_SETTLED:
        return "recovered";
    }
    return "";
}

/* --- standardised errors --- */

/* Errors seen so far, of one kind of comparison. */
struct errors {
    double squares;
    double n;
};

struct chart {
    const struct drift_run *runs;
    double *level; /* ln of the duration less the changes before it: all on one level */
    double *error; /* of each run; NAN: not compared */
    bool *learnt;  /* the run is part of what later ones are compared with */
    double shift;  /* that the drifts so far add up to */
    struct errors repeats;
    struct errors laws;
    double last;     /* standardised error of the run before */
    double products; /* of successive standardised errors */
    double squares;
    struct cusum cusum;
    struct cusum_rule rule;
    struct model_fit law;
    size_t law_runs; /* it was fitted to; 0: there is none */
    struct arena *scratch;
    struct arena_mark mark; /* before the law */
};

static bool is_same_place(const struct observation *a, const struct observation *b)
{
    return !(a->problem_size < b->problem_size) && !(a->problem_size > b->problem_size) &&
           !(a->executors < b->executors) && !(a->executors > b->executors) &&
           a->context == b->context;
}

/* Mean level of the runs learnt from at the place of run t; how many there are. */
static size_t find_repeats(const struct chart *chart, size_t t, double *mean)
{
    size_t n = 0;
    double sum = 0;
    for (size_t i = 0; i < t; i++) {
        if (!chart->learnt[i] || !is_same_place(&chart->runs[i].seen, &chart->runs[t].seen))
            continue;
        sum += chart->level[i];
        n++;
    }
    *mean = n == 0 ? (double)NAN : sum / (double)n;
    return n;
}

static enum pv_code fit_law(const struct observation rows[],
                            size_t n,
                            struct arena *scratch,
                            struct model_fit *fit,
                            bool *fitted,
                            struct pv_error *err)
{
    struct pv_error why = {0};
    enum pv_code code = model_fit(&ernest_kind, rows, n, MODEL_RELATIVE, scratch, fit, &why);
    if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    *fitted = code == PV_OK && isfinite(fit->loo_mape_percent);
    return PV_OK;
}

/* Fit anew once the runs learnt from have grown by an eighth. */
static enum pv_code renew_law(struct chart *chart, size_t t, struct pv_error *err)
{
    size_t n = 0;
    bool fitted = false;
    for (size_t i = 0; i < t; i++)
        n += chart->learnt[i];
    if (n < 5 || n < chart->law_runs + chart->law_runs / 8 + 1)
        return PV_OK;
    arena_rewind(chart->scratch, chart->mark);
    struct observation *rows = arena_array(chart->scratch, n, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    n = 0;
    for (size_t i = 0; i < t; i++) {
        if (!chart->learnt[i])
            continue;
        rows[n] = chart->runs[i].seen;
        rows[n].weight = 1;
        rows[n++].duration_s = exp(chart->level[i]);
    }
    enum pv_code code = fit_law(rows, n, chart->scratch, &chart->law, &fitted, err);
    chart->law_runs = fitted ? n : 0;
    return code;
}

/* The normal quantile of an error, given those before it. */
static double standardise(const struct errors *errors, double error, double widening)
{
    double freedom = DRIFT_PRIOR_RUNS + errors->n;
    double variance =
        (DRIFT_PRIOR_RUNS * DRIFT_PRIOR_SPREAD * DRIFT_PRIOR_SPREAD + errors->squares) / freedom;
    double t = error / (sqrt(variance) * widening);
    double p = gsl_cdf_tdist_Q(fabs(t), freedom);
    return copysign(gsl_cdf_ugaussian_Qinv(fmax(p, 1e-12)), error);
}

static void learn_error(struct errors *errors, double error)
{
    double spread =
        sqrt((DRIFT_PRIOR_RUNS * DRIFT_PRIOR_SPREAD * DRIFT_PRIOR_SPREAD + errors->squares) /
             (DRIFT_PRIOR_RUNS + errors->n));
    double cut = fmin(fabs(error), CUSUM_ERROR_MAX * spread);
    errors->squares += cut * cut;
    errors->n++;
}

/* By how much slow waves widen sums of errors: sqrt((1 + r) / (1 - r)) with the correlation r of
 * successive ones, drawn towards 0 while they are few. */
static double wave_factor(const struct chart *chart)
{
    double r = chart->products / (chart->squares + 10);
    r = fmin(fmax(r, 0), 0.9);
    return sqrt((1 + r) / (1 - r));
}

/* Compare run t; its error and standardised error, NAN where there is nothing to compare with. */
static double drift_detection_judge(struct chart *chart, size_t t, bool *repeat)
{
    const struct observation *seen = &chart->runs[t].seen;
    double mean;
    size_t n = find_repeats(chart, t, &mean);
    *repeat = n >= DRIFT_REPEATS;
    if (!*repeat && chart->law_runs > 0) {
        struct model_law law = model_law(&chart->law.model);
        double promised_s = law.kind->duration_s(&law, seen->problem_size, seen->executors);
        mean = promised_s > 0 ? log(promised_s) : (double)NAN;
    } else if (!*repeat) {
        mean = (double)NAN;
    }
    chart->error[t] = chart->level[t] - mean;
    if (isnan(chart->error[t]))
        return (double)NAN;
    if (*repeat)
        return standardise(&chart->repeats, chart->error[t], sqrt(1 + 1 / (double)n));
    double gap = hypot(gap_at(&chart->law.model.uncertainty.seen_executors, seen->executors),
                       gap_at(&chart->law.model.uncertainty.seen_sizes, seen->problem_size));
    return standardise(&chart->laws, chart->error[t], 1 + 2 * gap);
}

/* All runs up to t are on the level as it is now known. */
static void learn_all(struct chart *chart, size_t t)
{
    for (size_t i = 0; i <= t; i++)
        chart->learnt[i] = true;
}

/*
 * Where the new level began: of the runs since the side that signals was last 0, the start whose
 * mean error stands out most, (sum)^2 / n, which is the likeliest one of a step in normal errors
 * (Hawkins and Olwell, section 1.9). At least two runs, for one may be an outlier.
 */
static size_t find_start(const struct chart *chart, size_t t, size_t runs, double *shift)
{
    size_t best = t;
    size_t n = 0;
    double sum = 0;
    double most = -1;
    for (size_t i = t + 1; i > 0 && n < runs; i--) {
        if (isnan(chart->error[i - 1]))
            continue;
        sum += chart->error[i - 1];
        n++;
        if ((n >= 2 || runs == 1) && sum * sum / (double)n > most) {
            most = sum * sum / (double)n;
            best = i - 1;
            *shift = sum / (double)n;
        }
    }
    return best;
}

static void note_drift(struct chart *chart, size_t t, bool slower, struct drift *drift)
{
    double shift = chart->error[t];
    size_t first = find_start(chart, t, slower ? chart->cusum.n_up : chart->cusum.n_down, &shift);
    for (size_t i = first; i <= t; i++)
        chart->level[i] -= shift;
    chart->shift += shift;
    chart->cusum = (struct cusum){0};
    learn_all(chart, t);
    drift->drifts++;
    drift->since = first;
    drift->detected = t;
    drift->slower = slower;
    drift->change_percent = 100 * (exp(shift) - 1);
}

static enum pv_code
drift_run(struct chart *chart, size_t t, struct drift *drift, struct pv_error *err)
{
    bool repeat = false;
    PV_TRY(renew_law(chart, t, err));
    chart->level[t] = log(chart->runs[t].seen.duration_s) - chart->shift;
    double z = drift_detection_judge(chart, t, &repeat);
    if (isnan(z)) {
        chart->learnt[t] = true;
        return PV_OK;
    }
    drift->judged++;
    enum cusum_signal signal = CUSUM_QUIET;
    if (drift->judged > DRIFT_WARM_UP)
        signal = cusum_add(&chart->cusum, &chart->rule, z / wave_factor(chart));
    if (signal != CUSUM_QUIET) {
        note_drift(chart, t, signal == CUSUM_UP, drift);
        return PV_OK;
    }
    learn_error(repeat ? &chart->repeats : &chart->laws, chart->error[t]);
    double cut = fmin(fmax(z, -CUSUM_ERROR_MAX), CUSUM_ERROR_MAX);
    chart->products += cut * chart->last;
    chart->squares += cut * cut;
    chart->last = cut;
    if (cusum_is_quiet(&chart->cusum))
        learn_all(chart, t);
    return PV_OK;
}

/* --- outliers --- */

/* A spread takes as many deviations. */
enum { LEAST_REPEATED = 5, LEAST_ALONE = 8 };

/* How far run `run` is from what the others promise. */
struct deviation {
    size_t run;
    double promised; /* logarithm */
    double off;
};

struct deviations {
    struct deviation *items;
    size_t n;
};

/* Median logarithm of the other runs at the place of run i; how many there are. */
static size_t find_others(const struct drift_run runs[],
                          size_t first,
                          size_t n,
                          size_t i,
                          double room[],
                          double *promised)
{
    size_t others = 0;
    for (size_t j = first; j < n; j++)
        if (j != i && is_same_place(&runs[j].seen, &runs[i].seen))
            room[others++] = log(runs[j].seen.duration_s);
    *promised = others == 0 ? (double)NAN : quantile_median(room, others);
    return others;
}

/* No other run lies on its far side, along either axis that was varied. */
static bool is_at_an_end(const struct drift_run runs[], size_t first, size_t n, size_t i)
{
    const struct observation *seen = &runs[i].seen;
    bool fewer = false, more = false, smaller = false, larger = false, counts = false;
    bool sizes = false;
    for (size_t j = first; j < n; j++) {
        const struct observation *other = &runs[j].seen;
        if (j == i)
            continue;
        fewer = fewer || other->executors <= seen->executors;
        more = more || other->executors >= seen->executors;
        smaller = smaller || other->problem_size <= seen->problem_size;
        larger = larger || other->problem_size >= seen->problem_size;
        counts = counts || other->executors < seen->executors || other->executors > seen->executors;
        sizes = sizes || other->problem_size < seen->problem_size ||
                other->problem_size > seen->problem_size;
    }
    return (counts && !(fewer && more)) || (sizes && !(smaller && larger));
}

/* Runs beyond DRIFT_OUTLIER robust standard deviations count less the further they are off. */
static void drift_detection_weigh(const struct deviations *all,
                                  size_t least,
                                  double noise,
                                  double room[],
                                  struct drift_verdict verdicts[])
{
    if (all->n < least)
        return;
    for (size_t i = 0; i < all->n; i++)
        room[i] = fabs(all->items[i].off);
    double spread = fmax(noise, 1.4826 * quantile_median(room, all->n));
    for (size_t i = 0; i < all->n; i++) {
        const struct deviation *item = &all->items[i];
        double far = fabs(item->off) / spread;
        double weight = DRIFT_OUTLIER / far * (DRIFT_OUTLIER / far);
        struct drift_verdict *verdict = &verdicts[item->run];
        if (!(far > DRIFT_OUTLIER) || verdict->weight <= weight)
            continue;
        *verdict = (struct drift_verdict){fmax(weight, DRIFT_LEAST_WEIGHT), DRIFT_OUTLYING,
                                          exp(item->promised), far};
    }
}

/* Runs that are alone at their place, against the law fitted without them. */
static enum pv_code compare_alone(const struct drift_run runs[],
                                  size_t first,
                                  size_t n,
                                  const bool alone[],
                                  const struct drift_verdict verdicts[],
                                  struct arena *scratch,
                                  struct deviations *found,
                                  struct pv_error *err)
{
    bool fitted = false;
    struct model_fit fit;
    struct observation *rows = arena_array(scratch, n, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        rows[i] = runs[i].seen;
        rows[i].weight = verdicts[i].weight;
    }
    PV_TRY(fit_law(rows, n, scratch, &fit, &fitted, err));
    for (size_t k = 0; fitted && k < fit.n; k++) {
        const struct model_residual *residual = &fit.residuals[k];
        size_t i = residual->observation;
        if (i < first || !alone[i] || !(residual->left_out > 0) || is_at_an_end(runs, first, n, i))
            continue;
        found->items[found->n++] = (struct deviation){i, log(residual->left_out),
                                                      log(residual->actual / residual->left_out)};
    }
    return PV_OK;
}

static enum pv_code weigh_outliers(const struct drift_run runs[],
                                   size_t first,
                                   size_t n,
                                   struct arena *scratch,
                                   struct drift_verdict verdicts[],
                                   struct pv_error *err)
{
    struct deviations repeated = {arena_array(scratch, n, sizeof *repeated.items), 0};
    struct deviations single = {arena_array(scratch, n, sizeof *single.items), 0};
    double *room = arena_array(scratch, n, sizeof *room);
    bool *alone = arena_calloc(scratch, n, sizeof *alone);
    size_t n_alone = 0;
    if (repeated.items == NULL || single.items == NULL || room == NULL || alone == NULL)
        return pv_no_memory(err);
    for (size_t i = first; i < n; i++) {
        double promised;
        size_t others = find_others(runs, first, n, i, room, &promised);
        alone[i] = others == 0;
        n_alone += alone[i];
        if (others >= 2) /* one other does not say which of the two is wrong */
            repeated.items[repeated.n++] =
                (struct deviation){i, promised, log(runs[i].seen.duration_s) - promised};
    }
    if (n_alone >= LEAST_ALONE)
        PV_TRY(compare_alone(runs, first, n, alone, verdicts, scratch, &single, err));
    drift_detection_weigh(&repeated, LEAST_REPEATED, DRIFT_NOISE, room, verdicts);
    drift_detection_weigh(&single, LEAST_ALONE, DRIFT_LAW_NOISE, room, verdicts);
    return PV_OK;
}

/* --- what becomes of old runs --- */

static void fade(size_t n, const struct drift *drift, struct drift_verdict verdicts[])
{
    double left = pow(0.5, (double)(n - drift->since));
    for (size_t i = 0; i < drift->since; i++) {
        verdicts[i].weight = fmax(left, DRIFT_LEAST_WEIGHT);
        verdicts[i].reason = DRIFT_FADED;
    }
}

static void set_state(size_t n, struct drift *drift)
{
    drift->state = drift->judged > 0 ? DRIFT_STABLE : DRIFT_UNKNOWN;
    if (drift->drifts == 0)
        return;
    drift->runs_since = n - drift->since;
    double old =
        (double)drift->since * fmax(pow(0.5, (double)drift->runs_since), DRIFT_LEAST_WEIGHT);
    bool caught_up = n - drift->detected > DRIFT_CAUGHT_UP && old < (double)drift->runs_since;
    drift->state = caught_up ? DRIFT_SETTLED : DRIFT_PRESENT;
}

/* What executors were there on the mean in most runs: some of the time none is, in any run. NAN:
 * too few state it. */
static double usual_share(const struct drift_run runs[], size_t n, double room[])
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(runs[i].executors_share))
            room[known++] = runs[i].executors_share;
    return known < DRIFT_REPEATS ? (double)NAN : quantile_median(room, known);
}

static void judge_trouble(const struct drift_run runs[],
                          size_t n,
                          double room[],
                          struct drift_verdict verdicts[])
{
    double usual = usual_share(runs, n, room);
    for (size_t i = 0; i < n; i++) {
        bool starved = runs[i].executors_asked > runs[i].seen.executors ||
                       runs[i].executors_share < DRIFT_STARVED_SHARE * usual;
        bool failures = runs[i].failed_share > DRIFT_FAILED_SHARE;
        if ((!starved && !failures) || verdicts[i].weight < DRIFT_TROUBLED_WEIGHT)
            continue;
        verdicts[i].weight = DRIFT_TROUBLED_WEIGHT;
        verdicts[i].reason = starved ? DRIFT_STARVED : DRIFT_FAILURES;
    }
}

enum pv_code drift_watch(const struct drift_run runs[],
                         size_t n,
                         struct arena *scratch,
                         struct drift_verdict verdicts[],
                         struct drift *drift,
                         struct pv_error *err)
{
    struct arena_mark before = arena_mark(scratch);
    struct chart chart = {.runs = runs,
                          .level = arena_array(scratch, n, sizeof(double)),
                          .error = arena_array(scratch, n, sizeof(double)),
                          .learnt = arena_calloc(scratch, n, sizeof(bool)),
                          .rule = cusum_rule(DRIFT_REFERENCE, DRIFT_RUN_LENGTH),
                          .scratch = scratch};
    struct drift made = {.rule = chart.rule};
    enum pv_code code = PV_OK;
    if (chart.level == NULL || chart.error == NULL || chart.learnt == NULL)
        code = pv_no_memory(err);
    chart.mark = arena_mark(scratch);
    for (size_t t = 0; t < n && code == PV_OK; t++)
        code = drift_run(&chart, t, &made, err);
    for (size_t i = 0; i < n; i++)
        verdicts[i] = (struct drift_verdict){1, DRIFT_FULL, (double)NAN, (double)NAN};
    if (code == PV_OK) {
        made.up = chart.cusum.up;
        made.down = chart.cusum.down;
        set_state(n, &made);
        fade(n, &made, verdicts);
        judge_trouble(runs, n, chart.level, verdicts);
        code = weigh_outliers(runs, made.since, n, scratch, verdicts, err);
    }
    arena_rewind(scratch, before);
    if (code == PV_OK)
        *drift = made;
    return code;
}
