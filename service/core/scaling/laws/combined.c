/*
 * Cases of the law of core/scaling/laws/worker_load.h combined: T is the weighted geometric mean of
 * what they predict. Few runs cannot show which of them an application follows, and where their
 * predictions part, the mean errs less than the one that happens to fit best (J. M. Bates and
 * C. W. J. Granger, "The combination of forecasts", Operational Research Quarterly 20, 1969).
 *
 *     workers   fixed + grows N + shared N / (m - 1)                              robust
 *     spill     fixed + grows N + shared N / m + spill N / m^2                    robust
 *     memory    fixed + grows N + shared N / (m - 1) + overflow max(0, load - limit)
 *     power     fixed + grows N + shared N / m^exponent                           robust
 *
 * and the first and third with m in place of m - 1, by the odds that all machines work
 * (core/scaling/laws/idle_node.h). Where runs of several problem sizes show a limit of the load
 * (core/scaling/laws/load_limit.h), every case has its term.
 *
 * Weights go with prior / e^(2k), where e is a law's root mean square error (of ln T) in predicting
 * each executor count from the others (D. H. Wolpert, "Stacked generalization", Neural Networks 5,
 * 1992), and k = 1 - 3/s for s executor counts. Three counts less one do not determine laws of
 * three coefficients, so nothing is known of their errors then and the prior decides: 2 for the
 * plain law, 1 for each other. From four counts on, what the mean leaves unexplained is carried
 * over to places nearby (core/scaling/laws/deviations.h).
 *
 * The model holds the laws as components, so that predictions replay it. At least three executor
 * counts: PV_E_SINGULAR below. More than COMBINED_FOLDS counts are left out several at a time.
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>
#include <string.h>

#include "core/scaling/laws/configurations.h"
#include "core/scaling/laws/deviations.h"
#include "core/scaling/laws/idle_node.h"
#include "core/scaling/laws/load_limit.h"
#include "core/scaling/laws/worker_load.h"
#include "core/scaling/model/describe.h"

enum { MEMBERS = 6, COMBINED_FOLDS = 8 };

/* A case of the law; its weight beforehand is also multiplied by the probability of `idle`, where
 * that is part of it. */
static const struct member {
    const char *name;
    struct worker_form form;
    bool has_limit; /* whatever the number of problem sizes */
    bool by_idle;
    double prior;
} members[MEMBERS] = {
    {"workers", {.robust = true, .idle = 1}, false, true, 2},
    {"all_work", {.robust = true, .idle = 0}, false, true, 2},
    {"spill", {.robust = true, .has_spill = true}, false, false, 1},
    {"memory", {.idle = 1}, true, true, 1},
    {"memory_all_work", {.idle = 0}, true, true, 1},
    {"power", {.robust = true, .has_exponent = true}, false, false, 1},
};

/* Of |ln(predicted / actual)|, a factor of 20: a law that errs by more, or predicts 0, counts as
 * erring by this. How useless it is does not matter. */
static const double worst_error = 3;
/* Of ln T: repetitions differ by so much, and no law gets all the weight for less. */
static const double least_error = 0.01;

/* --- predicting --- */

static double combined_duration(const struct model_law *law, double problem_size, double executors)
{
    double sum = 0;
    double weights = 0;
    for (size_t c = 0; c < law->tables.n_components; c++) {
        const struct model_component *component = &law->tables.components[c];
        double each = component->law.kind->duration_s(&component->law, problem_size, executors);
        if (!(component->weight > 0))
            continue;
        if (!(each > 0))
            return (double)NAN;
        sum += component->weight * log(each);
        weights += component->weight;
    }
    if (!(weights > 0))
        return (double)NAN;
    return exp(sum / weights + deviation_at(&law->tables, problem_size, executors));
}

/* --- the laws --- */

/* A combination in the making. */
struct combination {
    struct load_cells cells;
    double limits[2]; /* by `idle` */
    double weights[MEMBERS];
    double *cell_weights[MEMBERS]; /* of each cell in the member's fit */
    double p[MEMBERS][WORKER_PARAMETERS];
};

static enum pv_code fit_member(struct combination *made,
                               size_t k,
                               struct load_absence absence,
                               const double limits[2],
                               double weights[],
                               double p[WORKER_PARAMETERS],
                               struct pv_error *err)
{
    const struct member *member = &members[k];
    bool limited = member->has_limit || made->cells.sizes > 1;
    double limit = limited ? limits[member->form.idle > 0] : (double)INFINITY;
    return worker_load_fit(&made->cells, &member->form, limit, absence, weights, p, err);
}

static enum pv_code find_limits(const struct load_cells *cells,
                                struct load_absence absence,
                                double limits[2],
                                struct pv_error *err)
{
    for (int idle = 0; idle < 2; idle++)
        PV_TRY(load_limit_find(cells, idle, absence, &limits[idle], err));
    return PV_OK;
}

static enum pv_code fit_members(struct combination *made, struct pv_error *err)
{
    struct arena *scratch = made->cells.data->scratch;
    PV_TRY(find_limits(&made->cells, LOAD_NOTHING_ABSENT, made->limits, err));
    for (size_t k = 0; k < MEMBERS; k++) {
        made->cell_weights[k] = arena_calloc(scratch, made->cells.n, sizeof(double));
        if (made->cell_weights[k] == NULL)
            return pv_no_memory(err);
        PV_TRY(fit_member(made, k, LOAD_NOTHING_ABSENT, made->limits, made->cell_weights[k],
                          made->p[k], err));
    }
    return PV_OK;
}

/* --- weights --- */

/* The mean square of errors in ln T of the cells that are absent. */
static double square_error(const struct load_cells *cells,
                           struct load_absence absent,
                           const double p[WORKER_PARAMETERS])
{
    double squares = 0;
    double n = 0;
    for (size_t i = 0; i < cells->n; i++) {
        const struct load_cell *cell = &cells->at[i];
        if (!load_is_absent(cell, absent))
            continue;
        double predicted_s = worker_load_duration(p, cell->problem_size, cell->executors);
        double off = fabs(log(fmax(predicted_s, 1e-300) / cell->mean_s));
        squares += fmin(off, worst_error) * fmin(off, worst_error);
        n++;
    }
    return squares / n;
}

/* Leave out executor counts, neighbours together where there are many, each as much as another. */
static enum pv_code
judge_members(struct combination *made, double squares[MEMBERS], struct pv_error *err)
{
    const struct load_cells *cells = &made->cells;
    size_t folds = cells->n_counts < COMBINED_FOLDS ? cells->n_counts : COMBINED_FOLDS;
    struct arena *scratch = cells->data->scratch;
    struct arena_mark mark = arena_mark(scratch);
    double *weights = arena_array(scratch, cells->n, sizeof *weights);
    if (weights == NULL)
        return pv_no_memory(err);
    for (size_t f = 0; f < folds; f++) {
        const struct load_absence absent = {cells->counts[f * cells->n_counts / folds],
                                            cells->counts[(f + 1) * cells->n_counts / folds - 1]};
        double limits[2];
        PV_TRY(find_limits(cells, absent, limits, err));
        for (size_t k = 0; k < MEMBERS; k++) {
            double p[WORKER_PARAMETERS];
            memcpy(weights, made->cell_weights[k], cells->n * sizeof *weights);
            PV_TRY(fit_member(made, k, absent, limits, weights, p, err));
            squares[k] += square_error(cells, absent, p) / (double)folds;
        }
    }
    arena_rewind(scratch, mark);
    return PV_OK;
}

static enum pv_code find_weights(struct combination *made, struct pv_error *err)
{
    double squares[MEMBERS] = {0};
    double odds;
    double all = 0;
    double trust = fmax(0, 1 - 3 / (double)made->cells.n_counts);
    PV_TRY(idle_node_odds(&made->cells, &odds, err));
    /* With three counts nothing is learnt from leaving one out: see above. */
    if (trust > 0)
        PV_TRY(judge_members(made, squares, err));
    for (size_t k = 0; k < MEMBERS; k++) {
        double idle = odds / (1 + odds);
        double believed = !members[k].by_idle ? 1 : members[k].form.idle > 0 ? idle : 1 - idle;
        made->weights[k] =
            members[k].prior * believed * pow(squares[k] + least_error * least_error, -trust);
        all += made->weights[k];
    }
    for (size_t k = 0; k < MEMBERS; k++)
        made->weights[k] /= all;
    return PV_OK;
}

/* --- the fit --- */

static enum pv_code
take_components(const struct combination *made, struct model *model, struct pv_error *err)
{
    struct arena *scratch = made->cells.data->scratch;
    struct model_component *components = arena_array(scratch, MEMBERS, sizeof *components);
    if (components == NULL)
        return pv_no_memory(err);
    for (size_t k = 0; k < MEMBERS; k++) {
        components[k] = (struct model_component){
            made->weights[k], {.kind = &worker_load_kind, .form = MODEL_OF_DURATIONS}};
        memcpy(components[k].law.p, made->p[k], sizeof made->p[k]);
    }
    model->tables.components = components;
    model->tables.n_components = MEMBERS;
    return PV_OK;
}

static enum pv_code leave_row_out(const struct combination *made,
                                  const struct load_cell *cell,
                                  size_t row,
                                  double nearby,
                                  double *left_out,
                                  struct pv_error *err)
{
    double sum = nearby;
    for (size_t k = 0; k < MEMBERS; k++) {
        double without_s;
        PV_TRY(worker_load_without(&made->cells, &members[k].form, made->cell_weights[k],
                                   made->p[k], cell, row, &without_s, err));
        sum += made->weights[k] * log(fmax(without_s, 1e-300));
    }
    *left_out = exp(sum);
    return PV_OK;
}

static enum pv_code leave_rows_out(const struct combination *made,
                                   const double nearby[],
                                   double left_out[],
                                   struct pv_error *err)
{
    const struct load_cells *cells = &made->cells;
    for (size_t c = 0; c < cells->n; c++) {
        const struct load_cell *cell = &cells->at[c];
        for (size_t row = cell->first; row < cell->first + cell->rows; row++)
            PV_TRY(leave_row_out(made, cell, row, nearby[c], &left_out[row], err));
    }
    return PV_OK;
}

/* Numbers that the fullest of the laws takes from the runs. */
static double count_numbers(const struct combination *made)
{
    size_t most = 0;
    for (size_t k = 0; k < MEMBERS; k++) {
        const double *p = made->p[k];
        size_t n = members[k].form.has_exponent ? 1 : 0;
        for (size_t j = 0; j <= WORKER_OVERFLOW; j++)
            n += j != WORKER_EXPONENT && j != WORKER_IDLE && p[j] > 0;
        n += p[WORKER_OVERFLOW] > 0;
        most = n > most ? n : most;
    }
    return (double)most;
}

static enum pv_code
fit_combined(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    /* Two counts, and the prior, do where the third was left out to see what comes of that. */
    size_t least = data->whole ? 2 : 3;
    PV_TRY(configurations_require(data, &combined_kind, least, least, &design, err));
    struct combination *made = arena_calloc(data->scratch, 1, sizeof *made);
    double *nearby = arena_calloc(data->scratch, data->n, sizeof *nearby);
    if (made == NULL || nearby == NULL)
        return pv_no_memory(err);
    PV_TRY(load_cells_gather(data, &made->cells, err));
    PV_TRY(fit_members(made, err));
    /* Without some of the rows weights would hardly differ. */
    if (data->carried != NULL)
        memcpy(made->weights, data->carried, sizeof made->weights);
    else
        PV_TRY(find_weights(made, err));
    fit->carried = made->weights;
    PV_TRY(take_components(made, &fit->model, err));
    if (made->cells.n_counts > 3) {
        struct model_law law = model_law(&fit->model);
        PV_TRY(deviations_find(&made->cells, &law, &fit->model.tables, nearby, err));
    }
    if (!data->whole)
        PV_TRY(leave_rows_out(made, nearby, fit->left_out, err));
    fit->freedom[0] = fmax(0, (double)data->n - count_numbers(made));
    fit->model.reference = MODEL_EXTRAPOLATED;
    return PV_OK;
}

static void combined_describe(const struct model *model, struct findings *findings)
{
    const struct model_tables *t = &model->tables;
    struct finding *finding = finding_add(
        findings, "combined_laws",
        "The prediction is the weighted geometric mean of %zu laws: those that predict "
        "executor counts left out better weigh more, the less so the fewer counts there "
        "are to judge by.",
        t->n_components);
    for (size_t c = 0; c < t->n_components; c++) {
        const struct model_law *law = &t->components[c].law;
        const char *name = law->kind->name;
        if (law->kind == &worker_load_kind && t->n_components == MEMBERS)
            name = members[c].name;
        finding_number(finding, name, t->components[c].weight);
    }
}

const struct model_kind combined_kind = {
    .name = "combined",
    .forms = MODEL_OF_DURATIONS,
    .tables = MODEL_HAS_COMPONENTS | MODEL_HAS_DEVIATIONS,
    .learn = idle_node_learn,
    .fit = fit_combined,
    .duration_s = combined_duration,
    .describe = combined_describe,
};
