#ifndef CORE_HISTORY_CACHED_DATA_H
#define CORE_HISTORY_CACHED_DATA_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * Cached data: RDDs and tables that Spark keeps in the memory of its executors. How much a run
 * cached, what share of it fits on other executors, and what a task costs that does not find its
 * block.
 *
 * Spark does not evict a block for another block of the same RDD. So if an application wants to
 * cache D bytes on m executors that hold C bytes each, the share min(1, m C / D) of the blocks stays
 * in memory. In every stage that reads them the tasks of the other blocks miss: they compute their
 * block again. D grows in proportion to the problem size.
 */

/* A stage of a run, with the times of its tasks. */
struct cached_tasks {
    const struct run_stage *stage;
    const double *ascending_s;
    size_t n;
};

/* Tasks of a stage that reads cached data. */
struct cached_stage {
    size_t hits;    /* recorded tasks that found their block; all tasks of other stages */
    double extra_s; /* that a task takes longer which does not find its block; 0 for other stages */
    bool measured;  /* the run has tasks of both kinds; else extra_s is a task of the stage that
                       computed the data */
};

struct cached_data {
    double wanted_bytes;         /* that the run wanted to cache; NAN: unknown */
    double held_bytes;           /* that one executor can hold; NAN: unknown */
    bool is_full;                /* the executors had no room left for cached data */
    struct cached_stage *stages; /* one a stage; NULL: no stage reads cached data */
};

/*
 * Reads the cached data of a run. All tasks found their blocks if the executors had memory left.
 * Otherwise task times that form two groups are divided between them.
 *
 * tasks   n stages of the run, by ascending id
 * made    its members live in `arena`. PV_E_MEMORY.
 */
enum pv_code cached_data_take(const struct run *run,
                              const struct cached_tasks tasks[],
                              size_t n,
                              struct arena *arena,
                              struct cached_data *made,
                              struct pv_error *err) PV_MUSTCHECK;

/* Completes `mine` by what `other` shows. Both runs have the same n stages.
 * ratio: problem size of the run of `mine` over that of `other`. */
void cached_data_learn(struct cached_data *mine,
                       const struct cached_data *other,
                       size_t n,
                       double ratio);

/* Share of the blocks in memory on `executors`, at `ratio` times the size of the run; 1 if the
 * amount of data or the memory is unknown. */
double cached_data_hit(const struct cached_data *data, double ratio, int64_t executors);

/* The fewest executors that hold all blocks, if `executors` hold the share `hit` of them. */
double cached_data_executors(double hit, int64_t executors);

/*
 * Of n task times, ascending, the number of tasks that found their block. Times in two groups that
 * lie apart by more than half of the shorter time are divided between them; else 0.
 */
size_t cached_data_split(const double ascending_s[], size_t n);

#endif
