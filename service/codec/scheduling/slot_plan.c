#include "codec/scheduling/slot_plan.h"

#include <math.h>

#include "base/plural.h"
#include "codec/json/counts.h"

enum { SLOTS_MAX = 100000, SWEEP_MAX = 64 };

static const char *const orders[] = {"given", "johnson", NULL};
enum { ORDER_GIVEN, ORDER_JOHNSON };

/* --- jobs --- */

static void check_profile(const struct codec_node *node)
{
    static const char *const members[] = {"maps", "map_task_s", "reduces", "reduce_task_s", NULL};
    for (size_t i = 0; members[i] != NULL; i++)
        if (codec_present(node, members[i])) {
            codec_fault_member(
                node, "application", "conflict",
                "must not be given together with %s, which the runs of the application show",
                members[i]);
            return;
        }
}

static void require(const struct codec_node *node, const char *member, const char *when)
{
    if (!codec_present(node, member))
        codec_fault_member(node, member, "required", "is required %s", when);
}

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slot_plan_job *job = object;
    (void)limits;
    job->profile = NULL;
    if (codec_present(node, "application")) {
        check_profile(node);
        return;
    }
    require(node, "maps", "without an application");
    require(node, "map_task_s", "without an application");
    if (!codec_present(node, "reduces"))
        job->reduces = 0;
    if (job->reduces > 0)
        require(node, "reduce_task_s", "where there are reduces");
}

#define J struct codec_slot_plan_job
static const struct shape_member job_members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"maps", SHAPE_COUNT(J, maps), .least = 1, .most = CODEC_COUNT_MAX},
    {"map_task_s", SHAPE_NUMBER(J, map_task_s), .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"reduces", SHAPE_COUNT(J, reduces), .most = CODEC_COUNT_MAX},
    {"reduce_task_s", SHAPE_NUMBER(J, reduce_task_s), .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"application", SHAPE_NAME(J, application)},
};
const struct shape codec_slot_plan_job_shape = {.request = "SlotPlanJob",
                                                SHAPE_OF(job_members, J),
                                                .check = check_job,
                                                .unique = "name",
                                                .twice = "another job has this name"};

/* --- the whole --- */

static void decode_sweep(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slot_plan *asked = object;
    (void)limits;
    int64_t *sweep = codec_distinct_counts(node, "sweep", SWEEP_MAX, SLOTS_MAX, &asked->n_sweep);
    asked->sweep = codec_allocate(node, asked->n_sweep, sizeof *asked->sweep);
    for (size_t i = 0; asked->sweep != NULL && i < asked->n_sweep; i++)
        asked->sweep[i] = (size_t)sweep[i];
}

static void decode_profile_error(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slot_plan *asked = object;
    (void)limits;
    asked->profile_error_percent =
        codec_number(node, "profile_error_percent", CODEC_OPTIONAL, 0, 100);
    if (asked->profile_error_percent >= 100)
        codec_fault_member(node, "profile_error_percent", "out_of_range", "must be less than 100");
}

static void check_splits(const struct codec_node *node,
                         const struct codec_slot_plan_limits *limits,
                         const struct codec_slot_plan *asked)
{
    double splits = (double)asked->slots * (double)asked->n_jobs * (1 + (double)asked->n_sweep);
    if (splits > (double)limits->splits)
        codec_fault_member(node, "slots", "out_of_range",
                           "slots x jobs x (1 + concurrencies of the sweep) are at most %zu "
                           "(slot_splits_max), they are %.0f",
                           limits->splits, splits);
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slot_plan *asked = object;
    size_t with = 0;
    if (asked->slots == SIZE_MAX)
        return;
    for (size_t i = 0; i < asked->n_jobs; i++)
        with += asked->jobs[i].reduces > 0;
    if (with > 0 && asked->slots < 2)
        codec_fault_member(node, "slots", "out_of_range",
                           "%zu job%s %s reduces, which need a slot beside that of the maps", with,
                           PLURAL(with), PLURAL_VERB(with, "has", "have"));
    if (asked->nodes != SIZE_MAX && asked->slots % asked->nodes != 0)
        codec_fault_member(node, "nodes", "not_allowed",
                           "%zu slot%s cannot be divided evenly among %zu node%s", asked->slots,
                           PLURAL(asked->slots), asked->nodes, PLURAL(asked->nodes));
    check_splits(node, limits, asked);
}

#define R struct codec_slot_plan
static const struct shape_member members[] = {
    {"slots", SHAPE_SIZE(R, slots), .flags = CODEC_REQUIRED, .least = 1, .most = SLOTS_MAX},
    {"nodes", SHAPE_SIZE(R, nodes), .least = 1, .most = SLOTS_MAX},
    {"concurrency", SHAPE_SIZE(R, concurrency), .flags = CODEC_REQUIRED, .least = 1,
     .most = SLOTS_MAX},
    {"order", SHAPE_WORD(R, order, orders), .flags = SHAPE_KEEP},
    {"sweep", SHAPE_CODE, .decode = decode_sweep},
    {"profile_error_percent", SHAPE_CODE, .decode = decode_profile_error},
    {"jobs", SHAPE_OBJECTS(R, jobs, n_jobs, &codec_slot_plan_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(struct codec_slot_plan_limits, jobs)},
};
const struct shape codec_slot_plan_shape = {
    .request = "SlotPlanRequest", SHAPE_OF(members, R), .check = check};

void codec_slot_plan_decode(const struct codec_node *node,
                            const struct codec_slot_plan_limits *limits,
                            struct codec_slot_plan *asked)
{
    *asked = (struct codec_slot_plan){.order = ORDER_GIVEN};
    shape_decode(node, &codec_slot_plan_shape, limits, asked);
}

/* --- what the core works with --- */

static struct fresh_work work_of(const struct codec_slot_plan_job *job)
{
    if (job->profile == NULL)
        return fresh_work_of((double)job->maps, job->map_task_s, (double)job->reduces,
                             job->reduce_task_s);
    const struct map_reduce *tasks = &job->profile->tasks;
    return fresh_work_of((double)tasks->maps, tasks->map_task_s, (double)tasks->reduces,
                         tasks->reduce_task_s);
}

enum pv_code codec_slot_plan_take(const struct codec_slot_plan *asked,
                                  struct arena *arena,
                                  struct fresh_plan_terms *terms,
                                  struct pv_error *err)
{
    struct fresh_work *jobs = arena_array(arena, asked->n_jobs, sizeof *jobs);
    if (jobs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < asked->n_jobs; i++) {
        jobs[i] = work_of(&asked->jobs[i]);
        if (jobs[i].reduce_s > 0 && asked->slots < 2)
            return pv_fault(err, PV_PLACE_POINTER, "/slots", "out_of_range",
                            "a job has reduces, which need a slot beside that of the maps");
    }
    *terms = (struct fresh_plan_terms){.jobs = jobs,
                                       .n = asked->n_jobs,
                                       .slots = asked->slots,
                                       .concurrency = asked->concurrency,
                                       .johnson = asked->order == ORDER_JOHNSON,
                                       .nodes = asked->nodes == SIZE_MAX ? 0 : asked->nodes,
                                       .sweep = asked->sweep,
                                       .n_sweep = asked->n_sweep,
                                       .profile_error = asked->profile_error_percent / 100};
    return PV_OK;
}
