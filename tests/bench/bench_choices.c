/*
 * Which executor count is chosen for a deadline, and whether it is kept:
 *
 *     bench_choices FILE.tsv ...      C3O tables (tests/golden/public_runs.h)
 *
 * For every context that was run on all six scale-outs: known are two repetitions, drawn, on 4, 6,
 * 10 and 12 instances. Deadlines are at the 10th, 30th, 50th, 70th and 90th percentile of all its times.
 * A question is one deadline that some scale-out's median meets. Asked for is the smallest of the six
 * that meets it:
 *
 *     provisor   with a probability of 0.9 by the model that `auto` selects; where none does, the one
 *                of the best probability, which is no answer with confidence
 *     ernest     whose predicted time is within it, by Ernest's model (plain least squares);
 *                where none is, the largest. With a margin: the predicted time and a fifth
 *     c3o        whose predicted time and the 0.9 quantile of its errors, normal, are within it, by
 *                the model of least left-out error of Ernest and interpolation
 *     last       that ran, of which all known runs met it; where none did, the largest that ran
 *
 * Printed are the shares of unseen repetitions on the count chosen that miss the deadline, over all
 * answers and over those with confidence, the executors in excess of the smallest scale-out whose
 * median meets it, and the share answered with confidence (of the others: of a predicted time
 * within the deadline).
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/public_runs.h"
#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/selection/selection.h"

enum { SCALES = 6, ROWS_MAX = 64, KNOWN_EACH = 2, DEADLINES = 5, SEEDS = 5 };
enum method { PROVISOR, ERNEST, ERNEST_MARGIN, C3O, LAST, METHODS };

static const char *const names[METHODS] = {"provisor", "ernest", "ernest + 20 %", "c3o",
                                           "same as last time"};
static const double scales[SCALES] = {2, 4, 6, 8, 10, 12};
static const bool known_scales[SCALES] = {false, true, true, false, true, true};
static const double quantiles[DEADLINES] = {0.1, 0.3, 0.5, 0.7, 0.9};
static const double confidence = 0.9;
static const double margin = 0.2;

struct tally {
    double missed;
    double missed_confident;
    double excess;
    size_t answers;
    size_t confident;
};

/* One context: its times by scale-out, and which of them are known. */
struct context {
    double problem_size;
    double times[SCALES][ROWS_MAX];
    size_t n[SCALES];
    struct observation known[ROWS_MAX];
    size_t n_known;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double values[], size_t n, double share)
{
    qsort(values, n, sizeof *values, ascending);
    double at = share * (double)(n - 1);
    size_t below = (size_t)at;
    double above = values[below + 1 < n ? below + 1 : below];
    return values[below] + (at - (double)below) * (above - values[below]);
}

/* The first KNOWN_EACH of a scale-out are known; they stand in the table by time, so draw. */
static bool
read_context(const struct public_table *table, size_t group, struct rng *rng, struct context *c)
{
    *c = (struct context){.problem_size = (double)NAN};
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        for (size_t s = 0; run->group == group && s < SCALES; s++)
            if (run->executors == scales[s] && c->n[s] < ROWS_MAX) {
                c->problem_size = run->problem_size;
                c->times[s][c->n[s]++] = run->duration_s;
            }
    }
    for (size_t s = 0; s < SCALES; s++) {
        if (c->n[s] <= KNOWN_EACH)
            return false;
        for (size_t i = c->n[s] - 1; i > 0; i--) {
            size_t j = (size_t)(rng_uniform(rng) * (double)(i + 1));
            double kept = c->times[s][i];
            c->times[s][i] = c->times[s][j];
            c->times[s][j] = kept;
        }
        for (size_t i = 0; known_scales[s] && i < KNOWN_EACH; i++)
            c->known[c->n_known++] =
                model_seen(c->problem_size, scales[s], c->times[s][i], (double)NAN);
    }
    return true;
}

/* --- methods: what each expects on a scale-out --- */

struct methods {
    struct arena arena;
    const struct model *selected; /* NULL: none */
    struct model_fit ernest;
    struct model_fit interpolation;
    const struct model_fit *best; /* of these two */
    double error_std;             /* relative, of what it left out */
    double error_mean;
};

static bool fit_methods(const struct context *c, struct methods *m)
{
    struct model_selection selection;
    struct pv_error err = {0};
    arena_init(&m->arena, 0);
    if (model_select(c->known, c->n_known, &m->arena, &selection, &err) != PV_OK ||
        model_fit(&ernest_kind, c->known, c->n_known, MODEL_SECONDS, &m->arena, &m->ernest, &err) !=
            PV_OK ||
        model_fit(&interpolation_kind, c->known, c->n_known, MODEL_RELATIVE, &m->arena,
                  &m->interpolation, &err) != PV_OK) {
        fprintf(stderr, "%s\n", err.detail);
        return false;
    }
    m->selected = selection.selected == NULL ? NULL : &selection.selected->fit.model;
    m->best = m->interpolation.loo_mape_percent < m->ernest.loo_mape_percent ? &m->interpolation
                                                                             : &m->ernest;
    double squares = 0;
    m->error_mean = 0;
    for (size_t i = 0; i < m->best->n; i++) {
        const struct model_residual *r = &m->best->residuals[i];
        double error = (r->actual - r->left_out) / r->left_out;
        m->error_mean += error / (double)m->best->n;
        squares += error * error / (double)m->best->n;
    }
    m->error_std = sqrt(fmax(0, squares - m->error_mean * m->error_mean));
    return true;
}

static double time_of(const struct model *model, double size, double executors)
{
    const struct model_law law = model_law(model);
    return law.kind->duration_s(&law, size, executors);
}

static double probability_of(const struct model *model, double size, double m, double deadline_s)
{
    struct predictive there;
    if (model == NULL || !model_predictive(model, size, m, &there))
        return 0;
    double p = predictive_probability(&there, deadline_s);
    return isnan(p) ? 0 : p;
}

/* The scale-out chosen, and whether with confidence. */
static size_t choose(const struct context *c,
                     const struct methods *m,
                     enum method method,
                     double deadline_s,
                     bool *confident)
{
    double best = -1;
    size_t fallback = SCALES - 1;
    *confident = true;
    for (size_t s = 0; s < SCALES; s++) {
        double size = c->problem_size;
        bool in_time = false;
        if (method == PROVISOR) {
            double p = probability_of(m->selected, size, scales[s], deadline_s);
            in_time = p >= confidence;
            if (p > best) {
                best = p;
                fallback = s;
            }
        } else if (method == ERNEST || method == ERNEST_MARGIN) {
            double factor = method == ERNEST ? 1 : 1 + margin;
            in_time = time_of(&m->ernest.model, size, scales[s]) * factor <= deadline_s;
        } else if (method == C3O) {
            double off = m->error_mean + gsl_cdf_ugaussian_Pinv(confidence) * m->error_std;
            in_time = time_of(&m->best->model, size, scales[s]) * (1 + off) <= deadline_s;
        } else if (known_scales[s]) {
            in_time = true;
            for (size_t i = 0; i < KNOWN_EACH; i++)
                in_time = in_time && c->times[s][i] <= deadline_s;
        }
        if (in_time)
            return s;
    }
    *confident = false;
    return fallback;
}

static void answer(const struct context *c,
                   const struct methods *m,
                   double deadline_s,
                   size_t cheapest,
                   struct tally tallies[METHODS])
{
    for (size_t k = 0; k < METHODS; k++) {
        bool confident;
        size_t chosen = choose(c, m, (enum method)k, deadline_s, &confident);
        size_t from = known_scales[chosen] ? KNOWN_EACH : 0;
        double missed = 0;
        for (size_t i = from; i < c->n[chosen]; i++)
            missed += c->times[chosen][i] > deadline_s;
        missed /= (double)(c->n[chosen] - from);
        struct tally *t = &tallies[k];
        t->answers++;
        t->missed += missed;
        t->excess += scales[chosen] - scales[cheapest];
        t->confident += confident;
        t->missed_confident += confident ? missed : 0;
    }
}

static void ask(const struct context *c, const struct methods *m, struct tally tallies[METHODS])
{
    double all[SCALES * ROWS_MAX];
    double medians[SCALES];
    size_t n = 0;
    for (size_t s = 0; s < SCALES; s++) {
        double sorted[ROWS_MAX];
        memcpy(sorted, c->times[s], c->n[s] * sizeof *sorted);
        medians[s] = quantile(sorted, c->n[s], 0.5);
        memcpy(all + n, c->times[s], c->n[s] * sizeof *all);
        n += c->n[s];
    }
    for (size_t d = 0; d < DEADLINES; d++) {
        double deadline_s = quantile(all, n, quantiles[d]);
        size_t cheapest = 0;
        while (cheapest < SCALES && medians[cheapest] > deadline_s)
            cheapest++;
        if (cheapest < SCALES)
            answer(c, m, deadline_s, cheapest, tallies);
    }
}

static bool ask_table(const struct public_table *table, struct tally tallies[METHODS])
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rng rng = rng_make(61, seed);
        for (size_t group = 0; group < table->groups; group++) {
            struct context context;
            struct methods methods;
            if (!read_context(table, group, &rng, &context))
                continue;
            bool good = fit_methods(&context, &methods);
            if (good)
                ask(&context, &methods, tallies);
            arena_fini(&methods.arena);
            if (!good)
                return false;
        }
    }
    return true;
}

static void print_tallies(const char *name, const struct tally tallies[METHODS])
{
    printf("\n**%s**, %zu questions:\n\n", name, tallies[0].answers);
    printf("| chosen by | missed | missed with confidence | excess executors | with confidence "
           "|\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < METHODS; k++) {
        const struct tally *t = &tallies[k];
        double n = (double)t->answers;
        printf("| %s | %.1f %% | %.1f %% | %.2f | %.0f %% |\n", names[k], 100 * t->missed / n,
               100 * t->missed_confident / (double)t->confident, t->excess / n,
               100 * (double)t->confident / n);
    }
}

int main(int argc, char **argv)
{
    struct tally all[METHODS] = {{0}};
    bool good = argc > 1;
    gsl_set_error_handler_off();
    for (int i = 1; good && i < argc; i++) {
        struct tally tallies[METHODS] = {{0}};
        struct public_table table;
        struct arena arena;
        arena_init(&arena, 0);
        good = public_table_read(argv[i], &arena, &table) && ask_table(&table, tallies);
        if (good)
            print_tallies(table.name, tallies);
        for (size_t k = 0; k < METHODS; k++) {
            all[k].missed += tallies[k].missed;
            all[k].missed_confident += tallies[k].missed_confident;
            all[k].excess += tallies[k].excess;
            all[k].answers += tallies[k].answers;
            all[k].confident += tallies[k].confident;
        }
        arena_fini(&arena);
    }
    if (good)
        print_tallies("all", all);
    return good ? 0 : 1;
}
