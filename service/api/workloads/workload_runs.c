#include "api/workloads/workload_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/shared/reply.h"
#include "base/fault_text.h"
#include "base/plural.h"
#include "core/workload/run_job.h"
#include "store/history/application.h"
#include "store/name_hint.h"

/* Large enough that round trips cost little, small enough for any machine's memory. */
enum { PAGE_RUNS = 200, PAGE_TASKS = 250000 };
/* In a message: so many applications, and bytes of each. */
enum { NAMES_SHOWN = 5, NAME_SHOWN = 64 };

void workload_runs_open(struct workload_runs *runs, struct api *api, const struct arena *first)
{
    runs->api = api;
    runs->first_us = runs->last_us = RUN_NO_INSTANT;
    arena_init_beside(&runs->arena, first, 0);
}

void workload_runs_close(struct workload_runs *runs)
{
    arena_fini(&runs->arena);
}

enum pv_code
workload_runs_decode(struct workload_runs *runs, struct http_request *request, struct pv_error *err)
{
    struct codec_document body;
    PV_TRY(api_body_open(runs->api->config, request, &body, err));
    codec_workload_from_runs_decode(&body.top, &runs->asked);
    return codec_close(&body);
}

/* --- loading --- */

/* All that are missing are reported. */
static enum pv_code find_application(struct store_tx *tx,
                                     struct http_request *request,
                                     struct strview name,
                                     size_t i,
                                     struct run_application *found,
                                     struct pv_error *err)
{
    struct pv_error why = {.code = PV_OK};
    struct application application;
    char pointer[48];
    enum pv_code code = store_application_find(tx, request->arena, name.at, &application, &why);
    (void)snprintf(pointer, sizeof pointer, "/applications/%zu", i);
    if (code == PV_E_NOT_FOUND) {
        (void)pv_fault(err, PV_PLACE_POINTER, pointer, "unknown_application",
                       "there is no application %s%s", fault_quote(name.at).text,
                       store_name_hint(tx, request->arena, STORE_NAMES_APPLICATIONS, name.at));
        return PV_OK;
    }
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    memcpy(found->id, application.id, sizeof found->id);
    return PV_OK;
}

static enum pv_code find_applications(struct workload_runs *runs,
                                      struct store_tx *tx,
                                      struct http_request *request,
                                      struct pv_error *err)
{
    size_t n = runs->asked.n_applications;
    struct run_application *found = arena_calloc(request->arena, n, sizeof *found);
    if (found == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        PV_TRY(find_application(tx, request, runs->asked.applications[i], i, &found[i], err));
    if (err->n_faults > 0)
        return err->code;
    runs->applications = found;
    return PV_OK;
}

static enum pv_code
load_page(struct workload_runs *runs, struct http_request *request, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(runs->api, request, &tx, err));
    if (runs->applications == NULL)
        PV_TRY(find_applications(runs, tx, request, err));
    struct run_arrivals_filter filter = {.applications = runs->applications,
                                         .n_applications = runs->asked.n_applications,
                                         .since_us = runs->asked.since_us,
                                         .until_us = runs->asked.until_us,
                                         .after_us = runs->last_us,
                                         .limit = PAGE_RUNS,
                                         .tasks_most = PAGE_TASKS};
    memcpy(filter.after_id, runs->last_id, sizeof filter.after_id);
    arena_clear(&runs->arena);
    PV_TRY(store_run_arrivals(tx, &runs->arena, &filter, &runs->page, err));
    runs->loaded = true;
    return PV_OK;
}

/* --- jobs --- */

static enum pv_code take_run(struct workload_runs *runs,
                             const struct run_arrival *run,
                             struct workload_import *import,
                             struct pv_error *err)
{
    struct run_job made;
    bool known = false;
    if (!run->succeeded) {
        runs->failed++;
        return PV_OK;
    }
    PV_TRY(run_job_make(run->stages, run->n_stages, &runs->arena, &made, &known, err));
    if (!known) {
        runs->without_tasks++;
        return PV_OK;
    }
    if (runs->first_us == RUN_NO_INSTANT)
        runs->first_us = run->instant_us;
    made.job.name = runs->asked.applications[run->application];
    made.job.arrival_s = (double)(run->instant_us - runs->first_us) / 1e6;
    runs->jobs++;
    runs->recorded += !run->submitted;
    runs->raised_tasks += made.raised_tasks;
    runs->durations.recorded += made.durations.recorded;
    runs->durations.from_sketches += made.durations.from_sketches;
    runs->durations.from_means += made.durations.from_means;
    return workload_import_job(import, &made.job, err);
}

static enum pv_code
take_page(struct workload_runs *runs, struct workload_import *import, struct pv_error *err)
{
    const struct run_arrivals *page = &runs->page;
    for (size_t i = 0; i < page->n; i++)
        PV_TRY(take_run(runs, &page->items[i], import, err));
    if (page->n > 0) {
        runs->last_us = page->items[page->n - 1].instant_us;
        memcpy(runs->last_id, page->items[page->n - 1].id, sizeof runs->last_id);
    }
    runs->over = !page->more;
    runs->loaded = false;
    return PV_OK;
}

static enum pv_code fail_without_runs(const struct workload_runs *runs, struct pv_error *err)
{
    char names[NAMES_SHOWN * (NAME_SHOWN + sizeof ", \"\"")];
    size_t n = runs->asked.n_applications;
    size_t shown = n < NAMES_SHOWN ? n : NAMES_SHOWN;
    size_t at = 0;
    for (size_t i = 0; i < shown; i++) {
        struct strview name = strview_clip(runs->asked.applications[i], NAME_SHOWN);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s\"%.*s\"", i > 0 ? ", " : "",
                               (int)name.n, name.at);
    }
    return pv_fault(err, PV_PLACE_POINTER, "/applications", "no_history",
                    "no run of %s%s succeeded in that time with task times that are known", names,
                    n > shown ? " and others" : "");
}

enum pv_code workload_runs_read(struct workload_runs *runs,
                                struct http_request *request,
                                struct workload_import *import,
                                struct pv_error *err)
{
    if (runs->loaded && request->place == HTTP_COMPUTE)
        PV_TRY(take_page(runs, import, err));
    if (!runs->over && !runs->loaded) {
        PV_TRY(http_move(request, HTTP_IO));
        PV_TRY(load_page(runs, request, err));
    }
    PV_TRY(http_move(request, HTTP_COMPUTE));
    return runs->jobs > 0 ? PV_OK : fail_without_runs(runs, err);
}

static void warn_left_out(const struct workload_runs *runs, struct findings *warnings)
{
    size_t n = runs->failed + runs->without_tasks;
    if (n == 0)
        return;
    struct finding *finding = finding_add(
        warnings, "runs_left_out",
        "%zu run%s left out: %zu failed, and of %zu it is not known what the tasks took", n,
        PLURAL_VERB(n, " was", "s were"), runs->failed, runs->without_tasks);
    finding_count(finding, n);
    finding_number(finding, "failed", (double)runs->failed);
    finding_number(finding, "without_task_times", (double)runs->without_tasks);
}

void workload_runs_warn(const struct workload_runs *runs, struct findings *warnings)
{
    warn_left_out(runs, warnings);
    if (runs->recorded > 0)
        finding_count(finding_add(warnings, "arrivals_as_recorded",
                                  "when %zu job%s submitted is not known, so %s when the run was "
                                  "recorded",
                                  runs->recorded, PLURAL_VERB(runs->recorded, " was", "s were"),
                                  PLURAL_VERB(runs->recorded, "it arrives", "they arrive")),
                      runs->recorded);
    if (runs->raised_tasks > 0)
        finding_count(finding_add(warnings, "tasks_without_duration",
                                  "%" PRId64 " task%s recorded as taking no time; %s as 1 ms",
                                  runs->raised_tasks,
                                  PLURAL_VERB(runs->raised_tasks, " was", "s were"),
                                  PLURAL_VERB(runs->raised_tasks, "it counts", "they count")),
                      (size_t)runs->raised_tasks);
}
