#include "api/scheduling/slot_profiles.h"

#include <stdio.h>

#include "api/advice/recent_runs.h"
#include "base/fault_text.h"
#include "store/name_hint.h"

static void
fault_at(struct pv_error *err, size_t job, const char *code, const char *detail, const char *hint)
{
    char pointer[64];
    (void)snprintf(pointer, sizeof pointer, "/jobs/%zu/application", job);
    (void)pv_fault(err, PV_PLACE_POINTER, pointer, code, "%s%s", detail, hint);
}

/* A job before this one that is of the same application, or this one. */
static size_t find_same(const struct codec_slot_plan *asked, size_t job)
{
    struct strview wanted = asked->jobs[job].application;
    for (size_t i = 0; i < job; i++) {
        struct strview other = asked->jobs[i].application;
        if (other.at != NULL && strview_equal(other, wanted))
            return i;
    }
    return job;
}

/* The recent runs become a profile; they are gone when this returns. PV_E_TOO_FEW: they do not say
 * enough. */
static enum pv_code draw_profile(struct store_tx *tx,
                                 struct arena *scratch,
                                 const struct application *application,
                                 struct codec_slot_profile *profile,
                                 struct run_source sources[],
                                 struct pv_error *err)
{
    struct run_list list;
    struct run_profile drawn;
    PV_TRY(recent_runs_load(tx, scratch, application, &list, err));
    if (list.n == 0)
        return pv_fail(err, PV_E_TOO_FEW, "of its latest %d, no run succeeded and has stages",
                       RECENT_RUNS_MAX);
    PV_TRY(run_profile_build(list.items, list.n, scratch, &drawn, err));
    PV_TRY(map_reduce_of(&drawn, &profile->tasks, err));
    run_profile_sources(&drawn, list.items, sources);
    profile->runs = sources;
    profile->n_runs = drawn.n_runs;
    profile->graph_changed = drawn.graph_changed;
    return PV_OK;
}

static enum pv_code make_profile(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct codec_slot_profile **made,
                                 struct pv_error *err)
{
    struct codec_slot_profile *profile = arena_calloc(arena, 1, sizeof *profile);
    struct run_source *sources = arena_array(arena, RECENT_RUNS_MAX, sizeof *sources);
    if (profile == NULL || sources == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(arena);
    enum pv_code code = draw_profile(tx, arena, application, profile, sources, err);
    arena_rewind(arena, mark);
    *made = profile;
    return code;
}

/* Faults of the job are collected in err; what is returned otherwise ends the request. */
static enum pv_code load_job(struct store_tx *tx,
                             struct arena *arena,
                             struct codec_slot_plan *asked,
                             size_t i,
                             struct pv_error *err)
{
    struct codec_slot_plan_job *job = &asked->jobs[i];
    struct pv_error why = {.code = PV_OK};
    struct application application;
    enum pv_code code = store_application_find(tx, arena, job->application.at, &application, &why);
    if (code == PV_E_NOT_FOUND) {
        char no_application[128];
        (void)snprintf(no_application, sizeof no_application, "there is no application %s",
                       fault_quote(job->application.at).text);
        fault_at(err, i, "unknown_application", no_application,
                 store_name_hint(tx, arena, STORE_NAMES_APPLICATIONS, job->application.at));
        return PV_OK;
    }
    if (code == PV_OK)
        code = make_profile(tx, arena, &application, &job->profile, &why);
    if (code == PV_E_TOO_FEW) {
        fault_at(err, i, "no_history", why.detail, "");
        return PV_OK;
    }
    if (code != PV_OK)
        *err = why;
    return code;
}

static bool names_application(const struct codec_slot_plan *asked)
{
    for (size_t i = 0; i < asked->n_jobs; i++)
        if (asked->jobs[i].application.at != NULL)
            return true;
    return false;
}

enum pv_code slot_profiles_load(struct api *api,
                                struct http_request *request,
                                struct codec_slot_plan *asked,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    if (!names_application(asked))
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(api_read(api, request, &tx, err));
    for (size_t i = 0; i < asked->n_jobs; i++) {
        if (asked->jobs[i].application.at == NULL)
            continue;
        size_t same = find_same(asked, i);
        if (same < i)
            asked->jobs[i].profile = asked->jobs[same].profile;
        else
            PV_TRY(load_job(tx, request->arena, asked, i, err));
    }
    return err->n_faults > 0 ? err->code : PV_OK;
}
