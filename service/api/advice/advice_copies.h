#ifndef API_ADVICE_ADVICE_COPIES_H
#define API_ADVICE_ADVICE_COPIES_H

#include "api/advice/advice_load.h"
#include "codec/geo/copy_plan.h"

/*
 * The copy plan of an advice: which copies of the tasks of the job's first stages to start in which
 * of copy_plan.clusters.
 *
 * The tasks are those of the recommended configuration (core/advice/first_stages.h), cut evenly;
 * their ids are "stage.task". The input lies in `inputs`, one task's in one of them, in turns;
 * where that is not given, in all of the clusters. The operation is the name of the stage, or that
 * of the application where that was observed nearer: by one of the clusters before one of their
 * machine types before any other. All slots are taken to be idle.
 */
struct advice_copies {
    bool planned;
    struct codec_copy_plan asked;
    struct geo_plan plan;
};

/*
 * Plan for what `answer` recommends. Where that cannot be done, copies->planned stays false and a
 * warning (no_copy_plan) among those of the advice says why. Only failures of the service are
 * errors.
 */
enum pv_code advice_copies_plan(struct api *api,
                                struct http_request *request,
                                const struct advice_question *asked,
                                const struct advice_runs *runs,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
