#include "fresh_sets.h"

#include <stdlib.h>

#include "core/scheduling/slots/fresh_plan.h"

const struct fresh_row fresh_rows[FRESH_ROWS] = {
    {FRESH_CLASSIFICATION, 270, 250},
    {FRESH_CLASSIFICATION, 129, 120},
    {FRESH_INVERTEDINDEX, 256, 250},
    {FRESH_INVERTEDINDEX, 128, 120},
    {FRESH_WORDCOUNT, 256, 200},
    {FRESH_WORDCOUNT, 128, 100},
    {FRESH_GREP, 270, 250},
    {FRESH_GREP, 128, 100},
    {FRESH_HISTOGRAM_RATINGS, 270, 250},
    {FRESH_HISTOGRAM_RATINGS, 129, 120},
    {FRESH_HISTOGRAM_MOVIES, 270, 200},
    {FRESH_HISTOGRAM_MOVIES, 129, 100},
};

const struct fresh_set fresh_sets[FRESH_SETS] = {
    [FRESH_A] = {"A", 40, 12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
    [FRESH_B] = {"B", 40, 6, {0, 2, 4, 6, 8, 10}},
    [FRESH_B_80] = {"B", 80, 6, {0, 2, 4, 6, 8, 10}},
    [FRESH_C] = {"C", 40, 24, {0, 0, 1, 1, 2, 2, 3, 3, 4,  4,  5,  5,
                               6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11}},
    [FRESH_D] = {"D", 40, 12, {0, 0, 1, 1, 4, 5, 8, 8, 9, 9, 10, 11}},
    [FRESH_E] = {"E", 40, 12, {2, 2, 3, 3, 4, 5, 6, 6, 7, 7, 10, 11}},
};

struct fresh_set fresh_simple_set(enum fresh_benchmark benchmark)
{
    struct fresh_set set = {.name = "simple", .slots = 40, .n = 10};
    for (size_t i = 0; i < set.n; i++)
        set.rows[i] = (size_t)benchmark * 2;
    return set;
}

static struct mapreduce_job job_of(const struct fresh_row *row)
{
    switch (row->benchmark) {
    case FRESH_CLASSIFICATION:
    case FRESH_HISTOGRAM_RATINGS:
        return (struct mapreduce_job){row->maps, row->reduces, 24, 7, 0};
    case FRESH_INVERTEDINDEX:
    case FRESH_GREP:
        return (struct mapreduce_job){row->maps, row->reduces, 12, 24, 0};
    default:
        return (struct mapreduce_job){row->maps, row->reduces, 18, 14, 0};
    }
}

void fresh_set_jobs(const struct fresh_set *set, struct mapreduce_job jobs[])
{
    struct mapreduce_job given[MAPREDUCE_JOBS_MAX];
    struct fresh_work work[MAPREDUCE_JOBS_MAX];
    size_t order[MAPREDUCE_JOBS_MAX];
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t i = 0; i < set->n; i++) {
        given[i] = job_of(&fresh_rows[set->rows[i]]);
        work[i] = fresh_work_of((double)given[i].maps, given[i].map_s, (double)given[i].reduces,
                                given[i].reduce_s);
    }
    if (fresh_johnson(work, set->n, &scratch, order, NULL) != PV_OK)
        abort();
    for (size_t i = 0; i < set->n; i++)
        jobs[i] = given[order[i]];
    arena_fini(&scratch);
}
