#ifndef API_WORKLOADS_WORKLOAD_RUNS_H
#define API_WORKLOADS_WORKLOAD_RUNS_H

#include "api/api.h"
#include "codec/workloads/workload.h"
#include "core/workload/workload_import.h"
#include "store/history/run_arrivals.h"

/*
 * Stored runs as the jobs of a workload, in order of arrival: a page is loaded on an io worker and
 * becomes jobs on a compute worker, to and fro, so that any history takes the memory of a page. Each
 * page is a transaction of its own; runs that come or go meanwhile are in or out.
 */
struct workload_runs {
    struct api *api;
    struct codec_workload_from_runs asked;
    struct run_application *applications; /* NULL: not found yet */
    struct arena arena;                   /* of a page */
    struct run_arrivals page;
    bool loaded; /* a page that has not become jobs */
    bool over;
    int64_t first_us; /* RUN_NO_INSTANT: no run was seen */
    int64_t last_us;
    char last_id[37];
    struct workload_durations durations;
    size_t jobs;
    size_t failed;        /* runs left out */
    size_t without_tasks; /* likewise: what their tasks took is not known */
    size_t recorded;      /* runs that arrive when they were recorded */
    int64_t raised_tasks;
};

/* Of an empty struct. first: whose account pays for pages. */
void workload_runs_open(struct workload_runs *runs, struct api *api, const struct arena *first);
/* Also of one never opened. */
void workload_runs_close(struct workload_runs *runs);

/* The JSON body, on a compute worker; texts live in request->arena. */
enum pv_code workload_runs_decode(struct workload_runs *runs,
                                  struct http_request *request,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * All runs into the import. PV_E_RETRY carries http_move: to be called again where that leads. PV_OK
 * comes on a compute worker. PV_E_INVALID: there is no such application, or no run to be had.
 */
enum pv_code workload_runs_read(struct workload_runs *runs,
                                struct http_request *request,
                                struct workload_import *import,
                                struct pv_error *err) PV_MUSTCHECK;

/* What was left out, or is not quite as it was. */
void workload_runs_warn(const struct workload_runs *runs, struct findings *warnings);

#endif
