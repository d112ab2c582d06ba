#include "core/scaling/experiments/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/scaling/experiments/design_internal.h"

/* A run errs by a tenth where nothing shows how much, and never by less than a hundredth. */
static const double assumed_noise = 0.1;
static const double least_noise = 0.01;
/* What counts as more: one part in 10^9, so that ties are ties on every machine. */
static const double more = 1 + 1e-9;

/* --- what is there --- */

static int by_point(const void *a, const void *b)
{
    const struct observation *x = a;
    const struct observation *y = b;
    int order = compare_double(x->problem_size, y->problem_size);
    if (order == 0)
        order = compare_double(x->executors, y->executors);
    if (order == 0)
        order = compare_double(x->duration_s, y->duration_s);
    return order != 0 ? order : compare_double(x->weight, y->weight);
}

static int by_cost(const void *a, const void *b)
{
    const struct experiments_candidate *x = a;
    const struct experiments_candidate *y = b;
    int order = compare_double(x->executor_s, y->executor_s);
    if (order == 0)
        order = compare_double(x->at.problem_size, y->at.problem_size);
    return order != 0 ? order : compare_double(x->at.executors, y->at.executors);
}

static bool has_time(const struct effects_law *law, const struct experiments_question *question)
{
    for (size_t i = 0; i < question->n_asked; i++) {
        double time_s =
            effects_time(law, question->asked[i].problem_size, question->asked[i].executors);
        if (time_s > 0 && isfinite(time_s))
            return true;
    }
    return false;
}

/*
 * What is assumed before there is a model: the part that does not shrink is as long as the share of
 * the least problem size asked about on the most executors allowed.
 */
static struct effects_law
assume_law(const struct experiments_question *question, const struct observation rows[], size_t n)
{
    struct effects_law law = {.fixed = question->asked[0].problem_size, .unit_s = (double)NAN};
    double most = 1;
    double logs = 0;
    for (size_t i = 1; i < question->n_asked; i++)
        law.fixed = fmin(law.fixed, question->asked[i].problem_size);
    for (size_t i = 0; i < question->n_allowed; i++)
        most = fmax(most, question->allowed[i].executors);
    law.fixed /= most;
    for (size_t i = 0; i < n; i++)
        logs += log(rows[i].duration_s / (law.fixed + rows[i].problem_size / rows[i].executors));
    if (n > 0)
        law.unit_s = exp(logs / (double)n);
    return law;
}

static double noise_at(const struct model *model, double time_s)
{
    double share = assumed_noise;
    if (model != NULL && isfinite(model->uncertainty.residual_std) &&
        model->uncertainty.residual_std > 0)
        share = model->uncertainty.residual_std / (model->uncertainty.relative ? 1 : time_s);
    share = fmax(share, least_noise);
    return share * share;
}

static double effects_law_time(const void *law, double problem_size, double executors)
{
    return effects_time(law, problem_size, executors);
}

/* false: there is no time there. */
static bool look_at(struct experiments_state *state,
                    const struct effects_point *at,
                    struct experiments_candidate *candidate)
{
    candidate->at = *at;
    if (!effects_at(&state->effects, at, candidate->effect))
        return false;
    double by_law_s = effects_time(&state->effects.law, at->problem_size, at->executors);
    candidate->noise = noise_at(state->model, by_law_s);
    candidate->time_s =
        by_law_s * predicted_times_factor(&state->question->predicted, effects_law_time,
                                          &state->effects.law, at->executors);
    candidate->executor_s = candidate->time_s * at->executors;
    return true;
}

static enum pv_code
find_effects(struct experiments_state *state, const struct effects_law *law, struct pv_error *err)
{
    const struct experiments_question *question = state->question;
    struct arena_mark mark = arena_mark(state->arena);
    size_t n = question->n_allowed + question->n_asked + state->n_rows;
    struct effects_point *region = arena_array(state->arena, n, sizeof *region);
    if (region == NULL)
        return pv_no_memory(err);
    n = 0;
    for (size_t i = 0; i < question->n_allowed; i++)
        region[n++] = question->allowed[i];
    for (size_t i = 0; i < question->n_asked; i++)
        region[n++] = question->asked[i];
    for (size_t i = 0; i < state->n_rows; i++)
        region[n++] = (struct effects_point){state->rows[i].problem_size, state->rows[i].executors};
    state->effects = effects_of(law, region, n, question->doubt);
    arena_rewind(state->arena, mark);
    return PV_OK;
}

static void learn_rows(struct experiments_state *state)
{
    struct experiments_candidate run;
    state->known = information_none(state->effects.k);
    for (size_t i = 0; i < state->n_rows; i++) {
        const struct effects_point at = {state->rows[i].problem_size, state->rows[i].executors};
        double weight = state->rows[i].weight > 0 ? state->rows[i].weight : 1;
        if (look_at(state, &at, &run))
            information_add(&state->known, run.effect, run.noise / weight);
    }
}

static enum pv_code copy_rows(struct experiments_state *state,
                              const struct observation rows[],
                              size_t n,
                              struct pv_error *err)
{
    struct observation *sorted = arena_array(state->arena, n, sizeof *sorted);
    if (sorted == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = rows[i];
    qsort(sorted, n, sizeof *sorted, by_point);
    state->rows = sorted;
    state->n_rows = n;
    return PV_OK;
}

static enum pv_code design_prepare(struct experiments_state *state,
                                   const struct observation rows[],
                                   size_t n,
                                   const struct model *model,
                                   struct pv_error *err)
{
    const struct experiments_question *question = state->question;
    struct effects_law law = {.model = model};
    PV_TRY(copy_rows(state, rows, n, err));
    if (model == NULL || model->form != MODEL_OF_DURATIONS || !has_time(&law, question))
        law = assume_law(question, state->rows, n);
    state->model = law.model;
    state->times_known = law.model != NULL || n > 0 || question->predicted.n > 0;
    PV_TRY(find_effects(state, &law, err));
    learn_rows(state);
    state->candidates = arena_array(state->arena, question->n_allowed, sizeof *state->candidates);
    state->asked = arena_array(state->arena, question->n_asked, sizeof *state->asked);
    if (state->candidates == NULL || state->asked == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < question->n_allowed; i++)
        state->n_candidates +=
            look_at(state, &question->allowed[i], &state->candidates[state->n_candidates]);
    for (size_t i = 0; i < question->n_asked; i++)
        state->n_asked += look_at(state, &question->asked[i], &state->asked[state->n_asked]);
    qsort(state->candidates, state->n_candidates, sizeof *state->candidates, by_cost);
    return PV_OK;
}

static enum pv_code begin_imse(struct experiments_state *state, struct pv_error *err)
{
    size_t n = state->n_candidates + state->n_asked;
    struct effects_point *points = arena_array(state->arena, n, sizeof *points);
    if (points == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < state->n_candidates; i++)
        points[i] = state->candidates[i].at;
    for (size_t i = 0; i < state->n_asked; i++)
        points[state->n_candidates + i] = state->asked[i].at;
    return imse_begin(points, state->n_candidates, &points[state->n_candidates], state->n_asked,
                      state->rows, state->n_rows, EXPERIMENTS_MAX, state->arena, &state->imse, err);
}

/* --- what a run is worth --- */

/* The runs chosen so far and what is known after them. */
struct choice {
    const struct experiments_candidate *runs[EXPERIMENTS_MAX];
    size_t n;
    double executor_s;
    struct information known;
};

static void design_choose(struct choice *choice, const struct experiments_candidate *run)
{
    choice->runs[choice->n++] = run;
    choice->executor_s += run->executor_s;
    information_add(&choice->known, run->effect, run->noise);
}

/* By how much the determinant grows, less 1. */
static double gain_information(const struct choice *choice, const struct experiments_candidate *run)
{
    return information_variance(&choice->known, run->effect) / run->noise;
}

static double design_distance(const struct effects_point *a, double problem_size, double executors)
{
    return hypot(log(a->problem_size / problem_size), log(a->executors / executors));
}

static double gain_gap(const struct experiments_state *state,
                       const struct choice *choice,
                       const struct experiments_candidate *run)
{
    double gap = (double)INFINITY;
    for (size_t i = 0; i < state->n_rows; i++)
        gap = fmin(
            gap, design_distance(&run->at, state->rows[i].problem_size, state->rows[i].executors));
    for (size_t i = 0; i < choice->n; i++)
        gap = fmin(gap, design_distance(&run->at, choice->runs[i]->at.problem_size,
                                        choice->runs[i]->at.executors));
    return gap;
}

static double gain_of(const struct experiments_state *state,
                      const struct choice *choice,
                      const struct experiments_candidate *run)
{
    if (state->question->criterion != EXPERIMENTS_D_OPTIMAL)
        return imse_reduction(&state->imse, (size_t)(run - state->candidates));
    return experiments_has_parameters(state) ? gain_information(choice, run)
                                             : gain_gap(state, choice, run);
}

static bool is_affordable(const struct experiments_state *state, double executor_s)
{
    return !state->times_known || isnan(state->question->executor_s_max) ||
           executor_s <= state->question->executor_s_max * more;
}

/* gains[] of every candidate that can be paid, -1 of the others. */
static void
fill_gains(const struct experiments_state *state, const struct choice *choice, double gains[])
{
    for (size_t i = 0; i < state->n_candidates; i++) {
        const struct experiments_candidate *run = &state->candidates[i];
        bool payable = is_affordable(state, choice->executor_s + run->executor_s);
        gains[i] = payable ? gain_of(state, choice, run) : -1;
    }
}

/* Gains become gains for the cost. Left out, likewise as -1, is what gains too little to be worth a
 * run, however little it costs. */
static void weigh_cost(const struct experiments_state *state, double gains[])
{
    double most = 0;
    for (size_t i = 0; i < state->n_candidates; i++)
        most = fmax(most, gains[i]);
    for (size_t i = 0; i < state->n_candidates; i++)
        gains[i] = gains[i] < EXPERIMENTS_WORTH * most
                       ? -1
                       : gains[i] / sqrt(state->candidates[i].executor_s);
}

/* The best run to add; NULL: none can be paid. Candidates stand by cost: the first of equals is the
 * cheapest. gains: room for one each. */
static const struct experiments_candidate *
design_find_best(const struct experiments_state *state, const struct choice *choice, double gains[])
{
    const struct experiments_candidate *best = NULL;
    double most = -1;
    fill_gains(state, choice, gains);
    if (state->question->criterion == EXPERIMENTS_CHEAPEST)
        weigh_cost(state, gains);
    for (size_t i = 0; i < state->n_candidates; i++)
        if (gains[i] >= 0 && (best == NULL || gains[i] > most * more)) {
            best = &state->candidates[i];
            most = gains[i];
        }
    return best;
}

/* --- exchange --- */

static struct choice
all_but(const struct experiments_state *state, const struct choice *choice, size_t without)
{
    struct choice rest = {.known = state->known};
    for (size_t i = 0; i < choice->n; i++)
        if (i != without)
            design_choose(&rest, choice->runs[i]);
    return rest;
}

/* The exchange that multiplies the determinant most: the run that comes in for choice->runs[*out].
 * NULL: none does. */
static const struct experiments_candidate *
find_exchange(const struct experiments_state *state, const struct choice *choice, size_t *out)
{
    double best = more;
    const struct experiments_candidate *in = NULL;
    for (size_t i = 0; i < choice->n; i++) {
        struct choice rest = all_but(state, choice, i);
        double with = 1 + gain_information(&rest, choice->runs[i]);
        for (size_t c = 0; c < state->n_candidates; c++) {
            const struct experiments_candidate *run = &state->candidates[c];
            if (!is_affordable(state, rest.executor_s + run->executor_s))
                continue;
            double ratio = (1 + gain_information(&rest, run)) / with;
            if (ratio > best * more) {
                best = ratio;
                *out = i;
                in = run;
            }
        }
    }
    return in;
}

/* Each exchange raises the determinant, so there is an end; the bound is for rounding. */
static void design_exchange(const struct experiments_state *state, struct choice *choice)
{
    enum { MOST_EXCHANGES = 100 };
    size_t out = 0;
    for (size_t step = 0; step < MOST_EXCHANGES; step++) {
        const struct experiments_candidate *in = find_exchange(state, choice, &out);
        if (in == NULL)
            return;
        struct choice next = all_but(state, choice, out);
        design_choose(&next, in);
        *choice = next;
    }
}

/* The same runs, the most informative first. */
static void put_in_order(const struct experiments_state *state, struct choice *choice)
{
    struct choice ordered = {.known = state->known};
    bool taken[EXPERIMENTS_MAX] = {false};
    while (ordered.n < choice->n) {
        size_t best = choice->n;
        double most = -1;
        for (size_t i = 0; i < choice->n; i++) {
            if (taken[i])
                continue;
            double gain = gain_information(&ordered, choice->runs[i]);
            bool tie = best < choice->n && gain * more >= most;
            /* Candidates stand by cost: of a tie the one that stands first. */
            if (gain > most * more || (tie && choice->runs[i] < choice->runs[best])) {
                best = i;
                most = gain;
            }
        }
        taken[best] = true;
        design_choose(&ordered, choice->runs[best]);
    }
    *choice = ordered;
}

enum pv_code experiments_choose(const struct observation rows[],
                                size_t n,
                                const struct model *model,
                                const struct experiments_question *question,
                                struct arena *arena,
                                struct experiments_plan *plan,
                                struct pv_error *err)
{
    struct experiments_state state = {.question = question, .arena = arena};
    PV_TRY(design_prepare(&state, rows, n, model, err));
    bool d_optimal = question->criterion == EXPERIMENTS_D_OPTIMAL;
    double *gains = arena_array(arena, state.n_candidates, sizeof *gains);
    if (gains == NULL)
        return pv_no_memory(err);
    if (!d_optimal)
        PV_TRY(begin_imse(&state, err));
    struct choice choice = {.known = state.known};
    while (choice.n < question->count && choice.n < EXPERIMENTS_MAX) {
        const struct experiments_candidate *run = design_find_best(&state, &choice, gains);
        if (run == NULL)
            break;
        design_choose(&choice, run);
        if (!d_optimal)
            imse_add(&state.imse, (size_t)(run - state.candidates));
    }
    if (d_optimal && experiments_has_parameters(&state)) {
        design_exchange(&state, &choice);
        put_in_order(&state, &choice);
    }
    struct experiments_plan made;
    PV_TRY(experiments_describe(&state, choice.runs, choice.n, &made, err));
    made.without_time = question->n_allowed - state.n_candidates;
    *plan = made;
    return PV_OK;
}
