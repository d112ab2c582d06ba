#include "core/advice/spark_history.h"

#include <math.h>

#include "base/order.h"

static const struct run *latest_with_properties(const struct run latest[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (latest[i].succeeded && latest[i].n_spark_properties > 0)
            return &latest[i];
    return NULL;
}

/* NAN: no stage knows what it read from shuffles. */
static double largest_shuffle(const struct run runs[], size_t n, double problem_size)
{
    double bytes = (double)NAN;
    if (n == 0)
        return bytes;
    for (size_t s = 0; s < runs[0].n_stages; s++) {
        int64_t read = runs[0].stages[s].metrics.shuffle_read_bytes;
        if (read != RUN_UNKNOWN)
            bytes = fmax(isnan(bytes) ? 0.0 : bytes, (double)read);
    }
    if (!(runs[0].problem_size > 0))
        return bytes;
    return bytes * fmax(1.0, problem_size / runs[0].problem_size);
}

static int64_t largest_barrier(const struct run runs[], size_t n)
{
    int64_t most = 0;
    for (size_t s = 0; n > 0 && s < runs[0].n_stages; s++)
        if (runs[0].stages[s].barrier && !runs[0].stages[s].skipped)
            most = larger_int64(most, (int64_t)runs[0].stages[s].n_tasks);
    return most;
}

static enum pv_code
copy_text(struct strview text, struct arena *arena, struct strview *copy, struct pv_error *err)
{
    *copy = (struct strview){NULL, 0};
    if (text.at == NULL)
        return PV_OK;
    *copy = arena_copy(arena, text);
    return copy->at == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code copy_properties(const struct run_label from[],
                                    size_t n,
                                    struct arena *arena,
                                    const struct run_label **copies,
                                    struct pv_error *err)
{
    struct run_label *properties = arena_array(arena, n, sizeof *properties);
    if (properties == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        PV_TRY(copy_text(from[i].key, arena, &properties[i].key, err));
        PV_TRY(copy_text(from[i].value, arena, &properties[i].value, err));
    }
    *copies = properties;
    return PV_OK;
}

enum pv_code spark_history_take(const struct run latest[],
                                size_t n_latest,
                                const struct run nearest[],
                                size_t n_nearest,
                                const struct history_extent *extent,
                                double problem_size,
                                struct arena *arena,
                                struct spark_before *before,
                                struct pv_error *err)
{
    const struct run *run = latest_with_properties(latest, n_latest);
    *before =
        (struct spark_before){.shuffle_bytes = largest_shuffle(nearest, n_nearest, problem_size),
                              .barrier_tasks = largest_barrier(nearest, n_nearest),
                              .executors = extent->last.executors,
                              .cores_per_executor = extent->last.cores_per_executor};
    if (run == NULL)
        return PV_OK;
    PV_TRY(copy_properties(run->spark_properties, run->n_spark_properties, arena,
                           &before->properties, err));
    before->n = run->n_spark_properties;
    PV_TRY(copy_properties(run->submitted_properties, run->n_submitted_properties, arena,
                           &before->submitted, err));
    before->n_submitted = run->n_submitted_properties;
    return copy_text(run->spark_version, arena, &before->version, err);
}
