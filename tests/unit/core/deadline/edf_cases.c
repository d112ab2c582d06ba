#include "edf_cases.h"

#include <math.h>
#include <string.h>

uint64_t numbers_below(struct numbers *numbers, uint64_t n)
{
    uint64_t z = numbers->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

static double length(struct numbers *numbers, bool fine)
{
    return fine ? (double)numbers_below(numbers, 1000000) / 137137.0
                : (double)numbers_below(numbers, 5);
}

static void
make_stage(struct edf_case *made, struct numbers *numbers, bool fine, size_t j, size_t s)
{
    struct edf_stage *stage = &made->stages[j][s];
    stage->tasks = numbers_below(numbers, CASE_TASKS + 1);
    stage->parents = made->parents[j][s];
    /* Parents come before or after in the list: the order by id is shuffled below. */
    for (size_t p = 0; p < s; p++)
        if (numbers_below(numbers, 3) == 0)
            made->parents[j][s][stage->n_parents++] = p;
    made->tasks += stage->tasks;
    if (numbers_below(numbers, 2) == 0) {
        stage->task_duration_s = length(numbers, fine);
        return;
    }
    stage->task_durations_s = made->durations[j][s];
    for (size_t t = 0; t < stage->tasks; t++)
        made->durations[j][s][t] = length(numbers, fine);
}

static void make_job(struct edf_case *made, struct numbers *numbers, bool fine, size_t j)
{
    struct edf_job *job = &made->jobs[j];
    job->release_s = (double)numbers_below(numbers, 6) - 2;
    job->deadline_s = 1 + (double)numbers_below(numbers, 20);
    job->overhead_per_task_s = numbers_below(numbers, 3) == 0 ? length(numbers, fine) : 0;
    job->n_stages = 1 + numbers_below(numbers, CASE_STAGES);
    job->stages = made->stages[j];
    for (size_t s = 0; s < job->n_stages; s++)
        make_stage(made, numbers, fine, j, s);
    int64_t ids[CASE_STAGES];
    for (size_t s = 0; s < job->n_stages; s++)
        ids[s] = (int64_t)s * 7;
    for (size_t s = job->n_stages; s-- > 0;) {
        size_t other = numbers_below(numbers, s + 1);
        made->stages[j][s].id = ids[other];
        ids[other] = ids[s];
    }
}

void edf_case_make(struct edf_case *made, struct numbers *numbers, bool fine)
{
    memset(made, 0, sizeof *made);
    made->n = 1 + numbers_below(numbers, CASE_JOBS);
    for (size_t j = 0; j < made->n; j++)
        make_job(made, numbers, fine, j);
}

void edf_case_delay(struct edf_case *made, struct numbers *numbers, bool fine)
{
    for (size_t j = 0; j < made->n; j++)
        for (size_t s = 0; s < made->jobs[j].n_stages; s++)
            if (numbers_below(numbers, 2) == 0)
                made->stages[j][s].delay_s = length(numbers, fine);
}

bool placements_add(void *context, const struct edf_placement *placement)
{
    struct placements *placements = context;
    placements->items[placements->n++] = *placement;
    return true;
}

/* --- the plain scheduler --- */

enum { CORES_MAX = CASE_JOBS * CASE_STAGES * CASE_TASKS };

struct plain {
    const struct edf_job *jobs;
    size_t n;
    size_t cores;
    bool released[CASE_JOBS];
    bool over[CASE_JOBS][CASE_STAGES];
    bool awaited[CASE_JOBS][CASE_STAGES]; /* its delay has begun */
    double opens_s[CASE_JOBS][CASE_STAGES];
    size_t started[CASE_JOBS][CASE_STAGES];
    size_t ended[CASE_JOBS][CASE_STAGES];
    bool busy[CORES_MAX];
    struct edf_placement running[CORES_MAX];
    double now;
};

static bool runnable(struct plain *plain, size_t j, size_t s)
{
    const struct edf_stage *stage = &plain->jobs[j].stages[s];
    bool all = plain->released[j] && !plain->over[j][s];
    for (size_t p = 0; p < stage->n_parents; p++)
        all = all && plain->over[j][stage->parents[p]];
    if (all && !plain->awaited[j][s]) {
        plain->awaited[j][s] = true;
        plain->opens_s[j][s] = plain->now + stage->delay_s;
    }
    return all && plain->opens_s[j][s] <= plain->now;
}

/* Mark what has ended, stages without tasks included, until nothing changes. */
static void settle(struct plain *plain, double completions_s[])
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t j = 0; j < plain->n; j++)
            for (size_t s = 0; s < plain->jobs[j].n_stages; s++)
                if (runnable(plain, j, s) && plain->ended[j][s] == plain->jobs[j].stages[s].tasks) {
                    plain->over[j][s] = changed = true;
                    completions_s[j] = plain->now;
                }
    }
}

static bool comes_first(const struct plain *plain, size_t a, size_t s, size_t b, size_t t)
{
    const struct edf_job *x = &plain->jobs[a];
    const struct edf_job *y = &plain->jobs[b];
    if (a == b)
        return x->stages[s].id < y->stages[t].id;
    if (x->release_s + x->deadline_s != y->release_s + y->deadline_s)
        return x->release_s + x->deadline_s < y->release_s + y->deadline_s;
    if (x->release_s != y->release_s)
        return x->release_s < y->release_s;
    return a < b;
}

static bool choose(struct plain *plain, size_t *job, size_t *stage)
{
    bool found = false;
    for (size_t j = 0; j < plain->n; j++)
        for (size_t s = 0; s < plain->jobs[j].n_stages; s++)
            if (runnable(plain, j, s) && plain->started[j][s] < plain->jobs[j].stages[s].tasks &&
                (!found || comes_first(plain, j, s, *job, *stage))) {
                *job = j;
                *stage = s;
                found = true;
            }
    return found;
}

static void start_tasks(struct plain *plain, struct placements *placements)
{
    for (size_t core = 0; core < plain->cores; core++) {
        size_t j = 0;
        size_t s = 0;
        if (plain->busy[core] || !choose(plain, &j, &s))
            continue;
        const struct edf_stage *stage = &plain->jobs[j].stages[s];
        size_t task = plain->started[j][s]++;
        double duration = stage->task_durations_s == NULL ? stage->task_duration_s
                                                          : stage->task_durations_s[task];
        plain->running[core] = (struct edf_placement){
            j,    s,          task,
            core, plain->now, plain->now + (duration + plain->jobs[j].overhead_per_task_s)};
        plain->busy[core] = true;
        placements->items[placements->n++] = plain->running[core];
    }
}

static bool next_instant(struct plain *plain)
{
    double next = INFINITY;
    for (size_t core = 0; core < plain->cores; core++)
        if (plain->busy[core])
            next = fmin(next, plain->running[core].end_s);
    for (size_t j = 0; j < plain->n; j++)
        if (!plain->released[j])
            next = fmin(next, plain->jobs[j].release_s);
    for (size_t j = 0; j < plain->n; j++)
        for (size_t s = 0; s < plain->jobs[j].n_stages; s++)
            if (plain->awaited[j][s] && plain->opens_s[j][s] > plain->now)
                next = fmin(next, plain->opens_s[j][s]);
    plain->now = next;
    return next < (double)INFINITY;
}

void reference_schedule(const struct edf_job jobs[],
                        size_t n,
                        size_t cores,
                        double completions_s[],
                        struct placements *placements)
{
    struct plain plain = {.jobs = jobs, .n = n, .cores = cores > CORES_MAX ? CORES_MAX : cores};
    placements->n = 0;
    while (next_instant(&plain)) {
        for (size_t core = 0; core < plain.cores; core++)
            if (plain.busy[core] && plain.running[core].end_s == plain.now) {
                plain.busy[core] = false;
                plain.ended[plain.running[core].job][plain.running[core].stage]++;
            }
        for (size_t j = 0; j < n; j++)
            plain.released[j] = plain.released[j] || jobs[j].release_s == plain.now;
        settle(&plain, completions_s);
        start_tasks(&plain, placements);
    }
}
