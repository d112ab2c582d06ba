/* What is said of runs that were chosen: why, what they cost, what they do to an interval. */
#include <math.h>
#include <string.h>

#include "core/scaling/experiments/design_internal.h"
#include "core/scaling/model/predict.h"

const char *experiments_reason_name(enum experiments_reason reason)
{
    switch (reason) {
    case EXPERIMENTS_FIRST:
        return "first_run";
    case EXPERIMENTS_NEW_EXECUTORS:
        return "new_executors";
    case EXPERIMENTS_NEW_SIZE:
        return "new_problem_size";
    case EXPERIMENTS_NEW_SHARE:
        return "new_size_per_executor";
    case EXPERIMENTS_REPEATS:
        return "repetition";
    case EXPERIMENTS_WIDENS:
        return "widens_range";
    case EXPERIMENTS_WIDEST_GAP:
        return "widest_gap";
    case EXPERIMENTS_LEAST_CERTAIN:
        return "least_certain";
    case EXPERIMENTS_MOST_CERTAINTY:
        return "most_certainty";
    case EXPERIMENTS_MOST_FOR_COST:
        return "most_for_cost";
    }
    return "";
}

/* --- why --- */

struct range {
    double low;
    double high;
};

static void describe_widen(struct range *range, double x)
{
    range->low = fmin(range->low, x);
    range->high = fmax(range->high, x);
}

static bool is_one(const struct range *range)
{
    return range->high <= range->low * (1 + 1e-12);
}

static bool is_beyond(const struct range *range, double x)
{
    return x < range->low * (1 - 1e-12) || x > range->high * (1 + 1e-12);
}

/* What the runs before an item hold: those that are there and those of earlier items. */
struct before {
    size_t n;
    size_t there; /* of the same configuration, all of which have been made */
    struct range size;
    struct range executors;
    struct range share;
};

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static bool same_point(const struct effects_point *a, const struct effects_point *b)
{
    return same(a->problem_size, b->problem_size) && same(a->executors, b->executors);
}

static void count_run(struct before *before, double size, double executors)
{
    before->n++;
    describe_widen(&before->size, size);
    describe_widen(&before->executors, executors);
    describe_widen(&before->share, size / executors);
}

static struct before look_back(const struct experiments_state *state,
                               const struct experiment items[],
                               size_t n,
                               const struct effects_point *at)
{
    const struct range nothing = {(double)INFINITY, (double)-INFINITY};
    struct before before = {.size = nothing, .executors = nothing, .share = nothing};
    for (size_t r = 0; r < state->n_rows; r++) {
        const struct effects_point row = {state->rows[r].problem_size, state->rows[r].executors};
        before.there += same_point(&row, at);
        count_run(&before, row.problem_size, row.executors);
    }
    for (size_t i = 0; i < n; i++)
        count_run(&before, items[i].at.problem_size, items[i].at.executors);
    return before;
}

static enum experiments_reason find_reason(const struct experiments_state *state,
                                           const struct before *before,
                                           const struct effects_point *at)
{
    if (before->n == 0)
        return EXPERIMENTS_FIRST;
    if (before->there > 0)
        return EXPERIMENTS_REPEATS;
    if (is_one(&before->executors) && is_beyond(&before->executors, at->executors))
        return EXPERIMENTS_NEW_EXECUTORS;
    if (is_one(&before->size) && is_beyond(&before->size, at->problem_size))
        return EXPERIMENTS_NEW_SIZE;
    if (is_one(&before->share) && is_beyond(&before->share, at->problem_size / at->executors))
        return EXPERIMENTS_NEW_SHARE;
    if (is_beyond(&before->size, at->problem_size) || is_beyond(&before->executors, at->executors))
        return EXPERIMENTS_WIDENS;
    switch (state->question->criterion) {
    case EXPERIMENTS_IMSE:
        return EXPERIMENTS_MOST_CERTAINTY;
    case EXPERIMENTS_CHEAPEST:
        return EXPERIMENTS_MOST_FOR_COST;
    case EXPERIMENTS_D_OPTIMAL:
        break;
    }
    return experiments_has_parameters(state) ? EXPERIMENTS_LEAST_CERTAIN : EXPERIMENTS_WIDEST_GAP;
}

/* --- what it does to the interval --- */

/* What is known after some runs came out as expected. */
struct outlook {
    struct information known;
    struct model model; /* where one is followed */
};

/* How uncertain the times asked about are, as shares of them. */
struct width {
    double interval; /* mean width of the model's intervals; NAN: no model, or an open end */
    double spread;   /* mean standard deviation by what is known of the effects */
};

/*
 * The new run will be left out, too: what predicts it then is what predicts it now, so that its
 * error is expected to be as large as the prediction is uncertain.
 */
static void expect_score(struct model_uncertainty *u, double score)
{
    if (u->seen.n > 0 && isfinite(score))
        score_table_add(&u->seen, score);
}

/* The model as it would be after a run that comes out as it expects. */
static void
expect_run(struct experiments_state *state, const struct effects_point *at, struct model *expected)
{
    struct model_uncertainty *u = &expected->uncertainty;
    double slope[MODEL_PARAMETERS_MAX];
    double moved[MODEL_PARAMETERS_MAX];
    double time_s = effects_time(&state->effects.law, at->problem_size, at->executors);
    double residual_s = u->residual_std * (u->relative ? time_s : 1);
    double within = residual_s * residual_s;
    u->observations++;
    u->problem_size[0] = fmin(u->problem_size[0], at->problem_size);
    u->problem_size[1] = fmax(u->problem_size[1], at->problem_size);
    u->executors[0] = fmin(u->executors[0], at->executors);
    u->executors[1] = fmax(u->executors[1], at->executors);
    /* A value of its own on an axis closes a gap. Left out, it is expected to err as the others. */
    gap_axis_add(&u->seen_sizes, at->problem_size);
    gap_axis_add(&u->seen_executors, at->executors);
    if (!(u->freedom > 0) || !(within > 0))
        return;
    u->freedom++;
    /* Of laws that are combined, what is moved is not the model's own: it has no covariance. */
    effects_slopes(&state->effects, at, slope);
    for (size_t a = 0; a < MODEL_PARAMETERS_MAX; a++) {
        moved[a] = 0;
        for (size_t b = 0; b < MODEL_PARAMETERS_MAX; b++)
            moved[a] += u->covariance[a][b] * slope[b];
        within += slope[a] * moved[a];
    }
    expect_score(u, sqrt(within) / time_s);
    for (size_t a = 0; a < MODEL_PARAMETERS_MAX; a++)
        for (size_t b = 0; b < MODEL_PARAMETERS_MAX; b++)
            u->covariance[a][b] -= moved[a] * moved[b] / within;
}

static double
interval_width(const struct experiments_state *state, const struct model *model, double first[2])
{
    struct model_spread spread = model_spread(model, state->question->confidence);
    double sum = 0;
    for (size_t i = 0; i < state->n_asked; i++) {
        const struct effects_point *at = &state->asked[i].at;
        struct model_prediction there;
        model_predict(model, &spread, at->problem_size, at->executors, &there);
        double low_s = isnan(there.interval_s[0]) ? 0 : there.interval_s[0];
        sum += (there.interval_s[1] - low_s) / there.duration_s;
        if (i == 0)
            memcpy(first, there.interval_s, sizeof there.interval_s);
    }
    return sum / (double)state->n_asked;
}

static double mean_spread(const struct experiments_state *state, const struct information *known)
{
    double sum = 0;
    for (size_t i = 0; i < state->n_asked; i++)
        sum += sqrt(information_variance(known, state->asked[i].effect) + state->asked[i].noise);
    return sum / (double)state->n_asked;
}

/* Of the intervals where they have both ends before and after, else of the standard deviations. A
 * run can only add to what is known; less is rounding. */
static double cut_percent(const struct width *before, const struct width *after)
{
    double cut = 100 * (1 - after->interval / before->interval);
    if (!isfinite(cut))
        cut = 100 * (1 - after->spread / before->spread);
    return isfinite(cut) ? fmax(cut, 0) : (double)NAN;
}

static struct outlook look_at_now(const struct experiments_state *state)
{
    struct outlook now = {.known = state->known};
    if (state->model != NULL)
        now.model = *state->model;
    return now;
}

/* After so many runs of one configuration that come out as expected. */
static void expect_runs(struct experiments_state *state,
                        const struct experiments_candidate *run,
                        size_t repeat,
                        struct outlook *outlook)
{
    for (size_t i = 0; i < repeat; i++) {
        information_add(&outlook->known, run->effect, run->noise);
        if (state->model != NULL)
            expect_run(state, &run->at, &outlook->model);
    }
}

/* interval_s: that of the first point asked about, untouched without a model. */
static struct width
measure(const struct experiments_state *state, const struct outlook *outlook, double interval_s[2])
{
    struct width width = {(double)NAN, mean_spread(state, &outlook->known)};
    if (state->model != NULL)
        width.interval = interval_width(state, &outlook->model, interval_s);
    return width;
}

/*
 * The interval of who predicts better than the law, in place of the law's; after the runs its ends
 * are expected to be nearer to the time in the ratio in which the law's intervals narrow.
 */
static void take_predicted_interval(const struct experiments_state *state,
                                    struct experiments_plan *plan)
{
    if (state->n_asked == 0)
        return;
    const struct effects_point *first = &state->asked[0].at;
    const double *interval_s = predicted_times_interval(&state->question->predicted,
                                                        first->problem_size, first->executors);
    if (interval_s == NULL)
        return;
    double time_s = state->asked[0].time_s;
    double cut = plan->n == 0 ? 0 : plan->items[plan->n - 1].cumulative_cut_percent / 100;
    for (size_t end = 0; end < 2; end++) {
        plan->interval_s[end] = interval_s[end];
        plan->expected_interval_s[end] = time_s + (interval_s[end] - time_s) * (1 - cut);
    }
}

/* A run that comes out as expected narrows an interval. Where a fit has hardly any runs the computed
 * interval may widen all the same: then the present one stays. */
static void keep_within(struct experiments_plan *plan)
{
    if (isnan(plan->interval_s[0]) || isnan(plan->interval_s[1]))
        return;
    plan->expected_interval_s[0] = fmax(plan->expected_interval_s[0], plan->interval_s[0]);
    plan->expected_interval_s[1] = fmin(plan->expected_interval_s[1], plan->interval_s[1]);
}

/* --- items --- */

static struct experiment describe_item(const struct experiments_state *state,
                                       const struct experiment items[],
                                       size_t n,
                                       const struct experiments_candidate *run,
                                       const struct information *known)
{
    struct before before = look_back(state, items, n, &run->at);
    struct experiment item = {.at = run->at,
                              .reason = find_reason(state, &before, &run->at),
                              .there = before.there,
                              .uncertainty_percent = (double)NAN,
                              .duration_s = (double)NAN,
                              .executor_s = (double)NAN};
    if (experiments_has_parameters(state))
        item.uncertainty_percent = 100 * sqrt(information_variance(known, run->effect));
    if (state->times_known)
        item.duration_s = run->time_s;
    return item;
}

/* The different configurations among those chosen, in the order of their first choice, and how
 * often each was chosen. Returns how many there are. */
static size_t count_repetitions(const struct experiments_candidate *const chosen[],
                                size_t n,
                                const struct experiments_candidate *different[],
                                size_t repeat[])
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < found && !same_point(&different[at]->at, &chosen[i]->at))
            at++;
        if (at == found) {
            different[found] = chosen[i];
            repeat[found++] = 0;
        }
        repeat[at]++;
    }
    return found;
}

enum pv_code experiments_describe(struct experiments_state *state,
                                  const struct experiments_candidate *const chosen[],
                                  size_t n,
                                  struct experiments_plan *plan,
                                  struct pv_error *err)
{
    const struct experiments_candidate *runs[EXPERIMENTS_MAX];
    size_t repeat[EXPERIMENTS_MAX];
    struct outlook now = look_at_now(state);
    double ignored[2];
    struct experiments_plan made = {.n = count_repetitions(chosen, n, runs, repeat),
                                    .runs = n,
                                    .from_model = state->model != NULL,
                                    .cheapest_s = (double)NAN,
                                    .interval_s = {(double)NAN, (double)NAN}};
    made.items = arena_array(state->arena, made.n, sizeof *made.items);
    if (made.items == NULL)
        return pv_no_memory(err);
    struct width before = measure(state, &now, made.interval_s);
    memcpy(made.expected_interval_s, made.interval_s, sizeof made.interval_s);
    struct outlook after = now;
    for (size_t i = 0; i < made.n && i < n; i++) { /* made.n <= n, which an analyzer cannot see */
        struct outlook alone = now;
        struct experiment *item = &made.items[i];
        *item = describe_item(state, made.items, i, runs[i], &after.known);
        item->repeat = repeat[i];
        if (state->times_known)
            item->executor_s = (double)repeat[i] * runs[i]->executor_s;
        expect_runs(state, runs[i], repeat[i], &alone);
        expect_runs(state, runs[i], repeat[i], &after);
        struct width one = measure(state, &alone, ignored);
        struct width all = measure(state, &after, made.expected_interval_s);
        item->cut_percent = cut_percent(&before, &one);
        item->cumulative_cut_percent = cut_percent(&before, &all);
    }
    if (state->times_known && state->n_candidates > 0)
        made.cheapest_s = state->candidates[0].executor_s;
    take_predicted_interval(state, &made);
    keep_within(&made);
    *plan = made;
    return PV_OK;
}
