#include "core/scaling/laws/idle_node.h"

#include <math.h>
#include <stdlib.h>

#include "core/scaling/laws/idle_share.h"
#include "core/scaling/laws/worker_load.h"

/* Of logarithms of odds: beyond it there is nothing left to doubt. */
static const double certain = 20;

/* What ran on a single machine shows that it works. */
static bool ran_on_one(const struct load_cells *cells)
{
    for (size_t i = 0; i < cells->n; i++)
        if (cells->at[i].executors < 2)
            return true;
    return false;
}

enum pv_code
idle_node_evidence(const struct load_cells *cells, double *evidence, struct pv_error *err)
{
    double losses[2] = {0, 0};
    *evidence = ran_on_one(cells) ? -certain : 0;
    if (ran_on_one(cells) || cells->n_counts < 3)
        return PV_OK;
    for (int idle = 0; idle < 2; idle++) {
        const struct worker_form form = {.robust = true, .idle = idle};
        double p[WORKER_PARAMETERS];
        PV_TRY(worker_load_fit(cells, &form, (double)INFINITY, LOAD_NOTHING_ABSENT, NULL, p, err));
        for (size_t i = 0; i < cells->n; i++) {
            const struct load_cell *cell = &cells->at[i];
            double predicted_s = worker_load_duration(p, cell->problem_size, cell->executors);
            losses[idle] += worker_load_loss(log(fmax(predicted_s, 1e-300) / cell->mean_s));
        }
    }
    *evidence = losses[0] - losses[1];
    return PV_OK;
}

/* Of the rows [from, to) of data->others, which are one context. */
static enum pv_code learn_context(
    const struct model_data *data, size_t from, size_t to, double *evidence, struct pv_error *err)
{
    struct model_data context = {.rows = data->others + from,
                                 .n = to - from,
                                 .form = data->form,
                                 .weights = MODEL_RELATIVE,
                                 .scratch = data->scratch};
    struct load_cells cells;
    context.factors = arena_array(data->scratch, context.n, sizeof *context.factors);
    if (context.factors == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < context.n; i++)
        context.factors[i] = sqrt(context.rows[i].weight) / context.rows[i].duration_s;
    PV_TRY(load_cells_gather(&context, &cells, err));
    return idle_node_evidence(&cells, evidence, err);
}

enum pv_code idle_node_learn(struct model_data *data, struct pv_error *err)
{
    data->idle_evidence = 0;
    for (size_t from = 0; from < data->n_others;) {
        size_t to = from + 1;
        double evidence = 0;
        while (to < data->n_others && data->others[to].context == data->others[from].context)
            to++;
        struct arena_mark mark = arena_mark(data->scratch);
        PV_TRY(learn_context(data, from, to, &evidence, err));
        arena_rewind(data->scratch, mark);
        data->idle_evidence += evidence;
        from = to;
    }
    return PV_OK;
}

double idle_node_prior(const struct observation rows[], size_t n)
{
    double counted = 0;
    double learnt = 0;
    for (size_t i = 0; i < n; i++) {
        counted += rows[i].executors_counted;
        learnt += rows[i].idle_learnt / (double)n;
    }
    double share = counted / (double)n;
    return share * idle_share_log_odds(true, NULL, 0) +
           (1 - share) * idle_share_log_odds(false, NULL, 0) + learnt;
}

double idle_node_posterior(double prior, double evidence)
{
    return exp(fmax(-certain, fmin(certain, prior + evidence)));
}

enum pv_code idle_node_odds(const struct load_cells *cells, double *odds, struct pv_error *err)
{
    const struct model_data *data = cells->data;
    double own;
    PV_TRY(idle_node_evidence(cells, &own, err));
    double prior = idle_node_prior(data->rows, data->n);
    *odds = idle_node_posterior(prior, own + data->idle_evidence);
    return PV_OK;
}

/* Rows of one context together, in canonical order. */
static int by_context(const void *a, const void *b)
{
    const struct observation *x = a;
    const struct observation *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return observation_compare(a, b);
}

enum pv_code idle_node_shown(const struct observation rows[],
                             size_t n,
                             struct arena *arena,
                             double *evidence,
                             struct pv_error *err)
{
    struct arena_mark mark = arena_mark(arena);
    struct observation *sorted = arena_array(arena, n, sizeof *sorted);
    *evidence = 0;
    if (sorted == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = rows[i];
        sorted[i].weight = rows[i].weight > 0 ? rows[i].weight : 1;
        sorted[i].context = rows[i].context > 1 ? rows[i].context : 1;
    }
    qsort(sorted, n, sizeof *sorted, by_context);
    struct model_data data = {
        .others = sorted, .n_others = n, .form = MODEL_OF_DURATIONS, .scratch = arena};
    PV_TRY(idle_node_learn(&data, err));
    *evidence = data.idle_evidence;
    arena_rewind(arena, mark);
    return PV_OK;
}
