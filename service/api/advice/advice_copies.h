#ifndef API_ADVICE_ADVICE_COPIES_H
#define API_ADVICE_ADVICE_COPIES_H

#include "api/advice/advice_load.h"
#include "api/geo/copy_plan_clusters.h"
#include "codec/geo/copy_plan.h"
#include "core/advice/first_stage_job.h"

/*
 * The copy plan of advice: which copies of the tasks of the job's first stages to start in which
 * of copy_plan.clusters.
 *
 * The tasks are those of the recommended configuration (core/advice/first_stage_job.h). All slots
 * are taken to be idle. What it holds points at itself: it must not move.
 */
struct advice_copies {
    bool planned;
    struct first_stage_job job;
    struct codec_copy_plan asked;
    struct copy_plan_registered registered;
    struct geo_plan plan;
    bool impossible; /* a warning says so */
};

/*
 * Plan for what `answer` recommends, in three steps: _pose what is to be planned (HTTP_COMPUTE),
 * _load the clusters (HTTP_ANYWHERE, moves to HTTP_IO), and _plan (HTTP_COMPUTE, where it moves
 * to). Where that cannot be done, copies->planned stays false and a warning (no_copy_plan) among
 * those of the advice says why. Only failures of the service are errors.
 */
enum pv_code advice_copies_pose(struct api *api,
                                struct http_request *request,
                                const struct advice_question *question,
                                const struct advice_runs *runs,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err) PV_MUSTCHECK;
enum pv_code advice_copies_load(struct api *api,
                                struct http_request *request,
                                const struct advice_question *question,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err) PV_MUSTCHECK;
enum pv_code advice_copies_plan(struct http_request *request,
                                const struct advice_question *question,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
