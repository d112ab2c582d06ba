/*
 * A later deadline of one job alone (docs/design.md, "Remedies").
 *
 * A schedule depends on deadlines only through the order in which jobs are served, and with the
 * other deadlines fixed, that of one job has at most n places in it. The places are tried from the
 * job's own on. One that ends with a late job says which of the next can be passed over: served
 * behind a job that never waited while this one was given a core, up to the miss, the job has the
 * same schedule up to the miss.
 */
#include <math.h>

#include "core/deadline/edf_trial.h"

/* The jobs but j, left-out ones included, as they are served. */
static void take_others(struct edf_trial *trial, size_t j, uint32_t others[])
{
    edf_replay_order(&trial->replay, trial->deadlines_s);
    size_t n = 0;
    for (size_t at = 0; at < trial->plan.n_jobs; at++)
        if (trial->replay.by_deadline[at] != j)
            others[n++] = trial->replay.by_deadline[at];
}

/* The least deadline, at least floor_s, with which j is served behind others[place - 1]. */
static double lowest_at(
    const struct edf_trial *trial, size_t j, double floor_s, const uint32_t others[], size_t place)
{
    if (place == 0)
        return floor_s;
    uint32_t k = others[place - 1];
    return edf_trial_deadline_behind(trial, j, floor_s, k,
                                     trial->plan.jobs[k].release_s + trial->deadlines_s[k]);
}

/* The next place that may have another schedule than `place`, whose run ended at a late job; n
 * where there is none. beyond_s: the least deadline behind each, as far as it is needed. */
static size_t next_place(const struct edf_trial *trial,
                         size_t j,
                         double floor_s,
                         const struct edf_contention *contention,
                         const uint32_t others[],
                         size_t place)
{
    size_t n = trial->plan.n_jobs;
    bool itself = edf_trial_is_late(trial, j);
    double elapsed = edf_trial_elapsed_s(trial, j);
    for (; place + 1 < n; place++) {
        if (contention->waited[others[place]])
            return place + 1;
        /* The same schedule, but j has until it would be served behind the job that is next. */
        if (itself && (place + 2 == n || elapsed < lowest_at(trial, j, floor_s, others, place + 2)))
            return place + 1;
    }
    return n;
}

enum edf_replay_end edf_later_deadline_alone(struct edf_trial *trial,
                                             size_t j,
                                             double floor_s,
                                             struct edf_contention *contention,
                                             uint32_t others[],
                                             double *deadline_s)
{
    size_t n = trial->plan.n_jobs;
    double before = trial->deadlines_s[j];
    enum edf_replay_end end = EDF_REPLAY_MISSED;
    take_others(trial, j, others);
    size_t place = 0;
    while (place + 1 < n && lowest_at(trial, j, floor_s, others, place + 1) == floor_s)
        place++;
    while (place < n && end == EDF_REPLAY_MISSED) {
        double least = lowest_at(trial, j, floor_s, others, place);
        double behind =
            place + 1 < n ? lowest_at(trial, j, floor_s, others, place + 1) : (double)INFINITY;
        if (behind == least) { /* no deadline is between those of its neighbours */
            place++;
            continue;
        }
        edf_trial_set_deadline(trial, j, place + 1 < n ? nextafter(behind, 0) : behind);
        edf_contention_begin(contention, j);
        end = edf_trial_run(trial, &contention->watch);
        if (end == EDF_REPLAY_DONE)
            *deadline_s = fmax(least, edf_trial_elapsed_s(trial, j));
        else if (end == EDF_REPLAY_MISSED)
            place = next_place(trial, j, floor_s, contention, others, place);
    }
    edf_trial_set_deadline(trial, j, before);
    return end;
}

static void
add_change(const struct edf_trial *trial, size_t j, double deadline_s, struct edf_change_list *list)
{
    const struct edf_job *job = &trial->jobs[j];
    list->items[list->n++] = (struct edf_change){.job = j,
                                                 .release_s = job->release_s,
                                                 .deadline_s = deadline_s,
                                                 .later_s = deadline_s - job->deadline_s};
}

enum pv_code edf_find_one_later_deadline(struct edf_trial *trial,
                                         uint64_t budget,
                                         struct arena *arena,
                                         struct arena *scratch,
                                         struct edf_change_list *list,
                                         struct pv_error *err)
{
    size_t n = trial->plan.n_jobs;
    struct edf_contention contention = {.n_jobs = n};
    contention.waited = arena_array(scratch, n, sizeof *contention.waited);
    uint32_t *others = arena_array(scratch, n, sizeof *others);
    bool *hopeless = arena_array(scratch, n, sizeof *hopeless);
    *list = (struct edf_change_list){.exact = true, .irreducible = true};
    list->items = arena_array(arena, n, sizeof *list->items);
    if (contention.waited == NULL || others == NULL || hopeless == NULL || list->items == NULL)
        return pv_no_memory(err);
    edf_trial_begin(trial, budget);
    edf_trial_find_hopeless(trial, hopeless);
    for (size_t j = 0; j < n; j++) {
        double deadline = trial->jobs[j].deadline_s;
        if (hopeless[j])
            continue;
        /* What is left, shared by the jobs that are left: none uses up what the others need. */
        edf_trial_allot(trial, budget, 1.0 / (double)(n - j));
        enum edf_replay_end end =
            edf_later_deadline_alone(trial, j, deadline, &contention, others, &deadline);
        list->exact = list->exact && end != EDF_REPLAY_CUT;
        if (end == EDF_REPLAY_DONE && deadline > trial->jobs[j].deadline_s)
            add_change(trial, j, deadline, list);
    }
    return PV_OK;
}
