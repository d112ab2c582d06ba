#include "core/advice/same_runs.h"

#include "core/history/problem_size.h"

static const double prior_each = 0.5; /* of Beta(1/2, 1/2) */

/* The bound if the first k runs were in time. */
static double same_runs_bound(const struct same_runs *runs, size_t k)
{
    double in_time = 0.0, all = 0.0;
    for (size_t i = 0; i < runs->n; i++) {
        all += runs->weights[i];
        in_time += i < k ? runs->weights[i] : 0.0;
    }
    return k == runs->n ? 1.0 : (in_time + prior_each) / (all + 2.0 * prior_each);
}

size_t same_runs_in_time(const struct same_runs *runs, double deadline_s)
{
    size_t k = 0;
    while (k < runs->n && runs->durations_s[k] <= deadline_s)
        k++;
    return k;
}

double same_runs_probability(const struct same_runs *runs, double deadline_s)
{
    return runs == NULL ? 1.0 : same_runs_bound(runs, same_runs_in_time(runs, deadline_s));
}

double same_runs_quantile(const struct same_runs *runs, double p)
{
    size_t k = 0;
    if (runs == NULL)
        return 0.0;
    while (same_runs_bound(runs, k) < p)
        k++;
    return k == 0 ? 0.0 : runs->durations_s[k - 1];
}

/* A run that is far off counts in full: how often that happens is what the runs are counted for. */
static void insert_run(struct same_runs *runs,
                       const struct observation *row,
                       const struct run_evidence *evidence)
{
    size_t at = runs->n++;
    for (; at > 0 && runs->durations_s[at - 1] > row->duration_s; at--) {
        runs->durations_s[at] = runs->durations_s[at - 1];
        runs->weights[at] = runs->weights[at - 1];
    }
    runs->durations_s[at] = row->duration_s;
    runs->weights[at] = row->weight > 0 && !evidence->far_off ? row->weight : 1.0;
}

static bool
is_run_of(const struct run_observations *seen, size_t i, const struct same_runs_of *configuration)
{
    const struct observation *row = &seen->rows[i];
    const struct run_evidence *evidence = &seen->evidence[i];
    bool came_and_went =
        evidence->dynamic_allocation && !(evidence->executors_share >= SAME_RUNS_SHARE);
    return row->context <= 1 && !came_and_went && !evidence->executors_lost &&
           evidence->cores_per_executor == configuration->cores_per_executor &&
           row->executors == (double)configuration->executors &&
           problem_size_is_same(row->problem_size, configuration->problem_size);
}

enum pv_code same_runs_find(const struct run_observations *seen,
                            const struct same_runs_of *configuration,
                            struct arena *arena,
                            const struct same_runs **found,
                            struct pv_error *err)
{
    size_t n = 0;
    *found = NULL;
    for (size_t i = 0; i < seen->n; i++)
        n += is_run_of(seen, i, configuration);
    if (n == 0)
        return PV_OK;
    struct same_runs *runs = arena_calloc(arena, 1, sizeof *runs);
    if (runs == NULL)
        return pv_no_memory(err);
    runs->durations_s = arena_array(arena, n, sizeof *runs->durations_s);
    runs->weights = arena_array(arena, n, sizeof *runs->weights);
    if (runs->durations_s == NULL || runs->weights == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < seen->n; i++)
        if (is_run_of(seen, i, configuration))
            insert_run(runs, &seen->rows[i], &seen->evidence[i]);
    *found = runs;
    return PV_OK;
}
