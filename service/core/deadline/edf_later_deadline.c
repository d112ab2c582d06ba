/*
 * A later deadline of one job alone (docs/design.md, "Remedies").
 *
 * A schedule depends on deadlines only through the order in which jobs are served, and with the
 * other deadlines fixed, that of one job has at most n places in it. The places are tried from the
 * job's own on. One that ends with a late job says which of the next can be passed over: served
 * behind a job that never waited while this one was given a core, up to the miss, the job has the
 * same schedule up to the miss (not where jobs wait for memory in the order of their deadlines). Places in which some span of time has more work than the cores can do
 * are passed over without a replay.
 */
#include <math.h>
#include <string.h>

#include "core/deadline/edf_searches.h"

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

/* Try the job in one place, among `others`; *deadline_s: the least there that is met. */
static enum edf_replay_end try_place(struct edf_trial *trial,
                                     size_t j,
                                     double floor_s,
                                     struct edf_contention *contention,
                                     const uint32_t others[],
                                     size_t *place,
                                     double *deadline_s)
{
    bool last = *place + 1 == trial->plan.n_jobs;
    double least = lowest_at(trial, j, floor_s, others, *place);
    double behind = last ? (double)INFINITY : lowest_at(trial, j, floor_s, others, *place + 1);
    edf_trial_set_deadline(trial, j, last ? behind : nextafter(behind, 0));
    /* No deadline is between those of its neighbours, or with none there is enough time. */
    if (behind == least || !edf_trial_fits(trial)) {
        ++*place;
        return edf_trial_is_spent(trial) ? EDF_REPLAY_CUT : EDF_REPLAY_MISSED;
    }
    edf_contention_begin(contention, j);
    if (edf_launches_by_deadline(&trial->plan)) /* its place also decides who is launched */
        memset(contention->waited, true, contention->n_jobs * sizeof *contention->waited);
    enum edf_replay_end end = edf_trial_run(trial, &contention->watch);
    if (end == EDF_REPLAY_DONE)
        *deadline_s = fmax(least, edf_trial_elapsed_s(trial, j));
    else if (end == EDF_REPLAY_MISSED)
        *place = next_place(trial, j, floor_s, contention, others, *place);
    return end;
}

enum edf_replay_end edf_later_deadline_alone(struct edf_trial *trial,
                                             size_t j,
                                             double floor_s,
                                             enum edf_places places,
                                             struct edf_contention *contention,
                                             uint32_t others[],
                                             double *deadline_s)
{
    size_t n = trial->plan.n_jobs;
    double before = trial->deadlines_s[j];
    enum edf_replay_end end = EDF_REPLAY_MISSED;
    size_t place = places == EDF_LAST_PLACE ? n - 1 : 0;
    take_others(trial, j, others);
    while (place + 1 < n && lowest_at(trial, j, floor_s, others, place + 1) == floor_s)
        place++;
    while (place < n && end == EDF_REPLAY_MISSED)
        end = try_place(trial, j, floor_s, contention, others, &place, deadline_s);
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

struct alone {
    struct edf_trial *trial;
    struct edf_contention contention;
    uint32_t *others;
    bool *hopeless;      /* by job */
    double *deadlines_s; /* by job: enough; INFINITY: none is known */
};

static bool is_asked(const struct alone *alone, size_t j, bool known)
{
    return !alone->hopeless[j] && known == (alone->deadlines_s[j] < (double)INFINITY);
}

/* Look at the places of the jobs of which some deadline is known to be enough, or of the others.
 * What is left of the budget is shared: no job uses up what the others need. True: none was cut. */
static bool look_at(struct alone *alone, uint64_t budget, enum edf_places places, bool known)
{
    struct edf_trial *trial = alone->trial;
    size_t n = trial->plan.n_jobs;
    size_t left = 0;
    bool whole = true;
    for (size_t j = 0; j < n; j++)
        left += is_asked(alone, j, known);
    for (size_t j = 0; left > 0 && j < n; j++) {
        if (!is_asked(alone, j, known))
            continue;
        edf_trial_allot_part(trial, budget, left--);
        enum edf_replay_end end =
            edf_later_deadline_alone(trial, j, trial->jobs[j].deadline_s, places,
                                     &alone->contention, alone->others, &alone->deadlines_s[j]);
        whole = whole && end != EDF_REPLAY_CUT;
    }
    return whole;
}

static bool init_alone(struct alone *alone, struct arena *scratch)
{
    size_t n = alone->trial->plan.n_jobs;
    alone->contention.n_jobs = n;
    alone->contention.waited = arena_array(scratch, n, sizeof *alone->contention.waited);
    alone->others = arena_array(scratch, n, sizeof *alone->others);
    alone->hopeless = arena_array(scratch, n, sizeof *alone->hopeless);
    alone->deadlines_s = arena_array(scratch, n, sizeof *alone->deadlines_s);
    if (alone->contention.waited == NULL || alone->others == NULL || alone->hopeless == NULL ||
        alone->deadlines_s == NULL)
        return false;
    for (size_t j = 0; j < n; j++)
        alone->deadlines_s[j] = INFINITY;
    return true;
}

enum pv_code edf_find_one_later_deadline(struct edf_trial *trial,
                                         uint64_t budget,
                                         struct arena *arena,
                                         struct arena *scratch,
                                         struct edf_change_list *list,
                                         struct pv_error *err)
{
    struct alone alone = {.trial = trial};
    size_t n = trial->plan.n_jobs;
    *list = (struct edf_change_list){.items = arena_array(arena, n, sizeof *list->items)};
    edf_trial_begin(trial, budget);
    if (list->items == NULL || !init_alone(&alone, scratch))
        return pv_no_memory(err);
    edf_trial_find_hopeless(trial, alone.hopeless);
    /* Behind all others a job is least in their way: who helps there is looked at first. */
    (void)look_at(&alone, budget - budget / 3, EDF_LAST_PLACE, false);
    bool known = look_at(&alone, budget, EDF_FIRST_PLACES, true);
    bool rest = look_at(&alone, budget, EDF_FIRST_PLACES, false);
    list->exact = list->irreducible = known && rest;
    for (size_t j = 0; j < n; j++)
        if (alone.deadlines_s[j] < (double)INFINITY)
            add_change(trial, j, alone.deadlines_s[j], list);
    return PV_OK;
}
