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

/* Loads the runs for jobs from history, at HTTP_IO if there are such jobs, in one transaction that ends
 * before anything is computed. The size of the cluster must be known. */
enum pv_code job_set_load_jobs(struct api *api,
                               struct http_request *request,
                               struct codec_job_set *set,
                               struct pv_error *err) PV_MUSTCHECK;

/* Some job comes from history. */
bool job_set_has_history(const struct codec_job_set *set);

/*
 * The runs of the application of each job from history, nearest in size and cores first; if none has
 * stages with task times, what advice predicts from. Fault at the application: there is none of that
 * name.
 */
enum pv_code job_set_load_from(struct store_tx *tx,
                               struct arena *arena,
                               const struct config *config,
                               struct codec_job_set *set,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * Makes the jobs from history of the loaded runs: set->recorded and set->nominal_rates. It takes the
 * time of replays and of predictions. Faults: at an application without a run that says enough; at /jobs
 * where there are more than tasks_max tasks. GSL's error handler must be off.
 */
enum pv_code job_set_make_jobs(const struct config *config,
                               struct arena *arena,
                               struct codec_job_set *set,
                               struct pv_error *err) PV_MUSTCHECK;

/* Adds the warnings of recorded_jobs_warn. */
void job_set_warn(const struct codec_job_set *set, struct findings *warnings);

#endif
