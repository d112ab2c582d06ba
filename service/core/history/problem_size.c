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

static double input_bytes(const struct run *run)
{
    double bytes = (double)run->metrics.input_bytes;
    for (size_t i = 0; bytes > 0 && i < run->n_stages; i++)
        if (run->stages[i].metrics.input_bytes > 0)
            bytes += (double)run->stages[i].metrics.input_bytes * lost_share(&run->stages[i]);
    return bytes > 0 ? bytes : (double)NAN;
}

/* A job that reads so little is as large as its tasks are many. */
static double
input_blocks(const struct run *run, double least_bytes, enum size_measure_kind *measured)
{
    double bytes = input_bytes(run);
    double tasks = bytes >= least_bytes ? (double)NAN : first_parallel_tasks(run);
    *measured = isnan(tasks) ? SIZE_INPUT_BLOCKS : SIZE_FIRST_PARALLEL_STAGE;
    return isnan(tasks) ? bytes / PROBLEM_SIZE_BLOCK_BYTES : tasks;
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

static double
size_by(const struct run *run, const struct size_measure *measure, enum size_measure_kind *measured)
{
    *measured = measure->kind;
    switch (measure->kind) {
    case SIZE_INPUT_BLOCKS:
        return input_blocks(run, PROBLEM_SIZE_INPUT_LEAST, measured);
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

double problem_size_of_run(const struct run *run,
                           const struct size_measure *measure,
                           struct strview *measured)
{
    enum size_measure_kind kind;
    double size = run->compacted ? (double)NAN : size_by(run, measure, &kind);
    bool known = size >= PROBLEM_SIZE_MIN && size <= PROBLEM_SIZE_MAX;
    *measured = known ? strview_of(size_measure_words[kind]) : (struct strview){NULL, 0};
    return known ? size : (double)NAN;
}

const char *problem_size_measure_name(const char *measure)
{
    static const char *const names[] = {
        "bytes of input",           "records of input", "tasks of the first parallel stage",
        "tasks of the first stage", "a label",          "a Spark property"};
    for (size_t i = 0; measure != NULL && size_measure_words[i] != NULL; i++)
        if (strcmp(measure, size_measure_words[i]) == 0)
            return names[i];
    return "unknown means";
}

const char *problem_size_measure_word(struct strview measured)
{
    for (size_t i = 0; measured.at != NULL && size_measure_words[i] != NULL; i++)
        if (strview_is(measured, size_measure_words[i]))
            return size_measure_words[i];
    return NULL;
}

const char *problem_size_prevailing(const struct run runs[], size_t n)
{
    const char *found = NULL;
    size_t most = 0;
    for (const char *const *word = size_measure_words; *word != NULL; word++) {
        size_t count = 0;
        for (size_t i = 0; i < n && i < PROBLEM_SIZE_PREVAILING_RUNS; i++)
            count += runs[i].succeeded && !(runs[i].streaming_queries > 0) &&
                     runs[i].problem_size_measure.at != NULL &&
                     strview_is(runs[i].problem_size_measure, *word);
        if (count > most || (count == most && found != NULL && strcmp(*word, found) > 0))
            found = *word;
        most = count > most ? count : most;
    }
    return found;
}

bool problem_size_compares(const struct run *run, const char *measure)
{
    return measure == NULL || run->problem_size_measure.at == NULL ||
           strview_is(run->problem_size_measure, measure);
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

/* Was the size measured by `before`, or by a program that measured otherwise: by the first stage, or
 * few bytes in blocks? */
static bool is_measured_by(const struct run *run, const struct size_measure *before)
{
    static const struct size_measure first_stage = {.kind = SIZE_FIRST_STAGE};
    struct strview measured;
    enum size_measure_kind kind;
    return is_alike(run->problem_size, problem_size_of_run(run, before, &measured)) ||
           is_alike(run->problem_size, problem_size_of_run(run, &first_stage, &measured)) ||
           (before->kind == SIZE_INPUT_BLOCKS &&
            is_alike(run->problem_size, input_blocks(run, 0, &kind)));
}

bool problem_size_measure(struct run *run,
                          const struct size_measure *before,
                          const struct size_measure *measure)
{
    double old = run->problem_size;
    struct strview old_measure = run->problem_size_measure;
    if (run->problem_size_given)
        run->problem_size_measure = (struct strview){NULL, 0};
    if (!run->from_log || run->problem_size_given ||
        (before != NULL && !is_measured_by(run, before)))
        return false;
    run->problem_size = problem_size_of_run(run, measure, &run->problem_size_measure);
    return !is_alike(old, run->problem_size) ||
           !strview_equal(old_measure, run->problem_size_measure);
}
