#include "core/history/problem_size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const size_measure_words[] = {"input_blocks",
                                          "input_records",
                                          "first_parallel_stage",
                                          "first_stage",
                                          "label",
                                          "spark_property",
                                          NULL};

bool size_measure_equal(const struct size_measure *a, const struct size_measure *b)
{
    return a->kind == b->kind && (a->key.at == NULL) == (b->key.at == NULL) &&
           strview_equal(a->key, b->key);
}

/* Tasks of the stage submitted first (ties: lowest id) of those with at least so many tasks. */
static double first_stage_tasks(const struct run *run, int64_t least)
{
    const struct run_stage *first = NULL;
    double first_s = (double)INFINITY;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        double started_s = isnan(stage->started_s) ? (double)INFINITY : stage->started_s;
        if (stage->skipped || stage->n_tasks < least || (first != NULL && started_s >= first_s))
            continue;
        first = stage;
        first_s = started_s;
    }
    return first == NULL ? (double)NAN : (double)(first->n_tasks + first->tasks_lost);
}

/* A job of single tasks is as large as one task. */
static double first_parallel_tasks(const struct run *run)
{
    double tasks = first_stage_tasks(run, 2);
    return isnan(tasks) ? first_stage_tasks(run, 1) : tasks;
}

/* Lost tasks count as reading as much as the others of their stage. */
static double lost_share(const struct run_stage *stage)
{
    return stage->n_tasks > 0 ? (double)stage->tasks_lost / (double)stage->n_tasks : 0;
}

static double input_blocks(const struct run *run)
{
    double bytes = (double)run->metrics.input_bytes;
    for (size_t i = 0; bytes > 0 && i < run->n_stages; i++)
        if (run->stages[i].metrics.input_bytes > 0)
            bytes += (double)run->stages[i].metrics.input_bytes * lost_share(&run->stages[i]);
    return bytes > 0 ? bytes / PROBLEM_SIZE_BLOCK_BYTES : first_parallel_tasks(run);
}

/* Of the stages that read from storage and not from a shuffle. */
static double input_records(const struct run *run)
{
    double records = 0;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        bool reads = stage->metrics.input_bytes > 0 && stage->metrics.shuffle_read_records <= 0;
        if (!stage->skipped && reads && stage->input_records > 0)
            records += stage->input_records * (1 + lost_share(stage));
    }
    return records > 0 ? records : (double)NAN;
}

static double number_of(const struct run_label pairs[], size_t n, struct strview key)
{
    char text[64], *end = NULL;
    for (size_t i = 0; i < n; i++) {
        struct strview value = pairs[i].value;
        if (!strview_equal(pairs[i].key, key) || value.n == 0 || value.n >= sizeof text)
            continue;
        memcpy(text, value.at, value.n);
        text[value.n] = '\0';
        if (strspn(text, "0123456789.eE+-") != value.n)
            continue;
        double number = strtod(text, &end);
        if (*end == '\0')
            return number;
    }
    return (double)NAN;
}

static double size_by(const struct run *run, const struct size_measure *measure)
{
    switch (measure->kind) {
    case SIZE_INPUT_BLOCKS:
        return input_blocks(run);
    case SIZE_INPUT_RECORDS:
        return input_records(run);
    case SIZE_FIRST_PARALLEL_STAGE:
        return first_parallel_tasks(run);
    case SIZE_FIRST_STAGE:
        return first_stage_tasks(run, 1);
    case SIZE_LABEL:
        return number_of(run->labels, run->n_labels, measure->key);
    case SIZE_SPARK_PROPERTY:
        return number_of(run->spark_properties, run->n_spark_properties, measure->key);
    }
    return (double)NAN;
}

double problem_size_of_run(const struct run *run, const struct size_measure *measure)
{
    double size = run->compacted ? (double)NAN : size_by(run, measure);
    return size >= PROBLEM_SIZE_MIN && size <= PROBLEM_SIZE_MAX ? size : (double)NAN;
}

bool problem_size_is_same(double a, double b)
{
    return fabs(a - b) <= 0.01 * fmax(a, b);
}

void run_leave_out_lost(struct run *run)
{
    int64_t lost = 0;
    int64_t ended = 0;
    for (size_t i = 0; i < run->n_stages; i++) {
        lost += run->stages[i].tasks_lost;
        ended += run->stages[i].n_tasks > 0 ? run->stages[i].n_tasks : 0;
    }
    if (!run->compacted && (double)lost <= RUN_LOST_SHARE * (double)(lost + ended))
        return;
    run->n_stages = 0;
    run->has_stages = false;
    if (run->compacted)
        run->initialization_s = (double)NAN;
}

/* NAN is like NAN; the last digit may differ where a sum ran in another order. */
static bool is_alike(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : fabs(a - b) <= 1e-9 * fmax(a, b);
}

bool problem_size_measure(struct run *run,
                          const struct size_measure *before,
                          const struct size_measure *measure)
{
    static const struct size_measure first_stage = {.kind = SIZE_FIRST_STAGE};
    double old = run->problem_size;
    if (!run->from_log || run->problem_size_given)
        return false;
    if (before != NULL && !is_alike(old, problem_size_of_run(run, before)) &&
        !is_alike(old, problem_size_of_run(run, &first_stage)))
        return false;
    run->problem_size = problem_size_of_run(run, measure);
    return !is_alike(old, run->problem_size);
}
