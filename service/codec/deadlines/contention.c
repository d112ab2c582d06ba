#include "codec/deadlines/contention.h"

#include <math.h>

#include "codec/json/names.h"

static const double SECONDS_MAX = 1e12;
static const double CORES_MAX = 1e12; /* that an application may ask for */
static const int64_t TASKS_MAX = 1000000000000;
static const double RATE_MIN = 1e-9;
static const double RATE_MAX = 1e18;
/* The one of the thesis's example. It scales the weights of speed, not the cores they lead to. */
static const double AVERAGE_NOMINAL_RATE = 1e6;

static double known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

static const struct contention_strategy *decode_strategy(const struct codec_node *top)
{
    const char *words[CONTENTION_STRATEGIES + 1] = {NULL};
    for (size_t i = 0; i < CONTENTION_STRATEGIES; i++)
        words[i] = contention_strategies[i].name;
    return &contention_strategies[codec_choice(top, "strategy", CODEC_OPTIONAL, words,
                                               CONTENTION_PROPORTIONAL)];
}

static void decode_terms(const struct codec_node *top,
                         const struct codec_contention_limits *limits,
                         struct contention_terms *terms)
{
    terms->gamma = known_or(codec_number(top, "gamma", CODEC_OPTIONAL, 0, 1), 1);
    bool named = json_object_get(top->json, "cluster") != NULL;
    terms->max_cores =
        codec_number(top, "max_cores", (named ? CODEC_OPTIONAL : CODEC_REQUIRED) | CODEC_ABOVE, 0,
                     limits->cores);
    terms->average_nominal_rate =
        known_or(codec_number(top, "average_nominal_rate", CODEC_NULLABLE, RATE_MIN, RATE_MAX),
                 AVERAGE_NOMINAL_RATE);
}

static unsigned flags_of(const struct contention_strategy *strategy, enum contention_needs what)
{
    return (strategy->needs & what) != 0 ? CODEC_REQUIRED : CODEC_NULLABLE;
}

static void decode_application(const struct codec_node *node,
                               const struct contention_strategy *strategy,
                               struct strview *name,
                               struct contention_application *out)
{
    static const char *const known[] = {"name",         "requested_cores", "time_to_complete_s",
                                        "nominal_rate", "remaining_tasks", NULL};
    *name = (struct strview){NULL, 0};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    *name = codec_name(node, "name", CODEC_REQUIRED);
    out->requested_cores = codec_number(node, "requested_cores", CODEC_REQUIRED, 0, CORES_MAX);
    out->time_to_complete_s =
        codec_number(node, "time_to_complete_s", flags_of(strategy, CONTENTION_NEEDS_TIME),
                     -SECONDS_MAX, SECONDS_MAX);
    int64_t tasks = codec_integer(node, "remaining_tasks",
                                  flags_of(strategy, CONTENTION_NEEDS_TASKS), 0, TASKS_MAX);
    out->remaining_tasks = tasks == RUN_UNKNOWN ? (double)NAN : (double)tasks;
    /* An application of unknown speed has rate 0, which only a strategy that divides by it minds.
     */
    bool divides = (strategy->needs & CONTENTION_NEEDS_RATE) != 0;
    out->nominal_rate =
        codec_number(node, "nominal_rate", flags_of(strategy, CONTENTION_NEEDS_RATE),
                     divides ? RATE_MIN : 0, RATE_MAX);
}

void codec_contention_decode(const struct codec_node *node,
                             const struct codec_contention_limits *limits,
                             struct codec_contention *request)
{
    static const char *const known[] = {
        "strategy", "gamma", "max_cores", "average_nominal_rate", "applications", "cluster", NULL};
    *request = (struct codec_contention){0};
    codec_refuse_unknown(node, known);
    request->strategy = decode_strategy(node);
    decode_terms(node, limits, &request->terms);
    request->cluster = codec_name(node, "cluster", CODEC_OPTIONAL);
    struct codec_node list =
        codec_array(node, "applications", CODEC_REQUIRED, 1, limits->applications);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    request->names = arena_array(list.reader->arena, n, sizeof *request->names);
    request->applications = arena_calloc(list.reader->arena, n, sizeof *request->applications);
    if (request->names == NULL || request->applications == NULL) {
        (void)pv_no_memory(list.reader->err);
        return;
    }
    request->n = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_application(&item, request->strategy, &request->names[i], &request->applications[i]);
    }
    codec_refuse_same_names(&list, request->names, n, "another application has this name");
}

void codec_contention_encode(struct writer *w,
                             const struct codec_contention *request,
                             const struct contention_share shares[],
                             const struct contention_outcome *outcome,
                             const struct findings *reasons)
{
    writer_begin_object(w);
    writer_member_boolean(w, "contention", outcome->contention);
    writer_member_number(w, "requested_cores", outcome->requested_cores);
    writer_member_array(w, "allocations");
    for (size_t i = 0; i < request->n; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", request->names[i]);
        writer_member_number(w, "weight", shares[i].weight);
        writer_member_number(w, "saturating_cores", shares[i].saturating_cores);
        writer_member_number(w, "cores", shares[i].cores);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_findings_encode(w, "reasons", reasons);
    writer_end_object(w);
}
