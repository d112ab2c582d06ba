#include "codec/scheduling/slowdown.h"

#include <math.h>

enum { PERCENTILES_MAX = 100 };

static const double default_percents[] = {50, 90, 95, 99};
enum { DEFAULT_PERCENTS = sizeof default_percents / sizeof *default_percents };

#define J struct codec_slowdown_job
static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    const struct codec_slowdown_job *sent = object;
    (void)limits;
    if (sent->job.finish_s - sent->job.arrival_s < CODEC_SECONDS_MIN)
        codec_fault_member(node, "finish_s", "out_of_range",
                           "must be later than arrival_s, by at least 1e-9 s");
}

static const struct shape_member job_members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"arrival_s", SHAPE_NUMBER(J, job.arrival_s), .flags = CODEC_REQUIRED,
     .low = -CODEC_SECONDS_MAX, .high = CODEC_SECONDS_MAX},
    {"finish_s", SHAPE_NUMBER(J, job.finish_s), .flags = CODEC_REQUIRED, .low = -CODEC_SECONDS_MAX,
     .high = CODEC_SECONDS_MAX},
    {"runtime_s", SHAPE_NUMBER(J, job.runtime_s), .flags = CODEC_REQUIRED, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"size_s", SHAPE_NUMBER(J, job.size_s), .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_SUM_MAX},
    {"longest_task_s", SHAPE_NUMBER(J, job.longest_task_s), .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
};
const struct shape codec_slowdown_job_shape = {.request = "SlowdownJob",
                                               SHAPE_OF(job_members, J),
                                               .check = check_job,
                                               .unique = "name",
                                               .twice = "another job has this name"};

static void decode_percentiles(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slowdown *request = object;
    struct codec_node list;
    (void)limits;
    request->percentiles = codec_list(node, "percentiles", CODEC_OPTIONAL, 1, PERCENTILES_MAX,
                                      sizeof *request->percentiles, &list, &request->n_percentiles);
    for (size_t i = 0; i < request->n_percentiles; i++) {
        struct codec_node item = codec_item(&list, i);
        request->percentiles[i].percent = codec_as_number(&item, 0, 0, 100);
    }
}

static void take_default_percents(const struct codec_node *node, struct codec_slowdown *request)
{
    request->percentiles = codec_allocate(node, DEFAULT_PERCENTS, sizeof *request->percentiles);
    if (request->percentiles == NULL)
        return;
    request->n_percentiles = DEFAULT_PERCENTS;
    for (size_t i = 0; i < DEFAULT_PERCENTS; i++)
        request->percentiles[i].percent = default_percents[i];
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slowdown *request = object;
    (void)limits;
    if (!codec_present(node, "percentiles"))
        take_default_percents(node, request);
    request->jobs = codec_allocate(node, request->n, sizeof *request->jobs);
    for (size_t i = 0; request->jobs != NULL && i < request->n; i++)
        request->jobs[i] = request->sent[i].job;
}

#define R struct codec_slowdown
#define L struct codec_slowdown_limits
static const struct shape_member members[] = {
    {"percentiles", SHAPE_CODE, .decode = decode_percentiles},
    {"jobs", SHAPE_OBJECTS(R, sent, n, &codec_slowdown_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(L, jobs)},
};
const struct shape codec_slowdown_shape = {
    .request = "SlowdownRequest", SHAPE_OF(members, R), .check = check};

void codec_slowdown_decode(const struct codec_node *node,
                           const struct codec_slowdown_limits *limits,
                           struct codec_slowdown *request)
{
    *request = (struct codec_slowdown){0};
    shape_decode(node, &codec_slowdown_shape, limits, request);
}

static void encode_percentiles(struct writer *w, const struct codec_slowdown *request)
{
    writer_member_array(w, "percentiles");
    for (size_t i = 0; i < request->n_percentiles; i++) {
        const struct slowdown_percentile *percentile = &request->percentiles[i];
        writer_begin_object(w);
        writer_member_number(w, "percent", percentile->percent);
        writer_member_number(w, "slowdown", percentile->slowdown);
        writer_member_number(w, "variability", percentile->variability);
        if (!isnan(percentile->completion_over_longest_task))
            writer_member_number(w, "completion_over_longest_task",
                                 percentile->completion_over_longest_task);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_jobs(struct writer *w, const struct codec_slowdown *request)
{
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < request->n; i++) {
        const struct slowdown_job *job = &request->jobs[i];
        writer_begin_object(w);
        writer_member_text(w, "name", request->sent[i].name);
        writer_member_number(w, "sojourn_s", job->finish_s - job->arrival_s);
        writer_member_number(w, "slowdown", slowdown_of(job));
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_slowdown_classes_encode(struct writer *w,
                                   const struct slowdown_class classes[],
                                   size_t n)
{
    writer_member_array(w, "classes");
    for (size_t i = 0; i < n; i++) {
        const struct slowdown_class *class = &classes[i];
        writer_begin_object(w);
        writer_member_number(w, "from_s", class->from_s);
        writer_member_number(w, "to_s", class->to_s);
        writer_member_integer(w, "count", (int64_t) class->count);
        writer_member_number(w, "mean_slowdown", class->mean);
        writer_member_number(w, "median_slowdown", class->median);
        writer_member_number(w, "work_share", class->work_share);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_slowdown_encode(struct writer *w,
                           const struct codec_slowdown *request,
                           const struct slowdown_summary *summary,
                           const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_integer(w, "count", (int64_t)request->n);
    writer_member_number(w, "mean", summary->mean);
    writer_member_number(w, "median", summary->median);
    writer_member_number(w, "jain", summary->jain);
    encode_percentiles(w, request);
    encode_jobs(w, request);
    codec_slowdown_classes_encode(w, summary->classes, summary->n_classes);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}
