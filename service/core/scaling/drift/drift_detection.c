#include "core/scaling/drift/drift_detection.h"
#include "base/order.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "core/numerics/quantile.h"
#include "core/scaling/drift/places.h"
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

/* A law of the runs of one group, to compare those with that have no repeats. */
struct group_law {
    size_t learnt; /* runs of the group that are learnt from */
    size_t tried;  /* so many they were when it was last fitted, whether or not that succeeded */
    bool fitted;   /* there is a law: */
    struct model_law law;
    struct gap_axis executors;
    struct gap_axis sizes;
};

/* The runs at one place that are learnt from. */
struct repeats {
    double levels; /* added up */
    size_t n;
};

struct chart {
    const struct drift_run *runs;
    struct places places;
    struct repeats *repeated; /* of each place */
    struct group_law **laws;  /* of each group; NULL: it has too few runs for one */
    double *level;            /* ln of the duration less the changes before it: all on one level */
    double *error;            /* of each run; NAN: not compared */
    bool *learnt;             /* the run is part of what later ones are compared with */
    size_t learnt_to;         /* all runs before this one are */
    double shift;             /* that the drifts so far add up to */
    struct errors repeats;
    struct errors against_laws;
    double last;     /* standardised error of the run before */
    double products; /* of successive standardised errors */
    double squares;
    struct cusum cusum;
    struct cusum_rule rule;
    struct arena *scratch;
};

/* A law has at least three parameters and takes one run more to show how far it errs; one of few
 * runs says little. */
enum { LAW_RUNS = 5 };

static enum pv_code
find_places(const struct chart *chart, size_t n, struct places *places, struct pv_error *err)
{
    struct place *of = arena_array(chart->scratch, n, sizeof *of);
    if (of == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        of[i] = (struct place){chart->runs[i].group, chart->runs[i].seen.problem_size,
                               chart->runs[i].seen.executors};
    return places_find(of, n, chart->scratch, places, err);
}

static enum pv_code make_chart(struct chart *chart, size_t n, struct pv_error *err)
{
    struct arena *scratch = chart->scratch;
    chart->level = arena_array(scratch, n, sizeof *chart->level);
    chart->error = arena_array(scratch, n, sizeof *chart->error);
    chart->learnt = arena_calloc(scratch, n, sizeof *chart->learnt);
    if (chart->level == NULL || chart->error == NULL || chart->learnt == NULL)
        return pv_no_memory(err);
    PV_TRY(find_places(chart, n, &chart->places, err));
    chart->repeated = arena_calloc(scratch, chart->places.n_places, sizeof *chart->repeated);
    chart->laws = arena_calloc(scratch, chart->places.n_groups, sizeof *chart->laws);
    if (chart->repeated == NULL || chart->laws == NULL)
        return pv_no_memory(err);
    for (size_t g = 0; g < chart->places.n_groups; g++) {
        if (chart->places.groups[g].n < LAW_RUNS)
            continue;
        chart->laws[g] = arena_calloc(scratch, 1, sizeof *chart->laws[g]);
        if (chart->laws[g] == NULL)
            return pv_no_memory(err);
    }
    return PV_OK;
}

static void learn(struct chart *chart, size_t i)
{
    struct repeats *repeated = &chart->repeated[chart->places.place_of[i]];
    struct group_law *law = chart->laws[chart->places.group_of[i]];
    if (chart->learnt[i])
        return;
    chart->learnt[i] = true;
    repeated->levels += chart->level[i];
    repeated->n++;
    if (law != NULL)
        law->learnt++;
}

/* All runs up to t are on the level as it is now known. */
static void learn_all(struct chart *chart, size_t t)
{
    for (; chart->learnt_to <= t; chart->learnt_to++)
        learn(chart, chart->learnt_to);
}

static void lower(struct chart *chart, size_t i, double shift)
{
    chart->level[i] -= shift;
    if (chart->learnt[i])
        chart->repeated[chart->places.place_of[i]].levels -= shift;
}

/* Rows of one group, which no longer know of others. */
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

/* The run as a row of a fit for its group. */
static struct observation row_of(const struct drift_run *run, double weight)
{
    struct observation row = run->seen;
    row.context = 0;
    row.weight = weight;
    return row;
}

/* Fit the law of a group to what is learnt from; one that cannot be fitted anew stays as it was. */
static enum pv_code fit_group(struct chart *chart, size_t group, struct pv_error *err)
{
    const struct place_span *span = &chart->places.groups[group];
    struct group_law *law = chart->laws[group];
    struct model_fit fit;
    bool fitted = false;
    size_t n = 0;
    struct observation *rows = arena_array(chart->scratch, law->learnt, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    for (size_t k = 0; k < span->n; k++) {
        size_t i = chart->places.order[span->from + k];
        if (!chart->learnt[i])
            continue;
        rows[n] = row_of(&chart->runs[i], 1);
        rows[n++].duration_s = exp(chart->level[i]);
    }
    law->tried = n;
    PV_TRY(fit_law(rows, n, chart->scratch, &fit, &fitted, err));
    if (!fitted)
        return PV_OK;
    law->fitted = true;
    law->law = model_law(&fit.model);
    law->executors = fit.model.uncertainty.seen_executors;
    law->sizes = fit.model.uncertainty.seen_sizes;
    return PV_OK;
}

/* Once the runs learnt from have grown by an eighth. */
static enum pv_code renew_law(struct chart *chart, size_t group, struct pv_error *err)
{
    const struct group_law *law = chart->laws[group];
    if (law == NULL || law->learnt < LAW_RUNS || law->learnt < law->tried + law->tried / 8 + 1)
        return PV_OK;
    struct arena_mark mark = arena_mark(chart->scratch);
    enum pv_code code = fit_group(chart, group, err);
    arena_rewind(chart->scratch, mark);
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

static double promised_by_law(const struct group_law *law, const struct observation *seen)
{
    if (law == NULL || !law->fitted)
        return (double)NAN;
    double promised_s = law->law.kind->duration_s(&law->law, seen->problem_size, seen->executors);
    return promised_s > 0 ? log(promised_s) : (double)NAN;
}

/* Compare run t; its error and standardised error, NAN where there is nothing to compare with. */
static double drift_detection_judge(struct chart *chart, size_t t, bool *repeat)
{
    const struct observation *seen = &chart->runs[t].seen;
    const struct repeats *repeated = &chart->repeated[chart->places.place_of[t]];
    const struct group_law *law = chart->laws[chart->places.group_of[t]];
    double n = (double)repeated->n;
    *repeat = repeated->n >= DRIFT_REPEATS;
    chart->error[t] =
        chart->level[t] - (*repeat ? repeated->levels / n : promised_by_law(law, seen));
    if (isnan(chart->error[t]))
        return (double)NAN;
    if (*repeat)
        return standardise(&chart->repeats, chart->error[t], sqrt(1 + 1 / n));
    double gap =
        hypot(gap_at(&law->executors, seen->executors), gap_at(&law->sizes, seen->problem_size));
    return standardise(&chart->against_laws, chart->error[t], 1 + 2 * gap);
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
        lower(chart, i, shift);
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
    assert(chart->places.group_of != NULL && "make_chart succeeded");
    PV_TRY(renew_law(chart, chart->places.group_of[t], err));
    chart->level[t] = log(chart->runs[t].seen.duration_s) - chart->shift;
    double z = drift_detection_judge(chart, t, &repeat);
    if (isnan(z)) {
        learn(chart, t);
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
    learn_error(repeat ? &chart->repeats : &chart->against_laws, chart->error[t]);
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

/* What outliers are looked for among. */
struct search {
    const struct drift_run *runs;
    const struct places *places;
    size_t first; /* the runs before it are from before a drift */
    double *room; /* for as many as there are runs */
};

/* Median of ascending values without one that equals x, which is among them; n >= 2. */
static double median_of_others(const double ascending[], size_t n, double x)
{
    size_t low = (n - 2) / 2, high = (n - 1) / 2; /* of the others, which are n - 1 */
    double a = ascending[ascending[low] < x ? low : low + 1];
    double b = ascending[ascending[high] < x ? high : high + 1];
    return a + 0.5 * (b - a);
}

/* The runs at one place, each against the others; returns how many there are. */
static size_t
compare_repeated(const struct search *s, const struct place_span *place, struct deviations *found)
{
    const size_t *at = &s->places->order[place->from];
    size_t skipped = 0;
    while (skipped < place->n && at[skipped] < s->first)
        skipped++;
    size_t n = place->n - skipped;
    if (n < 3) /* one other does not say which of the two is wrong */
        return n;
    for (size_t k = 0; k < n; k++)
        s->room[k] = log(s->runs[at[skipped + k]].seen.duration_s);
    qsort(s->room, n, sizeof *s->room, order_by_double);
    for (size_t k = skipped; k < place->n; k++) {
        double own = log(s->runs[at[k]].seen.duration_s);
        double promised = median_of_others(s->room, n, own);
        found->items[found->n++] = (struct deviation){at[k], promised, own - promised};
    }
    return n;
}

/* Where the values of an axis end, and how many runs are there. */
struct ends {
    double low;
    double high;
    size_t n_low;
    size_t n_high;
};

static void widen(struct ends *ends, double value)
{
    if (!(value > ends->low))
        ends->n_low = value < ends->low ? 1 : ends->n_low + 1;
    if (!(value < ends->high))
        ends->n_high = value > ends->high ? 1 : ends->n_high + 1;
    ends->low = fmin(ends->low, value);
    ends->high = fmax(ends->high, value);
}

/* No other run lies on its far side, along an axis that was varied. */
static bool is_end(const struct ends *ends, double value)
{
    return ends->low < ends->high && ((!(value > ends->low) && ends->n_low == 1) ||
                                      (!(value < ends->high) && ends->n_high == 1));
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

static void find_ends(const struct search *s,
                      const struct place_span *group,
                      struct ends *executors,
                      struct ends *sizes)
{
    *executors = *sizes = (struct ends){.low = HUGE_VAL, .high = -HUGE_VAL};
    for (size_t k = group->from; k < group->from + group->n; k++) {
        size_t i = s->places->order[k];
        if (i < s->first)
            continue;
        widen(executors, s->runs[i].seen.executors);
        widen(sizes, s->runs[i].seen.problem_size);
    }
}

/* Those runs of a group that are alone at their place, against its law fitted without them. */
static enum pv_code compare_alone(const struct search *s,
                                  const struct place_span *group,
                                  const bool alone[],
                                  const struct drift_verdict verdicts[],
                                  struct arena *scratch,
                                  struct deviations *found,
                                  struct pv_error *err)
{
    const size_t *members = &s->places->order[group->from];
    bool fitted = false;
    struct model_fit fit;
    struct ends executors, sizes;
    struct observation *rows = arena_array(scratch, group->n, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    for (size_t k = 0; k < group->n; k++)
        rows[k] = row_of(&s->runs[members[k]], verdicts[members[k]].weight);
    PV_TRY(fit_law(rows, group->n, scratch, &fit, &fitted, err));
    find_ends(s, group, &executors, &sizes);
    for (size_t k = 0; fitted && k < fit.n; k++) {
        const struct model_residual *residual = &fit.residuals[k];
        size_t i = members[residual->observation];
        if (!alone[i] || !(residual->left_out > 0) ||
            is_end(&executors, s->runs[i].seen.executors) ||
            is_end(&sizes, s->runs[i].seen.problem_size))
            continue;
        found->items[found->n++] = (struct deviation){i, log(residual->left_out),
                                                      log(residual->actual / residual->left_out)};
    }
    return PV_OK;
}

static enum pv_code compare_all_alone(const struct search *s,
                                      const bool alone[],
                                      const struct drift_verdict verdicts[],
                                      struct arena *scratch,
                                      struct deviations *found,
                                      struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (size_t g = 0; g < s->places->n_groups && code == PV_OK; g++) {
        const struct place_span *group = &s->places->groups[g];
        struct arena_mark mark = arena_mark(scratch);
        bool any = false;
        for (size_t k = group->from; k < group->from + group->n && !any; k++)
            any = alone[s->places->order[k]];
        if (any && group->n >= LAW_RUNS)
            code = compare_alone(s, group, alone, verdicts, scratch, found, err);
        arena_rewind(scratch, mark);
    }
    return code;
}

static enum pv_code weigh_outliers(const struct search *s,
                                   size_t n,
                                   struct arena *scratch,
                                   struct drift_verdict verdicts[],
                                   struct pv_error *err)
{
    struct deviations repeated = {arena_array(scratch, n, sizeof *repeated.items), 0};
    struct deviations single = {arena_array(scratch, n, sizeof *single.items), 0};
    bool *alone = arena_calloc(scratch, n, sizeof *alone);
    size_t n_alone = 0;
    if (repeated.items == NULL || single.items == NULL || alone == NULL)
        return pv_no_memory(err);
    for (size_t p = 0; p < s->places->n_places; p++) {
        const struct place_span *place = &s->places->places[p];
        if (compare_repeated(s, place, &repeated) != 1)
            continue;
        alone[s->places->order[place->from + place->n - 1]] = true;
        n_alone++;
    }
    if (n_alone >= LEAST_ALONE)
        PV_TRY(compare_all_alone(s, alone, verdicts, scratch, &single, err));
    drift_detection_weigh(&repeated, LEAST_REPEATED, DRIFT_NOISE, s->room, verdicts);
    drift_detection_weigh(&single, LEAST_ALONE, DRIFT_LAW_NOISE, s->room, verdicts);
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
    struct chart chart = {
        .runs = runs, .rule = cusum_rule(DRIFT_REFERENCE, DRIFT_RUN_LENGTH), .scratch = scratch};
    struct drift made = {.rule = chart.rule};
    enum pv_code code = make_chart(&chart, n, err);
    for (size_t t = 0; t < n && code == PV_OK; t++)
        code = drift_run(&chart, t, &made, err);
    for (size_t i = 0; i < n; i++)
        verdicts[i] = (struct drift_verdict){1, DRIFT_FULL, (double)NAN, (double)NAN};
    if (code == PV_OK) {
        const struct search search = {runs, &chart.places, made.since, chart.level};
        made.up = chart.cusum.up;
        made.down = chart.cusum.down;
        set_state(n, &made);
        fade(n, &made, verdicts);
        judge_trouble(runs, n, chart.level, verdicts);
        code = weigh_outliers(&search, n, scratch, verdicts, err);
    }
    arena_rewind(scratch, before);
    if (code == PV_OK)
        *drift = made;
    return code;
}
