#include "codec/deadlines/feasibility.h"

#include <math.h>
#include <stdio.h>

#include "codec/deadlines/launches.h"

static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_feasibility *request = object;
    codec_job_set_decode_cluster(top, ((const struct codec_job_set_limits *)limits)->cores,
                                 &request->set);
}

/* In the order of the bits of `include`. */
enum { INCLUDE_SCHEDULE = 1, INCLUDE_ALL_REMEDIES = 2, INCLUDE_DELAYED_BY = 4 };
static const char *const include_words[] = {"schedule", "all_remedies", "delayed_by", NULL};

/* Jobs that have memory are launched in that of the cluster, which may not be known yet. */
static void take_job_memory(const struct codec_node *top, struct codec_feasibility *request)
{
    size_t n = request->set.jobs == NULL ? 0 : request->set.n_jobs;
    for (size_t i = 0; i < n; i++) {
        int64_t bytes = request->set.sources[i].memory_bytes;
        if (bytes == RUN_UNKNOWN)
            continue;
        if (request->memory == NULL)
            request->memory = codec_allocate(top, 1, sizeof *request->memory);
        if (request->memory == NULL)
            return;
        request->memory->order = (enum edf_launch_order)request->launch_order;
        request->set.jobs[i].memory = request->memory;
        request->set.jobs[i].memory_bytes = bytes;
    }
    if (request->has_launch_order && request->memory == NULL)
        codec_fault_member(top, "launch_order", "conflict", "needs jobs with memory_bytes");
}

static void take_jobs(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_feasibility *request = object;
    request->with_schedule = (request->include & INCLUDE_SCHEDULE) != 0;
    request->with_all_remedies = (request->include & INCLUDE_ALL_REMEDIES) != 0;
    request->with_delays = (request->include & INCLUDE_DELAYED_BY) != 0;
    codec_job_set_take(top, limits, &request->set);
    take_job_memory(top, request);
}

#define F struct codec_feasibility
#define L struct codec_job_set_limits
static const struct shape_member members[] = {
    {"cluster", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_cluster},
    {"jobs", SHAPE_OBJECTS(F, set.sources, set.n_jobs, &codec_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(L, jobs)},
    {"launch_order", SHAPE_WORD(F, launch_order, edf_launch_order_words),
     SHAPE_GIVEN(F, has_launch_order)},
    {"include", SHAPE_WORDS(F, include, include_words)},
};
const struct shape codec_feasibility_shape = {
    .request = "FeasibilityRequest", SHAPE_OF(members, F), .check = take_jobs};

void codec_feasibility_decode(const struct codec_node *node,
                              const struct codec_job_set_limits *limits,
                              struct codec_feasibility *request)
{
    *request = (struct codec_feasibility){0};
    shape_decode(node, &codec_feasibility_shape, limits, request);
}

enum pv_code codec_feasibility_take_memory(struct codec_feasibility *request, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    const int64_t bytes = request->set.size.memory_bytes;
    if (request->memory == NULL)
        return PV_OK;
    if (bytes == RUN_UNKNOWN)
        return pv_fault(err, PV_PLACE_POINTER, "/cluster", "required",
                        "must have memory, since jobs have memory_bytes: memory_bytes, or "
                        "memory_bytes_per_executor of a registered cluster");
    request->memory->bytes = bytes;
    for (size_t i = 0; i < request->set.n_jobs; i++) {
        char at[64];
        (void)snprintf(at, sizeof at, "/jobs/%zu/memory_bytes", i);
        if (request->set.jobs[i].memory_bytes > bytes)
            code = pv_fault(err, PV_PLACE_POINTER, at, "out_of_range",
                            "is more than the cluster has: %lld", (long long)bytes);
    }
    return code;
}

/* --- the reply --- */

static void encode_change(struct writer *w,
                          const struct codec_feasibility *request,
                          const struct edf_change *change,
                          bool release)
{
    writer_begin_object(w);
    writer_member_text(w, "job", request->set.sources[change->job].name);
    if (release)
        writer_member_number(w, "release_s", change->release_s);
    writer_member_number(w, "deadline_s", change->deadline_s);
    writer_member_number(w, "later_s", change->later_s);
    writer_end_object(w);
}

static void begin_changes(struct writer *w,
                          const struct codec_feasibility *request,
                          const char *key,
                          const struct edf_change_list *list,
                          bool release)
{
    writer_member_object(w, key);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < list->n; i++)
        encode_change(w, request, &list->items[i], release);
    writer_end_array(w);
}

static void encode_left_out(struct writer *w,
                            const struct codec_feasibility *request,
                            const struct edf_left_out *left_out)
{
    writer_member_object(w, "jobs_left_out");
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < left_out->n; i++)
        writer_text(w, request->set.sources[left_out->jobs[i]].name);
    writer_end_array(w);
    writer_member_boolean(w, "exact", left_out->exact);
    writer_member_boolean(w, "irreducible", left_out->irreducible);
    writer_end_object(w);
}

static void encode_changes(struct writer *w,
                           const struct codec_feasibility *request,
                           const struct edf_changes *changes)
{
    begin_changes(w, request, "one_later_deadline", &changes->one_later_deadline, false);
    writer_member_boolean(w, "exact", changes->one_later_deadline.exact);
    writer_end_object(w);
    begin_changes(w, request, "later_deadlines", &changes->later_deadlines, false);
    writer_member_number(w, "total_later_s", changes->later_deadlines.total_s);
    writer_member_boolean(w, "exact", changes->later_deadlines.exact);
    writer_member_boolean(w, "irreducible", changes->later_deadlines.irreducible);
    writer_end_object(w);
    begin_changes(w, request, "one_later_release", &changes->one_later_release, true);
    writer_member_boolean(w, "exact", changes->one_later_release.exact);
    writer_end_object(w);
    begin_changes(w, request, "later_releases", &changes->later_releases, true);
    writer_member_number(w, "total_later_s", changes->later_releases.total_s);
    writer_member_boolean(w, "irreducible", changes->later_releases.irreducible);
    writer_end_object(w);
    encode_left_out(w, request, &changes->left_out);
}

static void encode_remedies(struct writer *w,
                            const struct codec_feasibility *request,
                            const struct codec_feasibility_answer *answer)
{
    const struct edf_remedies *remedies = answer->remedies;
    writer_member_object(w, "remedies");
    if (remedies->has_min_total_cores)
        writer_member_integer(w, "min_total_cores", (int64_t)remedies->min_total_cores);
    writer_member_object(w, "deadlines_s");
    for (size_t i = 0; i < request->set.n_jobs; i++) {
        if (isnan(remedies->deadlines_s[i]))
            continue;
        writer_key_view(w, request->set.sources[i].name);
        writer_number(w, remedies->deadlines_s[i]);
    }
    writer_end_object(w);
    if (!remedies->exact)
        writer_member_boolean(w, "exact", false);
    if (answer->changes != NULL)
        encode_changes(w, request, answer->changes);
    writer_end_object(w);
}

static void encode_delays(struct writer *w,
                          const struct codec_feasibility *request,
                          const struct edf_job_delays *delays)
{
    writer_member_number(w, "critical_path_s", delays->critical_path_s);
    writer_member_number(w, "waiting_s", delays->waiting_s);
    writer_member_array(w, "delayed_by");
    for (size_t i = 0; i < delays->n; i++) {
        writer_begin_object(w);
        writer_member_text(w, "job", request->set.sources[delays->items[i].job].name);
        writer_member_number(w, "core_s", delays->items[i].core_s);
        writer_member_number(w, "share", delays->items[i].share);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_feasibility_encode(struct writer *w,
                              const struct codec_feasibility *request,
                              const struct codec_feasibility_answer *answer)
{
    writer_member_boolean(w, "feasible", answer->metrics->delayed == 0);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < request->set.n_jobs; i++) {
        writer_begin_object(w);
        codec_job_outcome_encode(w, &request->set, i, &answer->outcomes[i]);
        codec_job_recorded_encode(w, &request->set, i);
        if (request->memory != NULL)
            writer_member_number(w, "launched_s", answer->outcomes[i].launched_s);
        if (answer->delays != NULL && !answer->outcomes[i].met)
            encode_delays(w, request, &answer->delays[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_edf_metrics_encode(w, answer->metrics);
    if (request->memory != NULL) {
        const struct launches launches =
            launches_count(request->set.jobs, answer->outcomes, request->set.n_jobs);
        codec_launches_encode(w, request->memory, &launches);
    }
    if (answer->remedies != NULL)
        encode_remedies(w, request, answer);
}

void codec_feasibility_encode_placement(struct writer *w,
                                        const struct codec_feasibility *request,
                                        const struct edf_placement *placement)
{
    writer_begin_object(w);
    writer_member_text(w, "job", request->set.sources[placement->job].name);
    writer_member_integer(w, "stage",
                          request->set.jobs[placement->job].stages[placement->stage].id);
    writer_member_integer(w, "task", (int64_t)placement->task);
    writer_member_integer(w, "core", (int64_t)placement->core);
    writer_member_number(w, "start_s", placement->start_s);
    writer_member_number(w, "end_s", placement->end_s);
    writer_end_object(w);
}
