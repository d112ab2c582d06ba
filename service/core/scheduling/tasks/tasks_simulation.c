#include "core/scheduling/tasks/tasks_simulation.h"

#include <assert.h>
#include <math.h>

#include "base/quantity_text.h"
#include "core/scheduling/tasks/tasks_line.h"
#include "core/scheduling/tasks/tasks_policy.h"

enum { ARENA_STEP_MAX = 4 << 20 };

/* Of a block of ARENA_STEP_MAX, one piece at most does not fit; twice that is allowed for. */
static const double PIECES_WASTE = 2.0 * LINE_PIECE * sizeof(struct line_place) / ARENA_STEP_MAX;

static const struct tasks_policy *const policies[TASKS_POLICIES] = {
    [TASKS_PIGEON] = &pigeon_policy,
    [TASKS_CENTRALISED] = &centralised_policy,
    [TASKS_SPARROW] = &sparrow_policy,
    [TASKS_EAGLE] = &eagle_policy,
};

struct tasks_terms tasks_terms_default(enum tasks_policy_id id)
{
    struct tasks_terms terms = policies[id]->usual;
    terms.policy = policies[id];
    return terms;
}

const char *tasks_policy_name(enum tasks_policy_id id)
{
    return policies[id]->name;
}

static const struct tasks_policy *policy_of(const struct tasks_terms *terms)
{
    const struct tasks_policy *policy = terms->policy;
    return policy->carried_out_by != NULL ? policy->carried_out_by(terms) : policy;
}

size_t tasks_simulation_memory(const struct tasks_model *model, const struct tasks_terms *terms)
{
    const struct tasks_policy *policy = policy_of(terms);
    double needed = policy->memory(model, terms) +
                    (double)(policy->events(model) + 1) * sizeof(struct event_heap_entry);
    double places = policy->places != NULL ? policy->places(model, terms) : 0;
    /* Of an arena's blocks, what is left of each is less than what did not fit into it: of those
     * with a pool's pieces hardly anything. The last one, of ARENA_STEP_MAX at most where that is
     * enough, may be as good as empty, and so may be those before the one array and the first
     * piece. */
    double bytes = fmin(2 * (needed + places) + ARENA_STEP_MAX,
                        2 * needed + (1 + PIECES_WASTE) * places + 3.0 * ARENA_STEP_MAX);
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX;
}

double tasks_simulation_work(const struct tasks_model *model, const struct tasks_terms *terms)
{
    const struct tasks_policy *policy = policy_of(terms);
    return policy->work != NULL ? policy->work(model, terms) : (double)model->tasks;
}

static double
next_arrival(const struct tasks_run *run, const struct tasks_policy *policy, uint32_t arrived)
{
    if (arrived == run->model->n_jobs)
        return HUGE_VAL;
    double at_s = run->model->jobs[run->model->order[arrived]].arrival_s;
    for (unsigned i = 0; i < policy->hops; i++)
        at_s += run->model->communication_s;
    return at_s;
}

/* The next job in order of arrival. */
static bool take_job(struct tasks_run *run, const struct tasks_policy *policy, uint32_t arrived)
{
    uint32_t job = run->model->order[arrived];
    if (run->observer != NULL)
        tasks_observe_arrival(run->observer, &run->model->jobs[job]);
    return policy->take_job(run, job);
}

static enum pv_code
standstill(const struct tasks_run *run, const struct tasks_policy *policy, struct pv_error *err)
{
    if (run->begun == run->model->tasks)
        return PV_OK;
    if (policy->standstill != NULL)
        return pv_fail(err, PV_E_INVALID, "%s", policy->standstill);
    return pv_fail(err, PV_E_INTERNAL, "a simulation of tasks came to a standstill");
}

/* By itself, or by whoever the progress is reported to. */
static enum pv_code stopped(const struct tasks_run *run, struct pv_error *err)
{
    return run->cancelled ? pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled")
                          : pv_no_memory(err);
}

static enum pv_code
work_through(struct tasks_run *run, const struct tasks_policy *policy, struct pv_error *err)
{
    struct event event;
    uint32_t arrived = 0;
    double arrival_s = next_arrival(run, policy, arrived);
    for (uint64_t n = 1;; n++) {
        double at_s = event_heap_next_at(&run->events);
        bool done = true;
        if (at_s <= arrival_s && event_heap_pop(&run->events, &event)) {
            run->now_s = at_s;
            done = policy->happen(run, &event);
        } else if (arrived < run->model->n_jobs) {
            run->now_s = arrival_s;
            done = take_job(run, policy, arrived++);
            arrival_s = next_arrival(run, policy, arrived);
        } else {
            run->result->events = n - 1;
            break;
        }
        if (!done || !tasks_run_goes_on(run, 1))
            return stopped(run, err);
    }
    return standstill(run, policy, err);
}

enum pv_code tasks_simulate(const struct tasks_model *model,
                            const struct tasks_terms *terms,
                            const struct trial *trial,
                            size_t memory_max,
                            const struct tasks_progress *progress,
                            struct arena *arena,
                            struct arena *scratch,
                            struct tasks_result *result,
                            struct pv_error *err)
{
    return tasks_simulate_observed(model, terms, trial, memory_max, progress, NULL, arena, scratch,
                                   result, err);
}

enum pv_code tasks_simulate_observed(const struct tasks_model *model,
                                     const struct tasks_terms *terms,
                                     const struct trial *trial,
                                     size_t memory_max,
                                     const struct tasks_progress *progress,
                                     const struct tasks_observer *observer,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     struct tasks_result *result,
                                     struct pv_error *err)
{
    const struct tasks_policy *policy = policy_of(terms);
    size_t memory = tasks_simulation_memory(model, terms);
    struct tasks_run run = {.model = model,
                            .terms = terms,
                            .trial = *trial,
                            .result = result,
                            .observer = observer,
                            .progress = progress,
                            .arena = scratch};
    if (memory_max > 0 && memory > memory_max)
        return pv_fail(err, PV_E_LIMIT, "simulating %s may take %s of memory, and %s are allowed",
                       policy->name, quantity_bytes((double)memory).text,
                       quantity_bytes((double)memory_max).text);
    result->start_s = arena_array(arena, model->n_jobs, sizeof *result->start_s);
    result->finish_s = arena_array(arena, model->n_jobs, sizeof *result->finish_s);
    if (result->start_s == NULL || result->finish_s == NULL)
        return pv_no_memory(err);
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        result->start_s[j] = HUGE_VAL;
        result->finish_s[j] = 0;
    }
    struct arena_mark mark = arena_mark(scratch);
    size_t before = scratch->total;
    enum pv_code code =
        event_heap_init(&run.events, policy->events(model), scratch) && policy->begin(&run)
            ? work_through(&run, policy, err)
            : stopped(&run, err);
    result->memory = scratch->total - before;
    arena_rewind(scratch, mark);
    return code;
}
