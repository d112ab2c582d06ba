#include "codec/workloads/workload.h"

#include "codec/json/finding.h"

enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY };

/* --- from runs --- */

#define Q struct codec_workload_from_runs
static const char *const from_words[] = {"runs", NULL};

static void refuse_same(const struct codec_node *list, const struct strview names[], size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (names[i].n > 0 && strview_equal(names[i], names[k])) {
                struct codec_node item = codec_item(list, i);
                codec_fault(&item, "duplicate", "is listed twice");
                break;
            }
}

static void decode_applications(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_workload_from_runs *request = object;
    struct codec_node list;
    (void)limits;
    request->applications =
        codec_list(node, "applications", CODEC_REQUIRED, 1, CODEC_WORKLOAD_APPLICATIONS_MAX,
                   sizeof *request->applications, &list, &request->n_applications);
    for (size_t i = 0; i < request->n_applications; i++) {
        struct codec_node item = codec_item(&list, i);
        request->applications[i] = codec_as_name(&item);
    }
    refuse_same(&list, request->applications, request->n_applications);
}

static void check_window(const struct codec_node *node, const void *limits, void *object)
{
    const struct codec_workload_from_runs *request = object;
    (void)limits;
    if (request->since_us != RUN_NO_INSTANT && request->until_us != RUN_NO_INSTANT &&
        request->until_us <= request->since_us)
        codec_fault_member(node, "until", "out_of_range", "must be later than since");
}

static const struct shape_member of_request[] = {
    {"from", SHAPE_WORD(Q, from, from_words), .flags = CODEC_REQUIRED},
    {"applications", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_applications},
    {"since", SHAPE_INSTANT(Q, since_us), .flags = NULLABLE},
    {"until", SHAPE_INSTANT(Q, until_us), .flags = NULLABLE},
    {"name", SHAPE_NAME(Q, name), .flags = NULLABLE},
};
const struct shape codec_workload_from_runs_shape = {
    .request = "WorkloadFromRuns", SHAPE_OF(of_request, Q), .check = check_window};

void codec_workload_from_runs_decode(const struct codec_node *node,
                                     struct codec_workload_from_runs *request)
{
    *request = (struct codec_workload_from_runs){0};
    shape_decode(node, &codec_workload_from_runs_shape, NULL, request);
}

/* --- what it comes to --- */

#define D struct workload_distribution
static const struct shape_member of_distribution[] = {
    {"mean", SHAPE_NUMBER(D, mean), .flags = REPLY | NULLABLE},
    {"p50", SHAPE_NUMBER(D, p50), .flags = REPLY | NULLABLE},
    {"p90", SHAPE_NUMBER(D, p90), .flags = REPLY | NULLABLE},
    {"p99", SHAPE_NUMBER(D, p99), .flags = REPLY | NULLABLE},
    {"max", SHAPE_NUMBER(D, max), .flags = REPLY | NULLABLE},
    {"quantile_error", SHAPE_NUMBER(D, error), .flags = REPLY},
};
const struct shape codec_workload_distribution_shape = {.reply = "WorkloadDistribution",
                                                        SHAPE_OF(of_distribution, D)};

static void encode_law(struct writer *w, const void *object, const void *context)
{
    const struct workload_size_law *law =
        &((const struct codec_workload_summary *)object)->summary.size_law;
    (void)context;
    if (!writer_member_object_or_null(w, "size_law", law->jobs > 0))
        return;
    writer_member_integer(w, "jobs", (int64_t)law->jobs);
    writer_member_number(w, "seconds_per_byte", law->seconds_per_byte);
    writer_member_number(w, "r_squared", law->r_squared);
    writer_member_number(w, "log_r_squared", law->log_r_squared);
    writer_member_number(w, "without_input_s", law->without_input_s);
    writer_end_object(w);
}

static void encode_rates(struct writer *w, const void *object, const void *context)
{
    const struct workload_rates *rates = ((const struct codec_workload_summary *)object)->rates;
    (void)context;
    if (!writer_member_object_or_null(w, "rates", rates != NULL))
        return;
    writer_member_number(w, "map_bytes", rates->map_bytes);
    writer_member_number(w, "reduce_bytes", rates->reduce_bytes);
    writer_member_number(w, "map_bytes_per_s", rates->map_bytes_per_s);
    writer_member_number(w, "shuffle_bytes_per_s", rates->shuffle_bytes_per_s);
    writer_member_number(w, "output_bytes_per_s", rates->output_bytes_per_s);
    writer_member_number(w, "task_overhead_s", rates->task_overhead_s);
    writer_end_object(w);
}

static void encode_durations(struct writer *w, const void *object, const void *context)
{
    const struct workload_durations *durations =
        ((const struct codec_workload_summary *)object)->durations;
    (void)context;
    if (!writer_member_object_or_null(w, "durations_from", durations != NULL))
        return;
    writer_member_integer(w, "recorded", durations->recorded);
    writer_member_integer(w, "from_sketches", durations->from_sketches);
    writer_member_integer(w, "from_means", durations->from_means);
    writer_end_object(w);
}

static void encode_tail_jobs(struct writer *w, const void *object, const void *context)
{
    const struct codec_workload_summary *of = object;
    (void)context;
    writer_member_integer(w, "tail_jobs", (int64_t)of->summary.tail_jobs);
}

static void encode_rounded(struct writer *w, const void *object, const void *context)
{
    const struct codec_workload_summary *of = object;
    (void)context;
    writer_member_integer(w, "rounded_tasks", (int64_t)of->summary.rounded);
}

static void encode_warnings(struct writer *w, const void *object, const void *context)
{
    const struct codec_workload_summary *of = object;
    (void)context;
    codec_findings_encode(w, "warnings", &of->summary.warnings);
}

#define S struct codec_workload_summary
#define DISTRIBUTION(path)                                                                         \
    SHAPE_OBJECT(S, summary.path, &codec_workload_distribution_shape), .flags = REPLY
static const struct shape_member of_summary[] = {
    {"first_arrival_s", SHAPE_NUMBER(S, summary.first_arrival_s), .flags = REPLY},
    {"last_arrival_s", SHAPE_NUMBER(S, summary.last_arrival_s), .flags = REPLY},
    {"arrivals_sorted", SHAPE_BOOLEAN(S, summary.sorted), .flags = REPLY},
    {"work_s", SHAPE_NUMBER(S, summary.work_s), .flags = REPLY},
    {"offered_slots", SHAPE_NUMBER(S, summary.offered_slots), .flags = REPLY | NULLABLE},
    {"tasks_per_job", DISTRIBUTION(job_tasks)},
    {"mean_task_s", DISTRIBUTION(job_mean_s)},
    {"job_size_s", DISTRIBUTION(job_size_s)},
    {"each_task_s", DISTRIBUTION(task_s[WORKLOAD_TASKS])},
    {"each_reduce_s", DISTRIBUTION(task_s[WORKLOAD_REDUCES])},
    {"tail_index", SHAPE_NUMBER(S, summary.tail_index), .flags = REPLY | NULLABLE},
    {"tail_jobs", SHAPE_CODE, .flags = REPLY, .encode = encode_tail_jobs},
    {"largest_1_percent_share", SHAPE_NUMBER(S, summary.largest_1_share),
     .flags = REPLY | NULLABLE},
    {"largest_10_percent_share", SHAPE_NUMBER(S, summary.largest_10_share),
     .flags = REPLY | NULLABLE},
    {"size_law", SHAPE_CODE, .flags = REPLY | NULLABLE, .encode = encode_law},
    {"rounded_tasks", SHAPE_CODE, .flags = REPLY, .encode = encode_rounded},
    {"rounding_error", SHAPE_NUMBER(S, summary.rounding_error), .flags = REPLY},
    {"rates", SHAPE_CODE, .flags = REPLY | NULLABLE, .encode = encode_rates},
    {"durations_from", SHAPE_CODE, .flags = REPLY | NULLABLE, .encode = encode_durations},
    {"warnings", SHAPE_CODE, .flags = REPLY, .encode = encode_warnings},
};
const struct shape codec_workload_summary_shape = {.reply = "WorkloadSummary",
                                                   SHAPE_OF(of_summary, S)};

void codec_workload_summary_encode(struct writer *w, const struct codec_workload_summary *summary)
{
    shape_encode(w, &codec_workload_summary_shape, summary, 0, NULL);
}

/* --- a workload --- */

static void encode_summary(struct writer *w, const void *object, const void *context)
{
    const struct workload_record *record = object;
    (void)context;
    writer_key(w, "summary");
    writer_raw(w, record->summary);
}

#define W struct workload_record
static const struct shape_member of_workload[] = {
    {"id", SHAPE_ID(W, id), .flags = REPLY},
    {"name", SHAPE_TEXT(W, name), .flags = REPLY | NULLABLE},
    {"format", SHAPE_WORD(W, origin, workload_origin_words), .flags = REPLY},
    {"created_at", SHAPE_INSTANT(W, created_us), .flags = REPLY},
    {"jobs", SHAPE_COUNT(W, jobs), .flags = REPLY},
    {"tasks", SHAPE_COUNT(W, tasks), .flags = REPLY},
    {"reduce_tasks", SHAPE_COUNT(W, reduce_tasks), .flags = REPLY},
    {"stored_bytes", SHAPE_COUNT(W, bytes), .flags = REPLY},
    {"summary", SHAPE_CODE, .flags = REPLY, .encode = encode_summary},
};
const struct shape codec_workload_shape = {.reply = "Workload", SHAPE_OF(of_workload, W)};

void codec_workload_encode(struct writer *w, const struct workload_record *record)
{
    shape_encode(w, &codec_workload_shape, record, 0, NULL);
}
