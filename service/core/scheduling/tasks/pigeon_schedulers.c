/*
 * Schedulers of Pigeon with a layout: which master gets which task (docs/design.md, "Pigeon's
 * layouts"). What they decide at an instant is with masters a message later, which is when it is
 * worked out: so they know of reports a message less recent than what was reported now.
 */
#include "core/scheduling/tasks/pigeon_masters.h"

#include "base/rounding.h"

void pigeon_spread_anew(struct tasks_run *sim)
{
    struct pigeon_masters *pigeon = sim->state;
    struct pigeon_spread *spread = &pigeon->spread;
    /* Equal groups get equally many, though some may have a worker more. */
    bool listed = sim->terms->layout->groups != NULL;
    uint32_t n = 0;
    for (uint32_t m = 0; m < pigeon->n; m++) {
        const struct pigeon_master *master = &pigeon->items[m];
        if (master->left_out)
            continue;
        spread->groups[n] = m;
        spread->shares[n++] = listed ? master->group.workers * master->group.power : 1;
    }
    pigeon_spread_by_power(spread, n);
}

/* --- bound tasks --- */

/* Tasks of this job that its scheduler has sent to a worker. */
static uint32_t sent_to(const struct pigeon_masters *pigeon, uint32_t w, uint32_t job)
{
    return pigeon->sent[w].job == job ? pigeon->sent[w].tasks : 0;
}

/* How much comes before a task of this job at a worker, as its scheduler knows: what is bound to that
 * worker, what it sent there itself, and the worker's part of the free tasks, each of the job's class
 * and those above; by the worker's power. */
static double known_load(struct tasks_run *sim, uint32_t w, uint32_t job)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t m = pigeon->workers.items[w].group;
    struct pigeon_group group = pigeon->items[m].group;
    double every_s = pigeon->report_every_s;
    double reported_s = sim->now_s - 2 * sim->model->communication_s;
    double own = sent_to(pigeon, w, job);
    double all = 0;
    for (uint32_t c = 0; c <= tasks_class_of(&sim->model->jobs[job], pigeon->n_classes); c++) {
        own +=
            pigeon_length_known(pigeon_own_length(pigeon, w, c), sim->now_s, reported_s, every_s);
        all += pigeon_length_known(pigeon_length_of(pigeon, m, c), sim->now_s, reported_s, every_s);
    }
    return (own + all / group.workers) / group.power;
}

static bool
send_bound(struct tasks_run *sim, const struct tasks_binding *binding, uint32_t job, uint32_t task)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t best = PIGEON_NOBODY;
    double least = 0;
    for (uint32_t i = 0; i < binding->n; i++) {
        uint32_t w = binding->workers[i];
        if (pigeon->items[pigeon->workers.items[w].group].left_out)
            continue;
        double load = known_load(sim, w, job);
        if (best != PIGEON_NOBODY && (load >= least || rounding_equal(load, least)))
            continue;
        best = w;
        least = load;
    }
    if (best == PIGEON_NOBODY)
        return pigeon_keep(sim, &pigeon->stranded, job, task, 1);
    pigeon->sent[best] = (struct pigeon_sent){job, sent_to(pigeon, best, job) + 1};
    return pigeon_master_receive(sim, pigeon->workers.items[best].group, job, task, 1);
}

/* --- free tasks --- */

/* Tasks of a job that are still to be distributed. */
struct rest {
    uint32_t job;
    uint32_t next;
};

/* The next neighbouring free ones, n >= 1 at most; n free ones are there. Returns how many. */
static uint32_t
take_run(const struct tasks_run *sim, struct rest *rest, uint32_t n, uint32_t *first)
{
    const struct tasks_job *job = &sim->model->jobs[rest->job];
    while (job->bindings != NULL && job->bindings[rest->next].n > 0)
        rest->next++;
    *first = rest->next;
    if (job->bindings == NULL)
        rest->next += n;
    else
        while (rest->next - *first < n && job->bindings[rest->next].n == 0)
            rest->next++;
    return rest->next - *first;
}

static bool send_free(struct tasks_run *sim, struct rest *rest, uint32_t master, uint32_t n)
{
    while (n > 0) {
        uint32_t first;
        uint32_t run = take_run(sim, rest, n, &first);
        if (!pigeon_master_receive(sim, master, rest->job, first, run))
            return false;
        n -= run;
    }
    return true;
}

/* Where all groups are away, they stay with their scheduler. */
static bool strand(struct tasks_run *sim, struct rest *rest, uint32_t n)
{
    struct pigeon_masters *pigeon = sim->state;
    while (n > 0) {
        uint32_t first;
        uint32_t run = take_run(sim, rest, n, &first);
        if (!pigeon_keep(sim, &pigeon->stranded, rest->job, first, run))
            return false;
        n -= run;
    }
    return true;
}

/* Each to the group that it was given, neighbours together; in place of one that is away, to the one
 * of those left that comes after as many as its number says, over and over. */
static bool send_as_given(struct tasks_run *sim, struct rest *rest, uint32_t n)
{
    const struct pigeon_masters *pigeon = sim->state;
    const uint32_t *placement = sim->model->jobs[rest->job].placement;
    while (n > 0) {
        uint32_t first;
        uint32_t run = take_run(sim, rest, n, &first);
        for (uint32_t from = first, to = first; from < first + run; from = to) {
            uint32_t master = placement[from];
            while (to < first + run && placement[to] == placement[from])
                to++;
            if (pigeon->items[master].left_out)
                master = pigeon->spread.groups[master % pigeon->spread.n];
            if (!pigeon_master_receive(sim, master, rest->job, from, to - from))
                return false;
        }
        n -= run;
    }
    return true;
}

static bool spread_free(struct tasks_run *sim, struct rest *rest, uint32_t n, struct rng *stream)
{
    struct pigeon_masters *pigeon = sim->state;
    if (pigeon->spread.n == 0)
        return strand(sim, rest, n);
    if (sim->model->jobs[rest->job].placement != NULL && pigeon->n > 1)
        return send_as_given(sim, rest, n);
    uint32_t portions = pigeon_spread_tasks(&pigeon->spread, n, stream);
    for (uint32_t i = 0; i < portions; i++) {
        struct pigeon_portion portion = pigeon->spread.portions[i];
        if (!send_free(sim, rest, portion.group, portion.tasks))
            return false;
    }
    return true;
}

bool pigeon_distribute(
    struct tasks_run *sim, uint32_t job, uint32_t task, uint32_t n, struct rng *stream)
{
    struct rest rest = {job, task};
    uint32_t bound = 0;
    for (uint32_t i = task; sim->model->jobs[job].bindings != NULL && i < task + n; i++) {
        struct tasks_binding binding = pigeon_binding(sim, job, i);
        if (binding.n == 0)
            continue;
        bound++;
        if (!send_bound(sim, &binding, job, i))
            return false;
    }
    return bound == n || spread_free(sim, &rest, n - bound, stream);
}
