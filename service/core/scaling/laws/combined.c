/*
 * The laws of core/scaling/laws/load_laws.h combined: T is the weighted geometric mean of what
 * load, power, spill and cliff predict. Few runs cannot show which of the four an application
 * follows, and where their predictions part, the mean errs less than the one that happens to fit
 * best (J. M. Bates and C. W. J. Granger, "The combination of forecasts", Operational Research
 * Quarterly 20, 1969).
 *
 * Weights go with 1 / e^(2k), where e is a law's root mean square error (of ln T) in predicting
 * each executor count from the others (D. H. Wolpert, "Stacked generalization", Neural Networks 5,
 * 1992), and k = 1 - 3/s for s executor counts. Three counts less one do not determine laws of
 * three coefficients, so nothing is known of their errors then and all weights are equal; the more
 * counts there are, the more the errors say. No number here is tuned.
 *
 * The model holds the laws as components, so that predictions replay it. At least three executor
 * counts: PV_E_SINGULAR below. More than COMBINED_FOLDS counts are left out several at a time.
 */
#include "base/order.h"
#include "core/scaling/laws/kinds.h"

#include <math.h>
#include <stdlib.h>

#include "core/scaling/laws/configurations.h"
#include "core/scaling/laws/load_laws.h"
#include "core/scaling/model/describe.h"

enum { MEMBERS = 4, COMBINED_FOLDS = 8 };

static const struct model_kind *const members[MEMBERS] = {&load_per_executor_kind, &power_law_kind,
                                                          &memory_spill_kind, &memory_cliff_kind};

/* Of |ln(predicted / actual)|, a factor of 20: a law that errs by more, or predicts 0, counts as
 * erring by this. How useless it is does not matter. */
static const double worst_error = 3;
/* Below it errors are those of measurement and rounding; no law gets all the weight for less. */
static const double least_error = 1e-3;

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
    return weights > 0 ? exp(sum / weights) : (double)NAN;
}

/* --- the laws --- */

static enum pv_code fit_member(const struct model_kind *kind,
                               const struct model_data *data,
                               struct model_fit *member,
                               struct pv_error *err)
{
    *member = (struct model_fit){.model = model_bare(kind)};
    member->left_out = arena_array(data->scratch, data->n, sizeof *member->left_out);
    if (member->left_out == NULL)
        return pv_no_memory(err);
    member->model.form = data->form;
    return kind->fit(data, member, err);
}

/* --- weights --- */

/* The mean square of errors in ln T, an executor count as much as another; runs of one (N, m) count
 * as one by their mean logarithm, so that repetitions do not weigh. */
static double square_error(const struct model_data *data,
                           const double left_out[],
                           const double to[],
                           size_t folds)
{
    double squares[COMBINED_FOLDS] = {0};
    double cells[COMBINED_FOLDS] = {0};
    double mean = 0;
    for (size_t i = 0; i < data->n;) {
        const struct observation *row = &data->rows[i];
        double predicted = fmax(left_out[i], 1e-300);
        double sum = 0;
        double weight = 0;
        size_t fold = 0;
        for (; i < data->n && data->rows[i].executors == row->executors &&
               data->rows[i].problem_size == row->problem_size;
             i++) {
            sum += data->rows[i].weight * log(data->rows[i].duration_s);
            weight += data->rows[i].weight;
        }
        while (fold + 1 < folds && row->executors > to[fold])
            fold++;
        double error = fmin(fabs(log(predicted) - sum / weight), worst_error);
        squares[fold] += error * error;
        cells[fold]++;
    }
    for (size_t f = 0; f < folds; f++)
        mean += squares[f] / cells[f] / (double)folds;
    return mean;
}

/* counts: executor counts, ascending, each once. */
static enum pv_code judge_members(const struct model_data *data,
                                  const double counts[],
                                  size_t n,
                                  double squares[MEMBERS],
                                  struct pv_error *err)
{
    size_t folds = n < COMBINED_FOLDS ? n : COMBINED_FOLDS;
    double from[COMBINED_FOLDS];
    double to[COMBINED_FOLDS];
    double *left_out = arena_array(data->scratch, data->n, sizeof *left_out);
    if (left_out == NULL)
        return pv_no_memory(err);
    for (size_t f = 0; f < folds; f++) {
        from[f] = counts[f * n / folds];
        to[f] = counts[(f + 1) * n / folds - 1];
    }
    for (size_t k = 0; k < MEMBERS; k++) {
        PV_TRY(load_leave_out(members[k], data, from, to, folds, left_out, err));
        squares[k] = square_error(data, left_out, to, folds);
    }
    return PV_OK;
}

static enum pv_code
find_weights(const struct model_data *data, double weights[MEMBERS], struct pv_error *err)
{
    double squares[MEMBERS] = {0};
    double all = 0;
    double *counts = arena_array(data->scratch, data->n, sizeof *counts);
    if (counts == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++)
        counts[i] = data->rows[i].executors;
    size_t n = sort_distinct(counts, data->n);
    /* With three counts nothing is learnt from leaving one out: see above. */
    if (n > 3)
        PV_TRY(judge_members(data, counts, n, squares, err));
    double trust = fmax(0, 1 - 3 / (double)n);
    for (size_t k = 0; k < MEMBERS; k++) {
        weights[k] = pow(squares[k] + least_error * least_error, -trust);
        all += weights[k];
    }
    for (size_t k = 0; k < MEMBERS; k++)
        weights[k] /= all;
    return PV_OK;
}

/* --- the fit --- */

static void combine_left_out(const struct model_fit all[MEMBERS],
                             const double weights[MEMBERS],
                             size_t n,
                             double left_out[])
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < MEMBERS; k++)
            sum += weights[k] * log(fmax(all[k].left_out[i], 1e-300));
        left_out[i] = exp(sum);
    }
}

static enum pv_code
fit_combined(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    double weights[MEMBERS];
    /* Two counts, and equal weights, do where the third was left out to see what comes of that. */
    size_t least = data->whole ? 2 : 3;
    PV_TRY(configurations_require(data, &combined_kind, least, least, &design, err));
    struct model_fit *all = arena_array(data->scratch, MEMBERS, sizeof *all);
    struct model_component *components = arena_array(data->scratch, MEMBERS, sizeof *components);
    if (all == NULL || components == NULL)
        return pv_no_memory(err);
    fit->freedom[0] = HUGE_VAL;
    for (size_t k = 0; k < MEMBERS; k++) {
        PV_TRY(fit_member(members[k], data, &all[k], err));
        fit->freedom[0] = fmin(fit->freedom[0], all[k].freedom[0]);
    }
    PV_TRY(find_weights(data, weights, err));
    for (size_t k = 0; k < MEMBERS; k++)
        components[k] = (struct model_component){weights[k], model_law(&all[k].model)};
    if (!data->whole)
        combine_left_out(all, weights, data->n, fit->left_out);
    fit->model.tables.components = components;
    fit->model.tables.n_components = MEMBERS;
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
    for (size_t c = 0; c < t->n_components; c++)
        finding_number(finding, t->components[c].law.kind->name, t->components[c].weight);
}

const struct model_kind combined_kind = {
    .name = "combined",
    .forms = MODEL_OF_DURATIONS,
    .tables = MODEL_HAS_COMPONENTS,
    .fit = fit_combined,
    .duration_s = combined_duration,
    .describe = combined_describe,
};
