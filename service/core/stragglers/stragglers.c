#include "core/stragglers/stragglers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/spark/property_value.h"
#include "core/stragglers/stragglers_internal.h"

const char *straggler_verdict_name(enum straggler_verdict verdict)
{
    static const char *const names[STRAGGLER_VERDICTS] = {[STRAGGLER_SLOW] = "straggler",
                                                          [STRAGGLER_NORMAL] = "normal",
                                                          [STRAGGLER_TOO_FEW] = "too_few_tasks"};
    return names[verdict];
}

/* --- Spark's rule --- */

/* NAN: the run did not set it, or to no number from `low` to `high`. */
static double read_property(const struct run *run, const char *key, double low, double high)
{
    double value =
        property_number(property_find(run->spark_properties, run->n_spark_properties, key));
    return value >= low && value <= high ? value : (double)NAN;
}

/* By default Spark 4.0 judges later and calls fewer tasks slow than those before. */
static struct slow_rule find_rule(const struct run *run, bool *given)
{
    bool late =
        run->spark_version.at != NULL && property_version_is(run->spark_version, 4, 0, false);
    double quantile = read_property(run, "spark.speculation.quantile", 0, 1);
    double multiplier = read_property(run, "spark.speculation.multiplier", 1, 1e6);
    *given = !isnan(quantile) || !isnan(multiplier);
    return (struct slow_rule){.quantile = !isnan(quantile) ? quantile
                                          : late           ? 0.9
                                                           : 0.75,
                              .multiplier = !isnan(multiplier) ? multiplier
                                            : late             ? 3
                                                               : 1.5};
}

/* --- all --- */

/* Stragglers first, then what is normal, then what is not known; the slowest first. */
static int compare_nodes(const void *a, const void *b)
{
    const struct straggler_node *x = a;
    const struct straggler_node *y = b;
    int order = (int)x->verdict - (int)y->verdict;
    if (order == 0)
        order = isnan(x->speed.factor) - isnan(y->speed.factor);
    if (order == 0)
        order = compare_double(y->speed.factor, x->speed.factor);
    if (order == 0)
        order = compare_strview(x->name, y->name);
    return order != 0 ? order : compare_size(x->place, y->place);
}

enum pv_code stragglers_find(const struct run runs[],
                             size_t n,
                             const struct straggler_limits *limits,
                             struct arena *arena,
                             struct arena *scratch,
                             struct stragglers *found,
                             struct pv_error *err)
{
    *found = (struct stragglers){.run = runs, .warnings = {.arena = arena}};
    found->rule = find_rule(runs, &found->rule_given);
    const struct search search = {runs, n, limits, arena, scratch, found};
    PV_TRY(straggler_judge_nodes(&search, err));
    const double *factors = straggler_factors(&search);
    if (factors == NULL)
        return pv_no_memory(err);
    PV_TRY(straggler_judge_stages(&search, factors, err));
    PV_TRY(straggler_replay(&search, factors, err));
    PV_TRY(straggler_find_groups(&search, err));
    if (found->n_nodes > 0)
        qsort(found->nodes, found->n_nodes, sizeof *found->nodes, compare_nodes);
    return straggler_explain(&search, err);
}
