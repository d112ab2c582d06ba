#ifndef CORE_WORKLOAD_WORKLOAD_LOAD_H
#define CORE_WORKLOAD_WORKLOAD_LOAD_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/slots/slots_workload.h"
#include "core/scheduling/tasks/tasks_model.h"
#include "core/workload/workload.h"

/*
 * A workload for the simulators: all its chunks, added in order, as arrays. How much memory that
 * takes is known from the summary alone.
 */
enum workload_target {
    WORKLOAD_FOR_SLOTS, /* struct slots_job: maps and reduces, equal neighbours together */
    WORKLOAD_FOR_TASKS  /* struct tasks_job: all tasks, maps and then reduces, as one bag */
};

struct workload_load_terms {
    enum workload_target target;
    bool names; /* jobs' names are wanted */
    /* For slots: predicted sizes by the summary's law, where the job has none of its own. */
    bool predict_from_input;
    double seconds_per_byte; /* that law's, where it is not to be the trace's; 0: it is */
    double short_cutoff_s;   /* for tasks: jobs without a class are long above it; NAN: never */
};

struct workload_jobs {
    size_t n;
    struct slots_job *slots; /* NULL: for tasks */
    struct tasks_job *tasks; /* NULL: for slots */
    const char **names;      /* NULL unless wanted; "" where a job has none */
};

struct workload_load;

/* Bytes that loading takes of an arena, in one piece: a fresh arena holds as much and no more.
 * SIZE_MAX: more than there can be. */
size_t workload_load_bytes(const struct workload_summary *summary,
                           const struct workload_load_terms *terms);

/* Arrays for what the summary counts, which is borrowed until it is finished. PV_E_MEMORY. PV_E_LIMIT: more jobs, or tasks of a job, than
 * tasks_model takes (2^32 - 1). */
enum pv_code workload_load_begin(const struct workload_summary *summary,
                                 const struct workload_load_terms *terms,
                                 struct arena *arena,
                                 struct workload_load **load,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The next chunk, borrowed for the call. PV_E_INVALID, naming the chunk, from 1: damaged, or there
 * is more in it than the summary counts. O(bytes + tasks). */
enum pv_code workload_load_chunk(struct workload_load *load,
                                 struct strview bytes,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Jobs by arrival and, where that is equal, as they were in the trace; in the arena. PV_E_INVALID: a
 * chunk is missing. O(jobs), O(jobs log(jobs)) where they were not sorted. */
enum pv_code workload_load_finish(struct workload_load *load,
                                  struct workload_jobs *jobs,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
