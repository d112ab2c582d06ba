/* The law of core/scaling/laws/worker_load.h as a kind of model, with an idle node or not as the odds
 * have it, and with a limit of the load where the runs show one. */
#include "base/quantity_text.h"
#include "core/scaling/laws/kinds.h"

#include <math.h>

#include "core/numerics/nonnegative.h"
#include "core/scaling/laws/configurations.h"
#include "core/scaling/laws/idle_node.h"
#include "core/scaling/laws/load_limit.h"
#include "core/scaling/laws/worker_load.h"
#include "core/scaling/model/describe.h"

/* Of one unit of a coefficient. */
static double column_of(const double p[WORKER_PARAMETERS], size_t j, double size, double m)
{
    double one[WORKER_PARAMETERS] = {[WORKER_EXPONENT] = p[WORKER_EXPONENT],
                                     [WORKER_IDLE] = p[WORKER_IDLE],
                                     [WORKER_LIMIT] = p[WORKER_LIMIT]};
    one[j] = 1;
    return worker_load_duration(one, size, m);
}

/* The coefficients that are not 0 once more, with their covariance, as precisely as they can be
 * had; the sums that they come from lose half of the digits. */
static enum pv_code estimate_again(const struct load_cells *cells,
                                   const double weights[],
                                   const double p[WORKER_PARAMETERS],
                                   struct model_fit *fit,
                                   struct pv_error *err)
{
    static const size_t linear[] = {WORKER_FIXED, WORKER_GROWS, WORKER_SHARED, WORKER_OVERFLOW};
    enum { LINEAR = sizeof linear / sizeof *linear };
    const struct model_data *data = cells->data;
    struct nonnegative_fit found;
    size_t used[LINEAR];
    size_t k = 0;
    for (size_t j = 0; j < LINEAR; j++)
        if (p[linear[j]] > 0)
            used[k++] = linear[j];
    double *x = arena_array(data->scratch, data->n, LINEAR * sizeof *x);
    double *y = arena_array(data->scratch, data->n, 2 * sizeof *y);
    if (x == NULL || y == NULL)
        return pv_no_memory(err);
    double *factors = y + data->n;
    for (size_t c = 0; c < cells->n; c++) {
        const struct load_cell *cell = &cells->at[c];
        for (size_t i = cell->first; i < cell->first + cell->rows; i++) {
            for (size_t j = 0; j < k; j++)
                x[i * k + j] = column_of(p, used[j], cell->problem_size, cell->executors);
            y[i] = data->rows[i].duration_s;
            factors[i] = data->factors[i] * weights[c] / cell->weight;
        }
    }
    PV_TRY(nonnegative_fit(x, data->n, k, y, factors, data->scratch, NULL, &found, err));
    for (size_t a = 0; a < k; a++) {
        fit->model.parameters[used[a]].estimate = found.b[a];
        for (size_t b = 0; b < k; b++)
            fit->model.uncertainty.covariance[used[a]][used[b]] = found.covariance[a][b];
    }
    for (size_t j = 0; j < WORKER_PARAMETERS; j++)
        fit->freedom[j] = found.freedom;
    return PV_OK;
}

static enum pv_code
fit_worker_load(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    struct load_cells cells;
    double p[WORKER_PARAMETERS];
    double odds;
    PV_TRY(configurations_require(data, &worker_load_kind, 2, 2, &design, err));
    PV_TRY(load_cells_gather(data, &cells, err));
    PV_TRY(idle_node_odds(&cells, &odds, err));
    const struct worker_form form = {.robust = true, .idle = odds > 1 ? 1 : 0};
    double *weights = arena_calloc(data->scratch, cells.n, sizeof *weights);
    if (weights == NULL)
        return pv_no_memory(err);
    double limit;
    PV_TRY(load_limit_find(&cells, form.idle, LOAD_NOTHING_ABSENT, &limit, err));
    PV_TRY(worker_load_fit(&cells, &form, limit, LOAD_NOTHING_ABSENT, weights, p, err));
    for (size_t j = 0; j < WORKER_PARAMETERS; j++)
        fit->model.parameters[j].estimate = p[j];
    fit->model.parameters[WORKER_GROWS].dropped = cells.sizes < 2;
    fit->model.reference = MODEL_EXTRAPOLATED;
    if (data->whole)
        return PV_OK;
    for (size_t c = 0; c < cells.n; c++)
        for (size_t i = 0; i < cells.at[c].rows; i++) {
            size_t row = cells.at[c].first + i;
            PV_TRY(worker_load_without(&cells, &form, weights, p, &cells.at[c], row,
                                       &fit->left_out[row], err));
        }
    return estimate_again(&cells, weights, p, fit, err);
}

static double duration(const struct model_law *law, double problem_size, double executors)
{
    return worker_load_duration(law->p, problem_size, executors);
}

static void describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double size;
    double m;
    if (!describe_corner(model, &size, &m))
        return;
    const struct describe_part parts[] = {
        {"fixed_s", "a fixed time, whatever the size and the executors", law.p[WORKER_FIXED]},
        {"grows_s", "work that grows with the data and is not shared", law.p[WORKER_GROWS] * size},
        {"shared_s", "work that executors share",
         law.p[WORKER_SHARED] * column_of(law.p, WORKER_SHARED, size, m)},
        {"overflow_s", "what does not fit into the memory of the executors",
         law.p[WORKER_OVERFLOW] * column_of(law.p, WORKER_OVERFLOW, size, m)}};
    describe_parts(findings, parts, 4);
    if (law.p[WORKER_IDLE] > 0)
        (void)finding_add(findings, "idle_node",
                          "One of the machines counted does no work: it holds the master or the "
                          "driver.");
    if (law.p[WORKER_OVERFLOW] > 0)
        finding_number(
            finding_add(findings, "memory_limit",
                        "Beyond a problem_size of %s for each worker its memory overflows: "
                        "further data take longer.",
                        quantity_number(law.p[WORKER_LIMIT]).text),
            "load_limit", law.p[WORKER_LIMIT]);
    describe_doubling(model, findings);
}

#define SECONDS(word)                                                                              \
    {                                                                                              \
        word, 0, HUGE_VAL, MODEL_OF_DURATIONS                                                      \
    }

static const struct model_parameter_rule rules[WORKER_PARAMETERS] = {
    [WORKER_FIXED] = SECONDS("fixed_s"),
    [WORKER_GROWS] = SECONDS("grows_s"),
    [WORKER_SHARED] = SECONDS("shared_s"),
    [WORKER_EXPONENT] = {"exponent", 0.25, 3, MODEL_OF_DURATIONS},
    [WORKER_IDLE] = {"idle_nodes", 0, 1, MODEL_OF_DURATIONS},
    [WORKER_SPILL] = SECONDS("spill_s"),
    [WORKER_OVERFLOW] = SECONDS("overflow_s"),
    [WORKER_LIMIT] = {"load_limit", 0, HUGE_VAL, MODEL_OF_DURATIONS},
};

const struct model_kind worker_load_kind = {
    .name = "worker_load",
    .forms = MODEL_OF_DURATIONS,
    .rules = rules,
    .n_parameters = WORKER_PARAMETERS,
    .learn = idle_node_learn,
    .fit = fit_worker_load,
    .duration_s = duration,
    .describe = describe,
};
