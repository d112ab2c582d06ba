#include "core/geo/planner.h"

#include "core/geo/desk.h"
#include "core/geo/flutter.h"
#include "core/geo/iridium.h"

/* An algorithm deals copies on an open desk; PV_E_MEMORY or PV_OK. */
struct planner {
    const char *name; /* on the wire */
    enum pv_code (*run)(struct desk *desk);
    bool watches; /* how long copies have run or tasks have waited */
};

static const struct planner planners[GEO_ALGORITHMS] = {
    [GEO_PINGAN] = {"pingan", insurance_run, false},
    [GEO_FLUTTER] = {"flutter", flutter_run, false},
    [GEO_IRIDIUM] = {"iridium", iridium_run, false},
    [GEO_MANTRI] = {"mantri", mantri_run, true},
    [GEO_DOLLY] = {"dolly", dolly_run, false},
    [GEO_SPARK] = {"spark", spark_run, true},
};

const char *geo_algorithm_name(enum geo_algorithm algorithm)
{
    return planners[algorithm].name;
}

bool geo_algorithm_watches(enum geo_algorithm algorithm)
{
    return planners[algorithm].watches;
}

const char *geo_reason_name(enum geo_reason reason)
{
    static const char *const names[GEO_REASONS] = {"not_admitted", "share_used",       "no_slot",
                                                   "bandwidth",    "rate_below_floor", "locality"};
    return names[reason];
}

struct geo_terms geo_terms_usual(enum geo_algorithm algorithm)
{
    return (struct geo_terms){
        .algorithm = algorithm,
        .insurance = {0.8, 8, INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY, false},
        .mantri = {.duplicate_probability = 0.25, .copies_max = 3, .period_s = 10, .gain = 3},
        .dolly = {.straggler_probability = 0.1,
                  .risk = 0.05,
                  .budget = 0.05,
                  .utilization_max = 0.8,
                  .tasks_max = 150},
        .spark = {.wait_s = 3, .quantile = 0.75, .multiplier = 1.5}};
}

static bool lay_out(const struct desk *desk, struct geo_plan *plan)
{
    size_t tasks = 0;
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        tasks += desk->problem->jobs[j].n_tasks;
    *plan = (struct geo_plan){
        .copies = desk->copies,
        .n_copies = desk->n_copies,
        .tasks = arena_array(desk->arena, tasks, sizeof *plan->tasks),
        .waiting = arena_array(desk->arena, tasks, sizeof *plan->waiting),
        .shares = arena_array(desk->arena, desk->admitted, sizeof *plan->shares),
        .n_shares = desk->admitted,
        .stops = desk->stops,
        .n_stops = desk->n_stops,
        .use = arena_calloc(desk->arena, desk->problem->n_clusters, sizeof *plan->use)};
    return plan->tasks && plan->waiting && plan->shares && plan->use;
}

static void tell_task(const struct desk *desk, size_t job, size_t index, struct geo_plan *plan)
{
    struct state *state = &desk->states[job][index];
    double size = desk_task(desk, job, index)->size_bytes;
    if (state->n == 0) {
        plan->waiting[plan->n_waiting++] = (struct geo_plan_waiting){job, index, state->reason};
        return;
    }
    plan->tasks[plan->n_tasks++] = (struct geo_plan_task){
        .job = job,
        .task = index,
        .clusters = state->clusters,
        .n_clusters = state->n,
        .rate_bytes_per_s = state->rate.mean,
        .duration_s = size / state->rate.mean,
        .exemption_probability = desk_exemption(desk, state->lost, size, state->rate.mean)};
}

static void tell_use(const struct desk *desk, struct geo_plan *plan)
{
    for (size_t i = 0; i < desk->n_copies; i++) {
        const struct geo_plan_copy *copy = &desk->copies[i];
        const struct geo_task *task = desk_task(desk, copy->job, copy->task);
        plan->use[copy->cluster].slots++;
        plan->rounds = copy->round > plan->rounds ? copy->round : plan->rounds;
        for (size_t k = 0; k < task->n_inputs; k++) {
            if (task->inputs[k] == copy->cluster)
                continue;
            double each = copy->rate_bytes_per_s / (double)task->n_inputs;
            plan->use[copy->cluster].ingress_bytes_per_s += each;
            plan->use[task->inputs[k]].egress_bytes_per_s += each;
        }
    }
}

static enum pv_code tell(const struct desk *desk, struct geo_plan *plan)
{
    struct geo_plan told;
    if (!lay_out(desk, &told))
        return PV_E_MEMORY;
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        for (size_t t = 0; t < desk->problem->jobs[j].n_tasks; t++)
            tell_task(desk, j, t, &told);
    for (size_t k = 0; k < desk->admitted; k++)
        told.shares[k] = (struct geo_plan_share){desk->jobs[k].index, desk->share};
    tell_use(desk, &told);
    *plan = told;
    return PV_OK;
}

enum pv_code geo_plan_make(const struct geo_problem *problem,
                           const struct geo_terms *terms,
                           struct geo_rates *rates,
                           struct arena *arena,
                           struct geo_plan *plan,
                           struct pv_error *err)
{
    struct desk desk = {.problem = problem, .terms = terms, .arena = arena, .rates = rates};
    enum pv_code code = desk_open(&desk, err);
    if (code == PV_OK)
        code = planners[terms->algorithm].run(&desk);
    if (code == PV_OK)
        code = tell(&desk, plan);
    if (code == PV_E_MEMORY && desk.rates != NULL && geo_rates_gave_up(desk.rates))
        return pv_fail(err, PV_E_CANCELLED, "the copy plan was given up");
    return code == PV_E_MEMORY ? pv_no_memory(err) : code;
}
