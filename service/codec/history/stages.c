#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/history/log_metrics.h"
#include "codec/history/run.h"

/*
 * The stages of a run: read one by one in the order sent, then checked as a graph. The graph
 * is walked by position in ascending order of id; `order` remembers where each stage is in the
 * request, so that a fault points at what the client wrote.
 */
enum {
    NAME_BYTES_MAX = 4096,
    SKETCH_MAX = 1000 /* groups; ours have less than a hundred */
};

struct place {
    int64_t id;
    size_t index; /* in the request */
};

/* What the stages of one run may hold, and how many tasks this one and those after it may have. */
struct stage_limits {
    const struct codec_run_limits *run;
    size_t room;
    int64_t nodes; /* of the run */
};

/* Repeated parents count once; the order sent is kept. */
static void decode_parents(const struct codec_node *node, const void *limits, void *object)
{
    struct run_stage *stage = object;
    const struct stage_limits *most = limits;
    struct codec_node list;
    size_t n;
    int64_t *parents = codec_list(node, "parents", CODEC_NULLABLE, 0, (size_t)most->run->stages,
                                  sizeof *parents, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        parents[i] = codec_as_integer(&item, 0, CODEC_ID_MAX);
    }
    stage->parents = parents;
    stage->n_parents = n;
}

static void encode_parents(struct writer *w, const void *object, const void *context)
{
    const struct run_stage *stage = object;
    (void)context;
    writer_member_array(w, "parents");
    for (size_t i = 0; i < stage->n_parents; i++)
        writer_integer(w, stage->parents[i]);
    writer_end_array(w);
}

static void
decode_task_durations(const struct codec_node *node, size_t tasks_max, struct run_stage *stage)
{
    struct codec_node list = codec_array(node, "task_durations_s", CODEC_NULLABLE, 0, tasks_max);
    if (list.json == NULL)
        return;
    stage->task_durations_s = codec_as_numbers(&list, 0, 0, CODEC_SECONDS_MAX);
    stage->n_tasks = (int64_t)json_value_items(list.json);
}

/* Whole numbers below `most`, or null, one for each task; NULL where there is no such list, or with a
 * fault. */
static const int64_t *
decode_task_list(const struct codec_node *node, const char *key, size_t n_tasks, int64_t most)
{
    struct codec_node list = codec_array(node, key, CODEC_NULLABLE, 0, SIZE_MAX);
    size_t n = json_value_items(list.json);
    if (list.json == NULL)
        return NULL;
    if (n != n_tasks) {
        codec_fault(&list, "conflict", "needs as many numbers as task_durations_s, which has %zu",
                    n_tasks);
        return NULL;
    }
    int64_t *values = codec_allocate(&list, n, sizeof *values);
    size_t faults = node->reader->err->n_faults;
    bool known = false;
    for (size_t i = 0; values != NULL && i < n && node->reader->err->n_faults == faults; i++) {
        struct codec_node item = codec_item(&list, i);
        values[i] = json_value_is_null(item.json) ? RUN_UNKNOWN : codec_as_integer(&item, 0, most);
        known = known || values[i] != RUN_UNKNOWN;
    }
    return known ? values : NULL;
}

/* Where each task ran and what it read: lists beside the durations. */
static void decode_task_details(const struct codec_node *node,
                                const struct stage_limits *limits,
                                struct run_stage *stage)
{
    static const char *const lists[] = {"task_nodes", "task_read_bytes"};
    bool listed = stage->task_durations_s != NULL && stage->n_task_sketch == 0;
    for (size_t i = 0; !listed && i < sizeof lists / sizeof *lists; i++)
        if (codec_present(node, lists[i]))
            codec_fault_member(node, lists[i], "conflict",
                               "is allowed only together with task_durations_s");
    if (!listed)
        return;
    size_t n = (size_t)stage->n_tasks;
    if (codec_present(node, lists[0]) && limits->nodes == 0 && n > 0)
        codec_fault_member(node, lists[0], "conflict", "the run has no nodes");
    else
        stage->task_nodes = decode_task_list(node, lists[0], n, limits->nodes - 1);
    stage->task_read_bytes = decode_task_list(node, lists[1], n, CODEC_BYTES_MAX);
}

static void decode_task_mean(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             struct run_stage *stage)
{
    stage->n_tasks = codec_integer(node, "tasks", CODEC_NULLABLE, 0, limits->tasks);
    stage->task_duration_s =
        codec_number(node, "task_duration_s", CODEC_NULLABLE, 0, CODEC_SECONDS_MAX);
    if (limits->as_recorded)
        return;
    if (!codec_present(node, "tasks") && codec_present(node, "task_duration_s"))
        codec_fault_member(node, "tasks", "required", "is required with task_duration_s");
    if (stage->n_tasks > 0 && !codec_present(node, "task_duration_s"))
        codec_fault_member(node, "task_duration_s", "required", "is required with tasks");
}

/* Compensated sum, so that a million tasks add up the same to the last digits. */
static double sum_of(const double values[], size_t n)
{
    double sum = 0;
    double lost = 0;
    for (size_t i = 0; i < n; i++) {
        double term = values[i] - lost;
        double next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

/* The durations may come with their number and mean, as replies write them. */
static void check_agreement(const struct codec_node *node, const struct run_stage *stage)
{
    if (stage->task_durations_s == NULL)
        return;
    int64_t n = codec_integer(node, "tasks", CODEC_NULLABLE, 0, INT64_MAX);
    if (n != RUN_UNKNOWN && n != stage->n_tasks)
        codec_fault_member(node, "tasks", "conflict", "%s holds %lld task%s",
                           stage->n_task_sketch > 0 ? "task_time_summary" : "task_durations_s",
                           (long long)stage->n_tasks, PLURAL(stage->n_tasks));
    double mean = codec_number(node, "task_duration_s", CODEC_NULLABLE, 0, CODEC_SECONDS_MAX);
    double sum = sum_of(stage->task_durations_s, (size_t)stage->n_tasks);
    double own = stage->n_tasks > 0 ? sum / (double)stage->n_tasks : 0;
    if (fabs(mean - own) > 1e-9 * fmax(1, own))
        codec_fault_member(node, "task_duration_s", "conflict", "the mean of %s is %s",
                           stage->n_task_sketch > 0 ? "task_time_summary" : "task_durations_s",
                           quantity_digits(own, 15).text);
}

/* The groups, and durations spread from them, so that a sketch is as good as a list from here on.
 */
static bool spread_sketch(const struct codec_node *list,
                          const struct task_group *groups,
                          size_t n,
                          struct run_stage *stage)
{
    double *spread;
    size_t n_tasks;
    if (task_sketch_spread(groups, n, list->reader->arena, &spread, &n_tasks, NULL) != PV_OK)
        return false;
    stage->task_sketch = groups;
    stage->n_task_sketch = n;
    stage->task_durations_s = spread;
    stage->n_tasks = (int64_t)n_tasks;
    return true;
}

/* A few bytes stand for a million tasks: they are spread only where there is room left for them.
 * The stage that goes beyond has their number alone, which check_total finds fault with. */
static void
decode_sketch(const struct codec_node *node, size_t tasks_max, size_t room, struct run_stage *stage)
{
    static const char *const known[] = {"tasks", "mean_s", NULL};
    struct codec_node list = codec_array(node, "task_time_summary", CODEC_NULLABLE, 1, SKETCH_MAX);
    size_t n = json_value_items(list.json);
    struct task_group *groups = arena_array(node->reader->arena, n, sizeof *groups);
    size_t faults = node->reader->err->n_faults;
    size_t left = tasks_max;
    for (size_t g = 0; groups != NULL && g < n; g++) {
        struct codec_node item = codec_item(&list, g);
        if (codec_expect_object(&item)) {
            codec_refuse_unknown(&item, known);
            groups[g].tasks = codec_integer(&item, "tasks", CODEC_REQUIRED, 1, (int64_t)left);
            groups[g].mean_s = codec_number(&item, "mean_s", CODEC_REQUIRED, 0, CODEC_SECONDS_MAX);
        }
        if (node->reader->err->n_faults != faults)
            return;
        left -= (size_t)groups[g].tasks;
    }
    if (tasks_max - left > room) {
        stage->n_tasks = (int64_t)(tasks_max - left);
        return;
    }
    if (groups == NULL || (list.json != NULL && !spread_sketch(&list, groups, n, stage)))
        (void)pv_no_memory(node->reader->err);
}

static void derive(struct run_stage *stage)
{
    if (stage->n_tasks < 0)
        return;
    double n = (double)stage->n_tasks;
    double sum = stage->task_durations_s != NULL
                     ? sum_of(stage->task_durations_s, (size_t)stage->n_tasks)
                     : n * stage->task_duration_s;
    if (stage->n_tasks == 0)
        sum = 0;
    if (isnan(stage->task_time_s))
        stage->task_time_s = sum;
    if (stage->task_durations_s != NULL && stage->n_tasks > 0)
        stage->task_duration_s = sum / n;
    if (isnan(stage->nominal_rate_per_s) && stage->task_time_s > 0)
        stage->nominal_rate_per_s = stage->input_records / stage->task_time_s;
}

/* The four members that say how long the tasks took. */
static void
decode_task_times(const struct codec_node *node, const void *limits, struct run_stage *stage)
{
    const struct codec_run_limits *run = ((const struct stage_limits *)limits)->run;
    bool summarized = codec_present(node, "task_time_summary");
    if (!summarized && !codec_present(node, "task_durations_s")) {
        decode_task_mean(node, run, stage);
        return;
    }
    if (summarized && codec_present(node, "task_durations_s"))
        codec_fault_member(node, "task_time_summary", "conflict",
                           "must be left out where task_durations_s is given");
    else if (summarized)
        decode_sketch(node, (size_t)run->tasks, ((const struct stage_limits *)limits)->room, stage);
    else
        decode_task_durations(node, (size_t)run->tasks, stage);
    check_agreement(node, stage);
    if (run->as_recorded)
        stage->task_duration_s =
            codec_number(node, "task_duration_s", CODEC_NULLABLE, 0, CODEC_SECONDS_MAX);
}

static void decode_tasks(const struct codec_node *node, const void *limits, void *object)
{
    size_t faults = node->reader->err->n_faults;
    decode_task_times(node, limits, object);
    if (node->reader->err->n_faults == faults)
        decode_task_details(node, limits, object);
}

static double mean_task_s(const struct run_stage *stage)
{
    if (!isnan(stage->task_duration_s))
        return stage->task_duration_s;
    return stage->n_tasks > 0 ? stage->task_time_s / (double)stage->n_tasks : (double)NAN;
}

static void encode_sketch(struct writer *w, const struct run_stage *stage)
{
    writer_member_array(w, "task_time_summary");
    for (size_t g = 0; g < stage->n_task_sketch; g++) {
        writer_begin_object(w);
        writer_member_integer(w, "tasks", stage->task_sketch[g].tasks);
        writer_member_number(w, "mean_s", stage->task_sketch[g].mean_s);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_task_list(struct writer *w, const char *key, const int64_t values[], size_t n)
{
    if (values == NULL)
        return;
    writer_member_array(w, key);
    for (size_t i = 0; i < n; i++) {
        if (values[i] == RUN_UNKNOWN)
            writer_null(w);
        else
            writer_integer(w, values[i]);
    }
    writer_end_array(w);
}

/* The number and mean always, each duration only where asked for and known one by one. */
static void encode_tasks(struct writer *w, const void *object, const void *context)
{
    const struct run_stage *stage = object;
    const struct codec_run_context *more = context;
    writer_member_count(w, "tasks", stage->n_tasks);
    writer_member_number(w, "task_duration_s", mean_task_s(stage));
    if (!more->with_tasks)
        return;
    if (stage->n_task_sketch > 0) {
        encode_sketch(w, stage);
    } else if (stage->task_durations_s != NULL) {
        writer_member_array(w, "task_durations_s");
        for (int64_t i = 0; i < stage->n_tasks; i++)
            writer_number(w, stage->task_durations_s[i]);
        writer_end_array(w);
        encode_task_list(w, "task_nodes", stage->task_nodes, (size_t)stage->n_tasks);
        encode_task_list(w, "task_read_bytes", stage->task_read_bytes, (size_t)stage->n_tasks);
    }
}

static bool is_given(const struct codec_node *node, const char *key)
{
    return json_value_member(node->json, key) != NULL;
}

/* As recorded: only what is not given. */
static void derive_missing(const struct codec_node *node, struct run_stage *stage)
{
    struct run_stage derived = *stage;
    derive(&derived);
    if (!is_given(node, "task_time_s"))
        stage->task_time_s = derived.task_time_s;
    if (!is_given(node, "task_duration_s"))
        stage->task_duration_s = derived.task_duration_s;
    if (!is_given(node, "nominal_rate_per_s"))
        stage->nominal_rate_per_s = derived.nominal_rate_per_s;
}

#define T struct run_stage
enum { NULLABLE = CODEC_NULLABLE, OMIT = SHAPE_OMIT_UNKNOWN, LOG_FLAGS = NULLABLE };

static const struct shape_member members[] = {
    {"id", SHAPE_COUNT(T, id), .flags = CODEC_REQUIRED, .most = CODEC_ID_MAX},
    {"name", SHAPE_TEXT(T, name), .flags = NULLABLE, .most = NAME_BYTES_MAX},
    {"parents", SHAPE_CODE, .flags = NULLABLE | SHAPE_KNOWN, .decode = decode_parents,
     .encode = encode_parents},
    {"tasks", SHAPE_CODE, .flags = NULLABLE, .decode = decode_tasks, .encode = encode_tasks},
    {"task_duration_s", SHAPE_CODE, .flags = NULLABLE},                       /* with tasks */
    {"task_durations_s", SHAPE_CODE, .flags = NULLABLE | SHAPE_KNOWN | OMIT}, /* likewise */
    {"task_nodes", SHAPE_CODE, .flags = NULLABLE | SHAPE_KNOWN | OMIT},
    {"task_read_bytes", SHAPE_CODE, .flags = NULLABLE | SHAPE_KNOWN | OMIT},
    {"task_time_summary", SHAPE_CODE, .flags = NULLABLE | SHAPE_KNOWN | OMIT},
    {"task_time_s", SHAPE_NUMBER(T, task_time_s), .flags = NULLABLE, .high = CODEC_SECONDS_SUM_MAX},
    {"duration_s", SHAPE_NUMBER(T, duration_s), .flags = NULLABLE, .high = CODEC_SECONDS_MAX},
    {"started_s", SHAPE_NUMBER(T, started_s), .flags = NULLABLE, .low = -CODEC_SECONDS_MAX,
     .high = CODEC_SECONDS_MAX},
    {"input_records", SHAPE_NUMBER(T, input_records), .flags = NULLABLE, .high = CODEC_RATE_MAX},
    {"nominal_rate_per_s", SHAPE_NUMBER(T, nominal_rate_per_s), .flags = NULLABLE,
     .high = CODEC_RATE_MAX},
    {"skipped", SHAPE_BOOLEAN(T, skipped), .flags = NULLABLE},
    {"attempts", SHAPE_COUNT(T, attempts), .flags = NULLABLE, .most = CODEC_ID_MAX},
    {"tasks_failed", SHAPE_COUNT(T, tasks_failed), .flags = NULLABLE, .most = CODEC_ID_MAX},
    {"resource_profile_id", SHAPE_COUNT(T, resource_profile_id), .flags = NULLABLE,
     .most = CODEC_ID_MAX},
    {"barrier", SHAPE_BOOLEAN(T, barrier), .flags = NULLABLE},
    {"cache_source_id", SHAPE_COUNT(T, cache_source_id), .flags = NULLABLE, .most = CODEC_ID_MAX},
    RUN_METRICS(CODEC_METRIC_COUNT, CODEC_METRIC_SECONDS) /* may be sent by hand too */
};
const struct shape codec_stage_shape = {
    .request = "StageCreate", .reply = "Stage", SHAPE_OF(members, T)};

static void decode_stage(const struct codec_node *node,
                         const struct stage_limits *limits,
                         struct run_stage *stage)
{
    *stage = (struct run_stage){
        .id = RUN_UNKNOWN, .n_tasks = RUN_UNKNOWN, .task_duration_s = (double)NAN};
    if (codec_expect_object(node))
        shape_decode(node, &codec_stage_shape, limits, stage);
}

/* --- the graph --- */

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    int order = compare_int64(x->id, y->id);
    return order != 0 ? order : compare_size(x->index, y->index);
}

static int compare_id(const void *key, const void *element)
{
    return compare_int64(*(const int64_t *)key, ((const struct place *)element)->id);
}

/* Position of a stage in ascending order of id; n where there is none. */
static size_t stages_find_stage(const struct place order[], size_t n, int64_t id)
{
    const struct place *found = bsearch(&id, order, n, sizeof *order, compare_id);
    return found == NULL ? n : (size_t)(found - order);
}

static void check_unique(const struct codec_node *list, const struct place order[], size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (order[i].id != order[i - 1].id)
            continue;
        struct codec_node stage = codec_item(list, order[i].index);
        codec_fault_member(&stage, "id", "duplicate", "stage %lld is listed twice",
                           (long long)order[i].id);
    }
}

/* Keep the first of equal parents, in the order sent. */
static bool drop_repeated(struct arena *arena, struct run_stage *stage)
{
    size_t n = stage->n_parents;
    if (n < 2)
        return true;
    struct place *seen = arena_array(arena, n, sizeof *seen);
    int64_t *kept = arena_array(arena, n, sizeof *kept);
    bool *repeated = arena_calloc(arena, n, sizeof *repeated);
    if (seen == NULL || kept == NULL || repeated == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        seen[i] = (struct place){stage->parents[i], i};
    qsort(seen, n, sizeof *seen, compare_places);
    for (size_t i = 1; i < n; i++)
        repeated[seen[i].index] = seen[i].id == seen[i - 1].id;
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!repeated[i])
            kept[m++] = stage->parents[i];
    stage->parents = kept;
    stage->n_parents = m;
    return true;
}

static bool check_parents(const struct codec_node *list,
                          const struct place order[],
                          size_t n,
                          bool elsewhere,
                          struct run_stage stages[])
{
    struct arena *arena = list->reader->arena;
    for (size_t i = 0; i < n; i++) {
        struct codec_node stage = codec_item(list, i);
        struct codec_node parents = codec_member(&stage, "parents");
        for (size_t j = 0; j < stages[i].n_parents; j++) {
            if (elsewhere || stages_find_stage(order, n, stages[i].parents[j]) < n)
                continue;
            struct codec_node item = codec_item(&parents, j);
            codec_fault(&item, "unknown_parent", "there is no stage %lld",
                        (long long)stages[i].parents[j]);
        }
        if (!drop_repeated(arena, &stages[i]))
            return false;
    }
    return true;
}

struct step {
    size_t at;   /* position in ascending order of id */
    size_t next; /* parent to look at next */
};

enum colour { WHITE, GREY, BLACK };

/* A fault at the parents of every stage of the circle that closes from the top of the stack. */
static void fault_cycle(const struct codec_node *list,
                        const struct place order[],
                        const struct step stack[],
                        size_t depth,
                        size_t closing)
{
    while (depth-- > 0) {
        const struct place *place = &order[stack[depth].at];
        struct codec_node stage = codec_item(list, place->index);
        codec_fault_member(&stage, "parents", "cycle", "stage %lld is its own ancestor",
                           (long long)place->id);
        if (stack[depth].at == closing)
            return;
    }
}

/*
 * Depth-first search over parents with a stack of its own; the first cycle found is a fault.
 * Parents that are elsewhere end their path. False: out of memory.
 */
static bool check_cycles(const struct codec_node *list,
                         const struct place order[],
                         size_t n,
                         const struct run_stage stages[])
{
    struct step *stack = arena_array(list->reader->arena, n, sizeof *stack);
    unsigned char *colours = arena_calloc(list->reader->arena, n, 1);
    if (stack == NULL || colours == NULL)
        return false;
    for (size_t root = 0; root < n; root++) {
        size_t depth = 0;
        if (colours[root] == WHITE) {
            colours[root] = GREY;
            stack[depth++] = (struct step){root, 0};
        }
        while (depth > 0) {
            struct step *top = &stack[depth - 1];
            const struct run_stage *stage = &stages[order[top->at].index];
            if (top->next == stage->n_parents) {
                colours[top->at] = BLACK;
                depth--;
                continue;
            }
            size_t parent = stages_find_stage(order, n, stage->parents[top->next++]);
            if (parent == n)
                continue;
            if (colours[parent] == GREY) {
                fault_cycle(list, order, stack, depth, parent);
                return true;
            }
            if (colours[parent] == WHITE) {
                colours[parent] = GREY;
                stack[depth++] = (struct step){parent, 0};
            }
        }
    }
    return true;
}

static void check_total(const struct codec_node *list,
                        const struct run_stage stages[],
                        size_t n,
                        size_t tasks_max)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (stages[i].n_tasks > 0 &&
            __builtin_add_overflow(total, (uint64_t)stages[i].n_tasks, &total))
            total = UINT64_MAX;
        if (total <= tasks_max)
            continue;
        struct codec_node stage = codec_item(list, i);
        const char *member = codec_present(&stage, "task_durations_s")    ? "task_durations_s"
                             : codec_present(&stage, "task_time_summary") ? "task_time_summary"
                                                                          : "tasks";
        codec_fault_member(&stage, member, "too_many_items",
                           "with this stage there are more than %zu task%s (tasks_max)", tasks_max,
                           PLURAL(tasks_max));
        return;
    }
}

static bool check_graph(const struct codec_node *list,
                        struct place order[],
                        size_t n,
                        bool elsewhere,
                        struct run_stage stages[])
{
    for (size_t i = 0; i < n; i++)
        order[i] = (struct place){stages[i].id, i};
    qsort(order, n, sizeof *order, compare_places);
    check_unique(list, order, n);
    if (!check_parents(list, order, n, elsewhere, stages))
        return false;
    if (codec_result(list->reader) != PV_OK)
        return true;
    return check_cycles(list, order, n, stages);
}

/* nodes: how many the run has, or CODEC_COUNT_MAX where that is not known. */
static void decode_stages(const struct codec_node *list,
                          const struct codec_run_limits *limits,
                          int64_t nodes,
                          struct run *run)
{
    size_t n = json_value_items(list->json);
    struct run_stage *sent = codec_allocate(list, n, sizeof *sent);
    struct run_stage *stages = codec_allocate(list, n, sizeof *stages);
    struct place *order = codec_allocate(list, n, sizeof *order);
    if (sent == NULL || stages == NULL || order == NULL)
        return;
    size_t faults = list->reader->err->n_faults;
    struct stage_limits most = {limits, (size_t)limits->tasks, nodes};
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(list, i);
        decode_stage(&item, &most, &sent[i]);
        size_t tasks = sent[i].n_tasks > 0 ? (size_t)sent[i].n_tasks : 0;
        most.room -= tasks < most.room ? tasks : most.room;
    }
    if (list->reader->err->n_faults != faults)
        return;
    check_total(list, sent, n, (size_t)limits->tasks);
    /* A log that begins late or is damaged names parents it says nothing of. */
    bool elsewhere = limits->as_recorded && run->from_log;
    if (!check_graph(list, order, n, elsewhere, sent)) {
        (void)pv_no_memory(list->reader->err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        stages[i] = sent[order[i].index];
        struct codec_node item = codec_item(list, order[i].index);
        if (limits->as_recorded)
            derive_missing(&item, &stages[i]);
        else
            derive(&stages[i]);
        run->tasks_thinned |= stages[i].n_task_sketch > 0;
    }
    run->stages = stages;
    run->n_stages = n;
    run->has_stages = true;
}

void codec_stages_decode(const struct codec_node *list,
                         const struct codec_run_limits *limits,
                         struct run *run)
{
    decode_stages(list, limits, CODEC_COUNT_MAX, run);
}

void codec_stages_decode_member(const struct codec_node *node, const void *limits, void *run)
{
    const struct codec_run_limits *most = limits;
    struct run *of = run;
    struct codec_node stages = codec_array(node, "stages", CODEC_NULLABLE, 0, (size_t)most->stages);
    if (stages.json != NULL)
        decode_stages(&stages, most, (int64_t)of->n_nodes, of);
}

void codec_stages_encode_member(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    if (!writer_member_array_or_null(w, "stages", run->has_stages))
        return;
    for (size_t i = 0; i < run->n_stages; i++)
        shape_encode(w, &codec_stage_shape, &run->stages[i], 0, context);
    writer_end_array(w);
}
