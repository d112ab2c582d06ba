#ifndef API_DEADLINES_JOB_SET_LOAD_H
#define API_DEADLINES_JOB_SET_LOAD_H

#include "api/api.h"
#include "codec/deadlines/job_set.h"

/* What a set of jobs only names: its cluster, and applications whose runs describe jobs. */

/* The size of the cluster, at HTTP_IO where it is only named. */
enum pv_code job_set_load_cluster(struct api *api,
                                  struct http_request *request,
                                  struct codec_job_set *set,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The jobs from history, at HTTP_IO where there are any, in one transaction which is over before
 * anything is computed. */
enum pv_code job_set_load_jobs(struct api *api,
                               struct http_request *request,
                               struct codec_job_set *set,
                               struct pv_error *err) PV_MUSTCHECK;

/* Some job comes from history. */
bool job_set_has_history(const struct codec_job_set *set);

/*
 * Each job from history, and its nominal rate, as the nearest run of its application describes it. Faults stand at the
 * application: there is none of that name, or no run that says enough; at /jobs where there are
 * more than tasks_max tasks.
 */
enum pv_code job_set_load_from(struct store_tx *tx,
                               struct arena *arena,
                               int64_t tasks_max,
                               struct codec_job_set *set,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
