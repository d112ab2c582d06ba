#include "core/deadline/edf_trial.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* More spans of time are not compared: fewer jobs are found hopeless then, none wrongly. */
enum { SPANS_MAX = 1 << 20 };

/* --- setting up --- */

static void edf_trial_measure(struct edf_trial *trial)
{
    const struct edf_plan *plan = &trial->plan;
    double largest = plan->work_s;
    for (size_t at = plan->n_stages; at-- > 0;) {
        uint32_t s = plan->topological[at];
        const struct edf_plan_stage *stage = &plan->stages[s];
        double after = 0;
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++)
            after = fmax(after, plan->stages[plan->children[c]].delay_s +
                                    trial->tails_s[plan->children[c]]);
        trial->tails_s[s] = after + stage->longest_s;
    }
    for (size_t s = 0; s < plan->n_stages; s++) {
        uint32_t j = plan->stages[s].job;
        trial->tasks[s] = plan->stages[s].tasks;
        trial->work_s[j] += plan->stages[s].work_s;
        trial->lengths_s[j] =
            fmax(trial->lengths_s[j], plan->stages[s].delay_s + trial->tails_s[s]);
    }
    for (size_t j = 0; j < plan->n_jobs; j++) {
        double release = trial->jobs[j].release_s;
        largest = fmax(largest, fabs(release) + plan->work_s);
        largest = fmax(largest, fabs(release + trial->jobs[j].deadline_s));
    }
    trial->rounding_s = largest * DBL_EPSILON * ((double)plan->tasks + (double)plan->n_stages + 8);
}

enum pv_code edf_trial_init(struct edf_trial *trial,
                            const struct edf_job jobs[],
                            size_t n_jobs,
                            size_t cores,
                            struct arena *arena,
                            struct pv_error *err)
{
    *trial = (struct edf_trial){.jobs = jobs, .cores = cores};
    PV_TRY(edf_plan_make(jobs, n_jobs, arena, &trial->plan, err));
    size_t n_stages = trial->plan.n_stages;
    trial->deadlines_s = arena_array(arena, n_jobs, sizeof *trial->deadlines_s);
    trial->lengths_s = arena_calloc(arena, n_jobs, sizeof *trial->lengths_s);
    trial->work_s = arena_calloc(arena, n_jobs, sizeof *trial->work_s);
    trial->left_out = arena_calloc(arena, n_jobs, sizeof *trial->left_out);
    trial->tails_s = arena_array(arena, n_stages, sizeof *trial->tails_s);
    trial->latest_starts_s = arena_array(arena, n_stages, sizeof *trial->latest_starts_s);
    trial->tasks = arena_array(arena, n_stages, sizeof *trial->tasks);
    if (trial->deadlines_s == NULL || trial->lengths_s == NULL || trial->work_s == NULL ||
        trial->left_out == NULL || trial->tails_s == NULL || trial->latest_starts_s == NULL ||
        trial->tasks == NULL || !edf_replay_init(&trial->replay, &trial->plan, cores, false, arena))
        return pv_no_memory(err);
    trial->replay.latest_starts_s = trial->latest_starts_s;
    edf_trial_measure(trial);
    edf_trial_begin(trial, 0);
    return PV_OK;
}

void edf_trial_begin(struct edf_trial *trial, uint64_t budget)
{
    trial->budget = budget;
    trial->replay.steps = 0;
    for (size_t j = 0; j < trial->plan.n_jobs; j++) {
        edf_trial_leave_out(trial, j, false);
        edf_trial_set_release(trial, j, trial->jobs[j].release_s);
        edf_trial_set_deadline(trial, j, trial->jobs[j].deadline_s);
    }
}

/* --- what differs --- */

/* Beyond these starts of its stages the job is late for certain. */
static void set_latest_starts(struct edf_trial *trial, size_t j)
{
    const struct edf_plan_job *job = &trial->plan.jobs[j];
    double at = job->release_s + trial->deadlines_s[j];
    for (uint32_t s = job->first_stage; s < job->first_stage + job->n_stages; s++)
        trial->latest_starts_s[s] = trial->left_out[j]
                                        ? (double)INFINITY
                                        : at - trial->tails_s[s] * (1 - 1e-12) + trial->rounding_s;
}

void edf_trial_set_deadline(struct edf_trial *trial, size_t j, double deadline_s)
{
    trial->deadlines_s[j] = deadline_s;
    set_latest_starts(trial, j);
}

static bool is_released_before(const struct edf_plan *plan, uint32_t a, uint32_t b)
{
    double at_a = plan->jobs[a].release_s;
    double at_b = plan->jobs[b].release_s;
    return at_a < at_b || (at_a == at_b && a < b);
}

void edf_trial_set_release(struct edf_trial *trial, size_t j, double release_s)
{
    struct edf_plan *plan = &trial->plan;
    uint32_t *order = plan->by_release;
    if (plan->jobs[j].release_s == release_s)
        return;
    plan->jobs[j].release_s = release_s;
    set_latest_starts(trial, j);
    size_t at = 0;
    while (order[at] != j)
        at++;
    for (; at + 1 < plan->n_jobs && is_released_before(plan, order[at + 1], order[at]); at++) {
        order[at] = order[at + 1];
        order[at + 1] = (uint32_t)j;
    }
    for (; at > 0 && is_released_before(plan, order[at], order[at - 1]); at--) {
        order[at] = order[at - 1];
        order[at - 1] = (uint32_t)j;
    }
}

void edf_trial_leave_out(struct edf_trial *trial, size_t j, bool left_out)
{
    const struct edf_plan_job *job = &trial->plan.jobs[j];
    if (trial->left_out[j] == left_out)
        return;
    trial->left_out[j] = left_out;
    for (uint32_t s = job->first_stage; s < job->first_stage + job->n_stages; s++) {
        const struct edf_stage *stage = &trial->jobs[j].stages[s - job->first_stage];
        trial->plan.stages[s].tasks = left_out ? 0 : trial->tasks[s];
        trial->plan.stages[s].delay_s = left_out ? 0 : stage->delay_s;
    }
    if (trial->jobs[j].memory != NULL)
        trial->plan.jobs[j].memory_bytes = left_out ? 0 : trial->jobs[j].memory_bytes;
    set_latest_starts(trial, j);
}

/* --- a run --- */

enum edf_replay_end edf_trial_run(struct edf_trial *trial, struct edf_watch *watch)
{
    trial->replay.watch = watch;
    return edf_replay_run(&trial->replay, trial->deadlines_s, trial->cores, true, trial->budget,
                          NULL);
}

enum edf_replay_end edf_trial_run_whole(struct edf_trial *trial, struct edf_watch *watch)
{
    trial->replay.watch = watch;
    return edf_replay_run(&trial->replay, trial->deadlines_s, trial->cores, false, trial->budget,
                          NULL);
}

void edf_trial_allot(struct edf_trial *trial, uint64_t whole, double share)
{
    uint64_t left = whole > trial->replay.steps ? whole - trial->replay.steps : 0;
    uint64_t part = share < 1 ? (uint64_t)((double)left * share) : left;
    trial->budget =
        part > UINT64_MAX - trial->replay.steps ? UINT64_MAX : trial->replay.steps + part;
}

void edf_trial_allot_part(struct edf_trial *trial, uint64_t whole, size_t parts)
{
    uint64_t left = whole > trial->replay.steps ? whole - trial->replay.steps : 0;
    uint64_t few = 3 * ((uint64_t)trial->plan.tasks + trial->plan.n_stages);
    uint64_t part = left / parts > few ? left / parts : few;
    part = part < left ? part : left;
    trial->budget =
        part > UINT64_MAX - trial->replay.steps ? UINT64_MAX : trial->replay.steps + part;
}

bool edf_trial_is_spent(const struct edf_trial *trial)
{
    return trial->replay.steps >= trial->budget;
}

double edf_trial_elapsed_s(const struct edf_trial *trial, size_t j)
{
    const struct edf_replay *replay = &trial->replay;
    double at = replay->stages_left[j] > 0 ? replay->now : replay->completions_s[j];
    return at - trial->plan.jobs[j].release_s;
}

bool edf_trial_is_late(const struct edf_trial *trial, size_t j)
{
    const struct edf_plan_job *job = &trial->plan.jobs[j];
    if (edf_trial_elapsed_s(trial, j) > trial->deadlines_s[j])
        return true;
    /* Or its stages cannot end any more by then. */
    for (uint32_t s = job->first_stage; s < job->first_stage + job->n_stages; s++)
        if (trial->replay.left[s] > 0 && trial->replay.started[s] == 0 &&
            trial->replay.now > trial->latest_starts_s[s])
            return true;
    return false;
}

/* --- deadlines as doubles --- */

static bool
is_behind(const struct edf_trial *trial, size_t j, double deadline_s, size_t k, double at_s)
{
    double at = trial->plan.jobs[j].release_s + deadline_s;
    return edf_is_served_before(&trial->plan, (uint32_t)k, at_s, (uint32_t)j, at);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double edf_trial_deadline_behind(
    const struct edf_trial *trial, size_t j, double floor_s, size_t k, double at_s)
{
    if (is_behind(trial, j, floor_s, k, at_s))
        return floor_s;
    double step = nextafter(fabs(at_s), INFINITY) - fabs(at_s);
    double enough = fmax(floor_s, at_s - trial->plan.jobs[j].release_s);
    while (!is_behind(trial, j, enough, k, at_s))
        enough = fmax(enough + step, nextafter(enough, INFINITY));
    /* Doubles above 0 are in the order of their bits. */
    uint64_t low = bits_of(floor_s);
    uint64_t high = bits_of(enough);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(is_behind(trial, j, double_of(middle), k, at_s) ? &high : &low) = middle;
    }
    return double_of(high);
}

/* --- spans of time --- */

/* Work within [from, to] that no schedule has done by `to`; at most 0: it may be. */
static double excess_of(const struct edf_trial *trial, double work_s, double from, double to)
{
    double length = (to - from) * (1 + 1e-12) + trial->rounding_s;
    return work_s * (1 - 1e-12) - trial->rounding_s - (double)trial->cores * length;
}

/* True: some job may still help. */
static bool
rule_out(const struct edf_trial *trial, double from, double to, double excess, bool hopeless[])
{
    bool open = false;
    for (size_t j = 0; j < trial->plan.n_jobs; j++) {
        double release = trial->plan.jobs[j].release_s;
        bool within = release >= from && release + trial->deadlines_s[j] <= to;
        hopeless[j] = hopeless[j] || !within || trial->work_s[j] < excess;
        open = open || !hopeless[j];
    }
    return open;
}

void edf_trial_find_hopeless(struct edf_trial *trial, bool hopeless[])
{
    const struct edf_plan *plan = &trial->plan;
    edf_replay_order(&trial->replay, trial->deadlines_s);
    size_t n = plan->n_jobs;
    size_t step = n / (SPANS_MAX / n + 1) + 1;
    memset(hopeless, 0, n * sizeof *hopeless);
    for (size_t from = 0; from < n; from += step) {
        double opens = plan->jobs[plan->by_release[from]].release_s;
        double work = 0;
        for (size_t at = 0; at < n; at++) {
            uint32_t j = trial->replay.by_deadline[at];
            double closes = plan->jobs[j].release_s + trial->deadlines_s[j];
            if (plan->jobs[j].release_s < opens)
                continue;
            work += trial->work_s[j];
            double excess = excess_of(trial, work, opens, closes);
            if (excess > 0 && !rule_out(trial, opens, closes, excess, hopeless))
                return;
        }
    }
}

bool edf_trial_fits(struct edf_trial *trial)
{
    const struct edf_plan *plan = &trial->plan;
    size_t n = plan->n_jobs;
    size_t step = n / (SPANS_MAX / n + 1) + 1;
    edf_replay_order(&trial->replay, trial->deadlines_s);
    trial->replay.steps += 1 + (uint64_t)n * n / 64;
    for (size_t from = 0; from < n; from += step) {
        double opens = plan->jobs[plan->by_release[from]].release_s;
        double work = 0;
        for (size_t at = 0; at < n; at++) {
            uint32_t j = trial->replay.by_deadline[at];
            if (trial->left_out[j] || plan->jobs[j].release_s < opens)
                continue;
            work += trial->work_s[j];
            if (excess_of(trial, work, opens, plan->jobs[j].release_s + trial->deadlines_s[j]) > 0)
                return false;
        }
    }
    return true;
}

/* --- who waits for whom --- */

static void
contention_started(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n)
{
    struct edf_contention *contention = (struct edf_contention *)watch;
    (void)n;
    if (replay->plan->stages[s].job != contention->of)
        return;
    contention->took = true;
    contention->first_start_s = fmin(contention->first_start_s, replay->now);
}

static void contention_settled(struct edf_watch *watch, const struct edf_replay *replay)
{
    struct edf_contention *contention = (struct edf_contention *)watch;
    if (!contention->took)
        return;
    contention->took = false;
    for (size_t i = 0; i < replay->ready.n; i++)
        contention->waited[replay->plan->stages[(uint32_t)replay->ready.items[i].value].job] = true;
}

void edf_contention_begin(struct edf_contention *contention, size_t of)
{
    contention->watch =
        (struct edf_watch){.started = contention_started, .settled = contention_settled};
    contention->of = (uint32_t)of;
    contention->took = false;
    contention->first_start_s = INFINITY;
    memset(contention->waited, 0, contention->n_jobs * sizeof *contention->waited);
}
