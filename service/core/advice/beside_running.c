#include "core/advice/beside_running.h"

#include <inttypes.h>

#include "base/plural.h"
#include "core/advice/memory_advice.h"

int64_t beside_running_cores(const struct advice_question *question, int64_t cores_per_executor)
{
    return question->cluster_cores != RUN_UNKNOWN
               ? question->cluster_cores
               : question->goal.max_executors * cores_per_executor;
}

static struct joint_question
question_of(const struct beside_known *known, const struct curve *curve, uint64_t task_budget)
{
    const struct advice_question *asked = known->question;
    return (struct joint_question){
        .runs = known->runs,
        .n_runs = known->n_runs,
        .target = {.problem_size = curve->problem_size,
                   .cores_per_executor = curve->cores_per_executor},
        .deadline_s = known->goal->deadline_s,
        .running = known->running,
        .n_running = asked->n_running,
        .cores = (size_t)beside_running_cores(asked, curve->cores_per_executor),
        .capped = asked->running_from == RUNNING_ADVISED,
        .memory = asked->launches.bytes > 0 ? &asked->launches : NULL,
        .task_budget = task_budget};
}

/* Of an executor, where memory counts; else 0. */
static enum pv_code executor_bytes(const struct beside_known *known,
                                   int64_t executors,
                                   int64_t cores_per_executor,
                                   struct arena *arena,
                                   int64_t *bytes,
                                   struct pv_error *err)
{
    *bytes = 0;
    if (known->question->launches.bytes == 0)
        return PV_OK;
    return memory_held(known->prediction, known->question, executors, cores_per_executor,
                       known->cluster->cluster.traits.memory_bytes_per_executor, arena, bytes, err);
}

/* Of an executor of each point: where blocks are cached, the more executors, the less each of them
 * needs. */
static enum pv_code point_bytes(const struct beside_known *known,
                                struct arena *arena,
                                struct arena *scratch,
                                int64_t **each_bytes,
                                struct pv_error *err)
{
    const struct curve *curve = &known->prediction->curve;
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = PV_OK;
    *each_bytes = arena_array(arena, curve->n_points, sizeof **each_bytes);
    if (*each_bytes == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; code == PV_OK && i < curve->n_points; i++) {
        code = executor_bytes(known, curve->points[i].executors, curve->cores_per_executor, scratch,
                              &(*each_bytes)[i], err);
        arena_rewind(scratch, mark);
    }
    return code;
}

static enum pv_code keep_fitting(const struct curve *curve,
                                 const bool fits[],
                                 size_t fitting,
                                 struct arena *arena,
                                 struct curve *kept,
                                 struct pv_error *err)
{
    kept->points = arena_array(arena, fitting, sizeof *kept->points);
    if (kept->points == NULL)
        return pv_no_memory(err);
    kept->n_points = 0;
    for (size_t i = 0; i < curve->n_points; i++)
        if (fits[i])
            kept->points[kept->n_points++] = curve->points[i];
    return PV_OK;
}

static enum pv_code choose(const struct beside_known *known,
                           const struct advice_limits *limits,
                           struct arena *arena,
                           struct arena *scratch,
                           struct beside_counts *counts,
                           struct pv_error *err)
{
    const struct curve *curve = &known->prediction->curve;
    const struct advise_goal *goal = known->goal;
    struct joint_question question = question_of(known, curve, limits->joint_task_budget);
    bool whole = true;
    int64_t *each_bytes;
    bool *fits = arena_calloc(arena, curve->n_points, sizeof *fits);
    if (fits == NULL)
        return pv_no_memory(err);
    PV_TRY(point_bytes(known, arena, scratch, &each_bytes, err));
    PV_TRY(
        joint_feasibility_counts(&question, curve, goal, each_bytes, scratch, fits, &whole, err));
    counts->cut = !whole;
    for (size_t i = 0; i < curve->n_points; i++) {
        counts->allowed += advise_is_allowed(goal, &curve->points[i]);
        counts->fitting += fits[i];
    }
    return counts->cut || counts->fitting == 0
               ? PV_OK
               : keep_fitting(curve, fits, counts->fitting, arena, &counts->curve, err);
}

enum pv_code beside_running_choose(const struct beside_known *known,
                                   const struct advice_limits *limits,
                                   struct arena *arena,
                                   struct arena *scratch,
                                   struct beside_counts **counts,
                                   struct pv_error *err)
{
    const struct advice_question *asked = known->question;
    struct beside_counts *made = arena_calloc(arena, 1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->curve = known->prediction->curve;
    *counts = made;
    return asked->running_from == RUNNING_ADVISED && asked->n_running > 0
               ? choose(known, limits, arena, scratch, made, err)
               : PV_OK;
}

static void
explain_counts(const struct beside_counts *counts, size_t running, struct advice *advice)
{
    struct finding *note =
        counts->fitting > 0
            ? finding_add(
                  &advice->reasons, "beside_advised_jobs",
                  "With %zu of %zu allowed executor count%s nobody is late, neither this job nor "
                  "the %zu other job%s that %s or %s still to begin; the choice is among these.",
                  counts->fitting, counts->allowed, PLURAL(counts->allowed), running,
                  PLURAL(running), PLURAL_VERB(running, "runs", "run"),
                  PLURAL_VERB(running, "is", "are"))
            : finding_add(
                  &advice->warnings, "nobody_in_time_beside_advised",
                  "With each of the %zu allowed executor count%s somebody is late: this job or "
                  "%s.",
                  counts->allowed, PLURAL(counts->allowed),
                  running == 1 ? "the other one" : "another one");
    finding_number(note, "fitting", (double)counts->fitting);
    finding_number(note, "allowed", (double)counts->allowed);
    finding_number(note, "running", (double)running);
}

void beside_running_explain(const struct beside_known *known,
                            const struct beside_counts *counts,
                            struct advice *advice)
{
    const struct advice_question *asked = known->question;
    if (asked->running_from != RUNNING_ADVISED)
        return;
    if (counts->cut)
        (void)finding_add(
            &advice->warnings, "search_cut",
            "The search for the executors that make nobody late was cut by its budget "
            "of simulated tasks.");
    else if (counts->allowed > 0)
        explain_counts(counts, asked->n_running, advice);
    if (!asked->advised_are_cut)
        return;
    size_t counted = 0;
    for (size_t i = 0; i < asked->n_running; i++)
        counted += asked->running[i].advice_id != NULL;
    struct finding *note =
        finding_add(&advice->warnings, "advised_jobs_cut",
                    "More jobs were advised for the cluster and have not reported back: only the "
                    "newest %zu count%s (advised_jobs_max).",
                    counted, PLURAL_VERB(counted, "s", ""));
    finding_number(note, "advised_jobs_max", (double)counted);
}

enum pv_code beside_running_check(const struct beside_known *known,
                                  const struct curve *curve,
                                  uint64_t task_budget,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct advice *advice,
                                  struct joint_outcome *joint,
                                  int64_t *bytes,
                                  struct pv_error *err)
{
    const struct advice_question *asked = known->question;
    const struct advise_choice *choice = &advice->recommendation;
    struct joint_question question = question_of(known, curve, task_budget);
    int64_t each_bytes;
    question.target.executors = choice->executors;
    question.predicted_duration_s = choice->predicted_duration_s;
    PV_TRY(executor_bytes(known, choice->executors, curve->cores_per_executor, arena, &each_bytes,
                          err));
    if (question.memory != NULL && each_bytes > question.memory->bytes / choice->executors)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/cluster", "out_of_range",
                        "has too little memory for the %" PRId64
                        " executor%s recommended: each takes %lld B of its %lld B",
                        choice->executors, PLURAL(choice->executors), (long long)each_bytes,
                        (long long)question.memory->bytes);
    question.memory_bytes = *bytes = each_bytes * choice->executors;
    const char **names = arena_array(arena, asked->n_running, sizeof *names);
    if (names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < asked->n_running; i++)
        names[i] = asked->running[i].application.at;
    PV_TRY(joint_feasibility_check(&question, arena, scratch, joint, err));
    return joint_feasibility_explain(&question, joint, names, arena, advice, err);
}
