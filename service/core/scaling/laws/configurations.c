#include "core/scaling/laws/configurations.h"
#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"

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

static double executors_of(const struct observation *row)
{
    return row->executors;
}

static double share_of(const struct observation *row)
{
    return row->problem_size / row->executors;
}

/* Of each (N, m) one value: rows are sorted by N, then m. */
static size_t take_cells(const struct model_data *data,
                         double values[],
                         double (*value_of)(const struct observation *row))
{
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++)
        if (i == 0 || data->rows[i].executors != data->rows[i - 1].executors ||
            data->rows[i].problem_size != data->rows[i - 1].problem_size)
            values[n++] = value_of(&data->rows[i]);
    return n;
}

enum pv_code configurations_require(const struct model_data *data,
                                    const struct model_kind *kind,
                                    size_t configurations,
                                    size_t executors,
                                    struct configurations *design,
                                    struct pv_error *err)
{
    double *values = arena_array(data->scratch, data->n, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    size_t any = data->n > 0;
    *design =
        (struct configurations){.data = data, .kind = kind, .configurations = any, .sizes = any};
    for (size_t i = 1; i < data->n; i++) {
        bool size = data->rows[i].problem_size > data->rows[i - 1].problem_size;
        design->sizes += size;
        design->configurations += size || data->rows[i].executors > data->rows[i - 1].executors;
    }
    size_t cells = take_cells(data, values, executors_of);
    design->executors = count_distinct(values, cells);
    cells = take_cells(data, values, share_of);
    design->shares = count_distinct(values, cells);
    if (design->configurations < configurations)
        return pv_fail(err, PV_E_TOO_FEW,
                       "%s needs %zu different pairs of problem_size and executors; there are %zu "
                       "in %zu observation%s: %zu more needed",
                       kind->name, configurations, design->configurations, data->n, PLURAL(data->n),
                       configurations - design->configurations);
    if (design->executors < executors)
        return pv_fail(
            err, PV_E_SINGULAR,
            "%s needs %zu different executor count%s; in %zu observation%s there are %zu "
            "(the first has %s): add runs on others",
            kind->name, executors, PLURAL(executors), data->n, PLURAL(data->n), design->executors,
            quantity_number(data->rows[0].executors).text);
    return PV_OK;
}

enum pv_code configurations_blame(const struct configurations *design, struct pv_error *err)
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
        "the %zu observation%s %s not separate the effects of %s (%zu problem size%s, %zu "
        "executor count%s, %zu ratio%s of both): add %s",
        design->data->n, PLURAL(design->data->n), PLURAL_VERB(design->data->n, "does", "do"),
        design->kind->name, design->sizes, PLURAL(design->sizes), design->executors,
        PLURAL(design->executors), design->shares, PLURAL(design->shares), missing);
}

enum pv_code configurations_fit(const struct configurations *design,
                                const double x[],
                                size_t k,
                                const double y[],
                                struct model_fit *fit,
                                struct nonnegative_fit *found,
                                struct pv_error *err)
{
    const struct model_data *data = design->data;
    struct pv_error why = {0};
    enum pv_code code = nonnegative_fit(x, data->n, k, y, data->factors, data->scratch,
                                        data->whole ? NULL : fit->left_out, found, &why);
    if (code == PV_E_SINGULAR)
        return configurations_blame(design, err);
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    for (size_t j = 0; j < fit->model.kind->n_parameters; j++)
        fit->freedom[j] = found->freedom;
    return PV_OK;
}
