#include "core/scaling/laws/configurations.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

static size_t count_distinct(double values[], size_t n)
{
    size_t distinct = n > 0;
    qsort(values, n, sizeof *values, order_by_double);
    for (size_t i = 1; i < n; i++)
        distinct += values[i] > values[i - 1] * (1 + 1e-12);
    return distinct;
}

enum pv_code configurations_count(const struct model_data *data,
                                  struct arena *scratch,
                                  struct configurations *design,
                                  struct pv_error *err)
{
    double *values = arena_array(scratch, data->n, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    *design = (struct configurations){.configurations = data->n > 0, .sizes = data->n > 0};
    /* Rows are sorted by N, then m. */
    for (size_t i = 1; i < data->n; i++) {
        bool size = data->rows[i].problem_size > data->rows[i - 1].problem_size;
        design->sizes += size;
        design->configurations += size || data->rows[i].executors > data->rows[i - 1].executors;
    }
    for (size_t i = 0; i < data->n; i++)
        values[i] = data->rows[i].executors;
    design->executors = count_distinct(values, data->n);
    for (size_t i = 0; i < data->n; i++)
        values[i] = data->rows[i].problem_size / data->rows[i].executors;
    design->shares = count_distinct(values, data->n);
    return PV_OK;
}

enum pv_code configurations_require(const struct configurations *design,
                                    const struct model_data *data,
                                    const char *kind,
                                    size_t configurations,
                                    size_t executors,
                                    struct pv_error *err)
{
    if (design->configurations < configurations)
        return pv_fail(err, PV_E_TOO_FEW,
                       "%s needs %zu different pairs of problem_size and executors; the %zu "
                       "observations hold %zu: %zu more are missing",
                       kind, configurations, data->n, design->configurations,
                       configurations - design->configurations);
    if (design->executors < executors)
        return pv_fail(err, PV_E_SINGULAR,
                       "%s needs %zu different executor counts; the %zu observations hold %zu "
                       "(the first has %g): add runs on others",
                       kind, executors, data->n, design->executors, data->rows[0].executors);
    return PV_OK;
}

enum pv_code configurations_blame(const struct configurations *design,
                                  const struct model_data *data,
                                  const char *kind,
                                  struct pv_error *err)
{
    const char *missing = "runs whose problem_size and executors do not move in step";
    if (design->executors == 1)
        missing = "runs on another executor count";
    else if (design->shares == 1)
        missing = "runs with another problem_size per executor";
    else if (design->shares == 2)
        missing = "runs with a third problem_size per executor";
    else if (design->executors == 2)
        missing = "runs on a third executor count";
    return pv_fail(
        err, PV_E_SINGULAR,
        "the %zu observations do not tell the effects of %s apart (%zu problem sizes, %zu "
        "executor counts, %zu ratios of both): add %s",
        data->n, kind, design->sizes, design->executors, design->shares, missing);
}
