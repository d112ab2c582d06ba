#ifndef CORE_ADVICE_FIRST_STAGE_JOB_H
#define CORE_ADVICE_FIRST_STAGE_JOB_H

#include "core/advice/first_stages.h"
#include "core/advice/question.h"
#include "core/geo/performance_book.h"
#include "core/geo/problem.h"

/*
 * The first stages of an advised job as a job whose tasks are copied across clusters. A stage is
 * cut evenly; ids are "stage.task". Inputs are taken in turns, one for each task: those of the
 * question, failing these all of its clusters. Operations are named like the stages, and like the
 * application where a stage has no name.
 */
struct first_stage_job {
    struct strview *operations; /* names, each once; the application's is the first */
    size_t n_operations;
    struct geo_job job;
    struct geo_task *tasks; /* of the job */
    struct strview *ids;    /* of the tasks */
};

/* Everything lives in `arena` and in the question. PV_E_LIMIT: more than tasks_max tasks.
 * PV_E_MEMORY. */
enum pv_code first_stage_job_make(const struct advice_question *question,
                                  const struct first_stage stages[],
                                  size_t n,
                                  size_t tasks_max,
                                  struct arena *arena,
                                  struct first_stage_job *made,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Each task is of the operation of its stage, unless that of the application was observed nearer:
 * by one of the clusters itself, by one of the same machine type, anywhere. place[i]: of cluster i
 * in the book. PV_E_TOO_FEW: neither was observed anywhere. PV_E_MEMORY.
 */
enum pv_code first_stage_job_choose_operations(struct first_stage_job *job,
                                               const struct performance_book *book,
                                               const size_t place[],
                                               size_t n_clusters,
                                               struct arena *arena,
                                               struct pv_error *err) PV_MUSTCHECK;

#endif
