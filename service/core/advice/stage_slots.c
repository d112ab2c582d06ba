#include "core/advice/stage_slots.h"

#include <inttypes.h>
#include <math.h>

#include "base/plural.h"
#include "core/deadline/slot_makespan.h"
#include "core/spark/property_value.h"

/* The greatest number of units of an executor. */
enum { UNITS_MAX = 4096 };

static struct strview asked_value(const struct spark_constraints *constraints, const char *key)
{
    struct strview value = property_find(constraints->enforced, constraints->n_enforced, key);
    return value.at != NULL ? value
                            : property_find(constraints->current, constraints->n_current, key);
}

struct run_asked stage_slots_asked(const struct spark_constraints *constraints)
{
    int64_t cores = property_count(asked_value(constraints, "spark.task.cpus"));
    int64_t gpus = property_count(asked_value(constraints, "spark.executor.resource.gpu.amount"));
    double share = property_number(asked_value(constraints, "spark.task.resource.gpu.amount"));
    return (struct run_asked){cores > 0 ? cores : 0, gpus > 0 ? gpus : 0,
                              share > 0.0 ? share : 0.0};
}

static bool are_alike(const struct task_slots *a, const struct task_slots *b)
{
    return a->task_cores == b->task_cores && a->by_resource == b->by_resource && a->pool == b->pool;
}

enum pv_code stage_slots_take(const struct run *run,
                              const struct edf_job *job,
                              bool asked,
                              struct arena *arena,
                              struct stage_slots *made,
                              struct pv_error *err)
{
    *made = (struct stage_slots){.run = run, .n = job->n_stages, .alike = true};
    made->of = arena_array(arena, job->n_stages, sizeof *made->of);
    made->is_barrier = arena_array(arena, job->n_stages, sizeof *made->is_barrier);
    if (made->of == NULL || made->is_barrier == NULL)
        return pv_no_memory(err);
    size_t at = 0;
    for (size_t s = 0; s < job->n_stages; s++) {
        while (run->stages[at].id != job->stages[s].id) /* both ascend, and it is there */
            at++;
        made->of[s] = task_slots_of(run, run->stages[at].resource_profile_id, asked);
        made->is_barrier[s] = run->stages[at].barrier;
        made->alike = made->alike && !made->is_barrier[s] && made->of[s].share == 1.0 &&
                      are_alike(&made->of[s], &made->of[0]);
    }
    return PV_OK;
}

int64_t stage_slots_per_executor(const struct stage_slots *slots, size_t s, int64_t cores)
{
    int64_t tasks = task_slots_per_executor(&slots->of[s], slots->run, cores);
    return tasks < 1 ? 1 : tasks;
}

double
stage_slots_count(const struct stage_slots *slots, size_t s, int64_t executors, int64_t cores)
{
    return (double)task_slots_executors(&slots->of[s], executors) *
           (double)stage_slots_per_executor(slots, s, cores);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* INT64_MAX rather than overflowing. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Adds the slots of a stage to the units of its executors, which the slots of all stages divide.
 * Beyond UNITS_MAX units, tasks take the nearest whole number of them. */
static void add_slots(int64_t *units, int64_t tasks)
{
    int64_t common = times(*units / common_divisor(*units, tasks), tasks);
    *units = common <= UNITS_MAX ? common : *units > 16 * tasks ? *units : 16 * tasks;
}

static int64_t units_of_task(int64_t units, int64_t tasks)
{
    return tasks >= units ? 1 : units / tasks;
}

enum pv_code stage_slots_makespan(const struct stage_slots *slots,
                                  const struct edf_plan *plan,
                                  const struct edf_job *job,
                                  const double longest_s[],
                                  int64_t executors,
                                  int64_t cores,
                                  struct arena *scratch,
                                  double *seconds,
                                  struct pv_error *err)
{
    if (slots->alike)
        return makespan_find(plan, job, longest_s,
                             (size_t)executors * (size_t)stage_slots_per_executor(slots, 0, cores),
                             scratch, seconds, err);
    struct arena_mark mark = arena_mark(scratch);
    const size_t n_pools = slots->run->n_resources > 0 ? slots->run->n_resources : 1;
    struct slot_need *needs = arena_array(scratch, slots->n, sizeof *needs);
    int64_t *units = arena_array(scratch, n_pools, sizeof *units);
    int64_t *each = arena_array(scratch, n_pools, sizeof *each); /* units of an executor */
    enum pv_code code = needs == NULL || units == NULL || each == NULL ? pv_no_memory(err) : PV_OK;
    for (size_t p = 0; code == PV_OK && p < n_pools; p++)
        units[p] = each[p] = 1;
    for (size_t s = 0; code == PV_OK && s < slots->n; s++)
        add_slots(&each[slots->of[s].pool], stage_slots_per_executor(slots, s, cores));
    for (size_t s = 0; code == PV_OK && s < slots->n; s++) {
        size_t pool = slots->of[s].pool;
        int64_t tasks = stage_slots_per_executor(slots, s, cores);
        units[pool] = times(each[pool], task_slots_executors(&slots->of[s], executors));
        needs[s] = (struct slot_need){.pool = pool,
                                      .units = units_of_task(each[pool], tasks),
                                      .is_barrier = slots->is_barrier[s]};
    }
    if (code == PV_OK)
        code = slot_makespan_find(plan, job, needs, units, n_pools, scratch, seconds, err);
    arena_rewind(scratch, mark);
    return code;
}

enum pv_code stage_slots_allocate(const struct stage_slots *slots,
                                  int64_t cores,
                                  struct arena *arena,
                                  struct allocation_job *job,
                                  struct pv_error *err)
{
    job->task_units = NULL;
    job->cores_per_executor = stage_slots_per_executor(slots, 0, cores);
    if (slots->alike)
        return PV_OK;
    int64_t *units = arena_array(arena, slots->n, sizeof *units);
    if (units == NULL)
        return pv_no_memory(err);
    int64_t each = 1;
    for (size_t s = 0; s < slots->n; s++)
        add_slots(&each, stage_slots_per_executor(slots, s, cores));
    for (size_t s = 0; s < slots->n; s++)
        units[s] = units_of_task(each, stage_slots_per_executor(slots, s, cores));
    job->task_units = units;
    job->cores_per_executor = each;
    return PV_OK;
}

enum pv_code stage_slots_check(const struct stage_slots *slots, int64_t cores, struct pv_error *err)
{
    for (size_t s = 0; s < slots->n; s++)
        if (task_slots_per_executor(&slots->of[s], slots->run, cores) < 1)
            return pv_fail(err, PV_E_TOO_FEW,
                           "a task takes %" PRId64 " CPUs (spark.task.cpus), more than the %" PRId64
                           " core%s of an executor",
                           slots->of[s].task_cores, cores, PLURAL(cores));
    return PV_OK;
}
