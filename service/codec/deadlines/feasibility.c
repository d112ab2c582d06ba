#include "codec/deadlines/feasibility.h"

#include <math.h>

static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_feasibility *request = object;
    codec_job_set_decode_cluster(top, ((const struct codec_job_set_limits *)limits)->cores,
                                 &request->set);
}

static void take_jobs(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_feasibility *request = object;
    request->with_schedule = request->include != 0;
    codec_job_set_take(top, limits, &request->set);
}

static const char *const include_words[] = {"schedule", NULL};

#define F struct codec_feasibility
#define L struct codec_job_set_limits
static const struct shape_member members[] = {
    {"cluster", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_cluster},
    {"jobs", SHAPE_OBJECTS(F, set.sources, set.n_jobs, &codec_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(L, jobs)},
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

/* --- the reply --- */

static void encode_remedies(struct writer *w,
                            const struct codec_feasibility *request,
                            const struct edf_remedies *remedies)
{
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
    writer_end_object(w);
}

void codec_feasibility_encode(struct writer *w,
                              const struct codec_feasibility *request,
                              const struct edf_outcome outcomes[],
                              const struct edf_metrics *metrics,
                              const struct edf_remedies *remedies)
{
    writer_member_boolean(w, "feasible", metrics->delayed == 0);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < request->set.n_jobs; i++) {
        writer_begin_object(w);
        codec_job_outcome_encode(w, &request->set, i, &outcomes[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_edf_metrics_encode(w, metrics);
    if (remedies != NULL)
        encode_remedies(w, request, remedies);
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
