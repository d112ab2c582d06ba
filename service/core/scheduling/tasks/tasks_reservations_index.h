#ifndef CORE_SCHEDULING_TASKS_TASKS_RESERVATIONS_INDEX_H
#define CORE_SCHEDULING_TASKS_TASKS_RESERVATIONS_INDEX_H

#include "core/scheduling/tasks/tasks_line.h"

/*
 * Who is next where many reservations wait at a worker (tasks_reservations.h), without looking at all
 * of them. The work of a job that has not begun does not change, and there are many such jobs: at
 * each worker their reservations are a heap. A worker that has a task of a job stays with it, so that
 * few jobs have begun and have tasks left: their reservations are a list, which is looked through.
 * Those of jobs without tasks are a list, too.
 *
 * Work that is equal within rounding is one class, so that a heap's order is total: by class, then by
 * arrival at the worker. Rounding may also link figures that are not all equal to one another, of a
 * class or with what is left of jobs that have begun: where the least is among such, the index says so
 * (INDEX_AMBIGUOUS), and the line has to be looked through.
 *
 * A reservation belongs to the heap of the worker, or to one of its lists, as its job has not begun,
 * has begun, or has no tasks left: whoever changes that takes it out before and puts it in again.
 */
struct index_work_class;
struct index_node;
struct index_worker;

enum index_part { INDEX_UNTOUCHED, INDEX_BEGUN, INDEX_SPENT };

#define INDEX_AMBIGUOUS (LINE_END - 1)

struct reservations_index {
    const struct line_pool *pool;     /* borrowed */
    const double *remaining_s;        /* of each job; borrowed */
    struct index_node *nodes;         /* by place; NULL: there is no index */
    struct index_worker *workers;     /* those that are indexed, and others */
    uint32_t *class_of;               /* of each job that has not begun */
    struct index_work_class *classes; /* rising */
    uint32_t n_classes;
    bool refused;       /* there is no memory for one */
    uint64_t looked_at; /* places, to find the least */
};

/* No index yet: O(1), no memory. */
void reservations_index_init(struct reservations_index *index,
                             const struct line_pool *pool,
                             const double remaining_s[]);

/* Classes of the work of jobs that have not begun and have some, and no worker is indexed; once only.
 * Memory is the pool's arena's. false: out of memory. O(jobs log(jobs)). */
bool reservations_index_make(struct reservations_index *index,
                             const bool begun[],
                             uint32_t jobs,
                             uint32_t workers);

/* Bytes of nodes, of so many places, and of the rest. */
double reservations_index_nodes_memory(double places);
double reservations_index_memory(uint32_t workers, uint32_t jobs);

static inline bool reservations_index_is_made(const struct reservations_index *index)
{
    return index->nodes != NULL;
}

bool reservations_index_covers(const struct reservations_index *index, uint32_t worker);

/* A worker is indexed from now on, with nothing there, or is not any more. */
void reservations_index_cover(struct reservations_index *index, uint32_t worker);
void reservations_index_uncover(struct reservations_index *index, uint32_t worker);

/* At an indexed worker: a place arrives, as the last one, before it is put into a part. */
void reservations_index_arrive(struct reservations_index *index, uint32_t worker, uint32_t place);
/* How many arrived there before it. */
uint32_t reservations_index_order(const struct reservations_index *index, uint32_t place);

void reservations_index_put(struct reservations_index *index,
                            uint32_t worker,
                            uint32_t place,
                            enum index_part part);
void reservations_index_take_out(struct reservations_index *index,
                                 uint32_t worker,
                                 uint32_t place,
                                 enum index_part part);

/* A place of a job without tasks, one that waits at an indexed worker. */
uint32_t reservations_index_spent(const struct reservations_index *index, uint32_t worker);

/* The place whose job has the least remaining work, of equal ones the first to arrive, where none of
 * a job without tasks waits but some other; or INDEX_AMBIGUOUS. O(reservations there of jobs that
 * have begun). */
uint32_t reservations_index_least(struct reservations_index *index, uint32_t worker);

#endif
