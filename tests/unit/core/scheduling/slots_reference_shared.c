/* The rules of policies on slots of no fixed kind, for the plain simulator: everything is counted
 * anew for every slot, in order of arrival. */
#include <math.h>

#include "slots_reference_internal.h"

/* --- what is counted --- */

static bool above(double a, double b)
{
    return a - b > 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static double pending(size_t job, enum slots_kind kind)
{
    return (double)reference_count(job, kind, true, false, false);
}

static double held(size_t job, enum slots_kind kind)
{
    return (double)reference_count(job, kind, false, true, false);
}

static double ended(size_t job, enum slots_kind kind)
{
    return (double)reference_count(job, kind, false, false, true);
}

static double all(size_t job, enum slots_kind kind)
{
    return (double)reference_count(job, kind, true, true, true);
}

/* Of ended tasks, of all as long as there are none. */
static double mean_s(size_t job, enum slots_kind kind)
{
    double sum = 0;
    double n = 0;
    bool some = ended(job, kind) > 0;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        if (task->job == job && task->kind == kind && (!some || task->phase == ENDED)) {
            sum += task->duration_s;
            n += 1;
        }
    }
    return sum / n;
}

static double work_left(size_t job, enum slots_kind kind)
{
    double left = pending(job, kind) + held(job, kind);
    return left > 0 ? left * mean_s(job, kind) : 0;
}

/* --- fresh --- */

static double consumption(size_t job)
{
    double since_s = ref.now_s - ref.entered_m_s[job];
    double time_s = 0;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        if (task->job != job || task->phase == PENDING)
            continue;
        double to_s = task->phase == ENDED ? task->begin_s + task->duration_s : ref.now_s;
        time_s += to_s - task->given_s;
    }
    return since_s > 0 ? time_s / since_s : 0;
}

/* Who of a phase has consumed least, and has a task pending. */
static size_t least_consumer(enum slots_kind kind)
{
    size_t best = SLOTS_NOBODY;
    for (size_t i = 0; i < ref.n; i++) {
        size_t job = ref.order[i];
        if (!(kind == SLOTS_MAP ? ref.in_m[job] : ref.in_r[job]) || pending(job, kind) == 0)
            continue;
        if (best == SLOTS_NOBODY || above(consumption(best), consumption(job)))
            best = job;
    }
    return best;
}

/* What theorem 3.3.1 says, as it says it. */
static double released(double work_s, double running, double ratio, double interval_s, double k)
{
    double c = ratio / (2 * interval_s * k);
    return (sqrt(running * running + 4 * c * work_s) - running) / (2 * c * interval_s);
}

static double expected_map_slots(double map_slots)
{
    double rw_m = 0;
    double rw_r = 0;
    double rate = 0;
    double k = 0;
    size_t a = SLOTS_NOBODY;
    for (size_t i = 0; i < ref.n; i++) {
        size_t job = ref.order[i];
        if (ref.in_m[job]) {
            rw_m += work_left(job, SLOTS_MAP);
            k += 1;
            if (a == SLOTS_NOBODY || above(work_left(a, SLOTS_MAP), work_left(job, SLOTS_MAP)))
                a = job;
        } else if (ref.maps_told[job] && !ref.end_told[job]) {
            rw_r += work_left(job, SLOTS_REDUCE);
            rate += held(job, SLOTS_REDUCE) / mean_s(job, SLOTS_REDUCE) > 0
                        ? held(job, SLOTS_REDUCE) / mean_s(job, SLOTS_REDUCE)
                        : 0;
        }
    }
    double slots = (double)ref.n_slots;
    double ratio = rw_m / (rw_m + rw_r);
    if (a == SLOTS_NOBODY || above(ref.terms->tau1, ended(a, SLOTS_MAP) / all(a, SLOTS_MAP)))
        return ratio * slots;
    k = fmin(k, (double)ref.terms->concurrency);
    double w = work_left(a, SLOTS_MAP);
    double m = fmax(0, rw_m - k * w);
    if (ref.n_m_waits > 0)
        m += work_left(ref.m_waits[0], SLOTS_MAP);
    double q = rw_r + work_left(a, SLOTS_REDUCE);
    if (!above(m + q, 0))
        return ratio * slots;
    double then = m / (m + q);
    double h = w > 0 && rate > 0 ? released(w, held(a, SLOTS_MAP), ratio, 1 / rate, k) : 0;
    if (!above(then, 0) ||
        above(fabs((map_slots + ratio * h) / slots - then) / then, ref.terms->tau2))
        return then * slots;
    return ratio * slots;
}

size_t reference_choose_fresh(enum slots_kind *kind)
{
    double map_slots = 0;
    for (size_t job = 0; job < ref.n; job++)
        map_slots += held(job, SLOTS_MAP);
    *kind = above(expected_map_slots(map_slots), map_slots) ? SLOTS_MAP : SLOTS_REDUCE;
    if (least_consumer(*kind) == SLOTS_NOBODY)
        *kind = *kind == SLOTS_MAP ? SLOTS_REDUCE : SLOTS_MAP;
    return least_consumer(*kind);
}

/* --- omo --- */

/* Slots that are available, or held by reduces of jobs whose maps are not done. */
static double count_slots(bool available)
{
    double slots = 0;
    for (size_t job = 0; job < ref.n; job++) {
        bool mapped = pending(job, SLOTS_MAP) + held(job, SLOTS_MAP) == 0;
        slots += available ? held(job, SLOTS_MAP) : 0;
        slots += mapped == available ? held(job, SLOTS_REDUCE) : 0;
    }
    return slots;
}

void reference_close_windows(void)
{
    double weight = ref.terms->ema_weight;
    size_t done = 0;
    for (size_t i = 0; i < ref.n_tasks; i++)
        done += ref.tasks[i].phase == ENDED;
    while ((double)(ref.windows + 1) * ref.terms->window_s < ref.now_s) {
        double frequency = (double)(done - ref.released_before) / ref.terms->window_s;
        double available = count_slots(true);
        bool first = ref.windows++ == 0;
        ref.released_before = done;
        ref.frequency = first ? frequency : weight * frequency + (1 - weight) * ref.frequency;
        ref.available = first ? available : weight * available + (1 - weight) * ref.available;
    }
}

static double active_jobs(void)
{
    double n = 0;
    for (size_t job = 0; job < ref.n; job++)
        n += ref.arrived[job] && !ref.end_told[job];
    return n;
}

static double begun(size_t job)
{
    return held(job, SLOTS_REDUCE) + ended(job, SLOTS_REDUCE);
}

static double slots_of(size_t job)
{
    return held(job, SLOTS_MAP) + held(job, SLOTS_REDUCE);
}

/* The choice that the paper describes: of all pending maps from now to none, those with which the
 * gap is least in amount; is that now? Where it falls evenly, by one step a map. */
static bool may_start(size_t job)
{
    double reduces = all(job, SLOTS_REDUCE);
    double left = ref.available - reduces;
    double now = pending(job, SLOTS_MAP);
    if (!above(ref.frequency, 0) || !above(left, 0))
        return now == 0;
    double step_s = ref.available * active_jobs() / (ref.frequency * left);
    double map_s = all(job, SLOTS_MAP) > 0 ? mean_s(job, SLOTS_MAP) : 0;
    double gap_s = fabs(ref.jobs[job].shuffle_s - map_s - now * step_s);
    for (double x = now - 1; x >= 0; x--)
        if (gap_s - fabs(ref.jobs[job].shuffle_s - map_s - x * step_s) > 1e-9 * step_s)
            return false;
    return true;
}

/* 0: none. */
static double saving(size_t job)
{
    double reduces = all(job, SLOTS_REDUCE);
    double k = active_jobs();
    if (begun(job) == 0 || pending(job, SLOTS_MAP) == 0 || !above(ref.frequency, 0))
        return 0;
    double fair_s = k * pending(job, SLOTS_MAP) / ref.frequency + mean_s(job, SLOTS_MAP);
    double others = ref.frequency * (k - 1) / k * fair_s;
    double batch_s = others * ref.available / (ref.frequency * (ref.available + reduces));
    return above(fair_s, batch_s) ? fair_s - batch_s : 0;
}

enum rule { CONSECUTIVE, LAZY, FAIR, MAPS };

static bool is_ready(size_t job)
{
    return begun(job) < all(job, SLOTS_REDUCE) &&
           !above(ref.slow_start * all(job, SLOTS_MAP), ended(job, SLOTS_MAP));
}

static bool obeys(size_t job, enum rule rule)
{
    bool more = begun(job) < all(job, SLOTS_REDUCE);
    switch (rule) {
    case CONSECUTIVE:
        return ref.terms->lazy_start && begun(job) > 0 && more;
    case LAZY:
        return ref.terms->lazy_start && begun(job) == 0 && more && may_start(job);
    case FAIR:
        return pending(job, SLOTS_MAP) > 0 || (!ref.terms->lazy_start && is_ready(job));
    case MAPS:
        return pending(job, SLOTS_MAP) > 0;
    }
    return false;
}

static size_t fewest_slots(enum rule rule)
{
    size_t best = SLOTS_NOBODY;
    for (size_t i = 0; i < ref.n; i++) {
        size_t job = ref.order[i];
        if (ref.arrived[job] && !ref.end_told[job] && obeys(job, rule) &&
            (best == SLOTS_NOBODY || slots_of(job) < slots_of(best)))
            best = job;
    }
    return best;
}

static size_t most_saving(void)
{
    size_t best = SLOTS_NOBODY;
    for (size_t i = 0; ref.terms->batch_finish && i < ref.n; i++) {
        size_t job = ref.order[i];
        if (ref.arrived[job] && !ref.end_told[job] &&
            (best == SLOTS_NOBODY ? saving(job) > 0 : above(saving(job), saving(best))))
            best = job;
    }
    return best;
}

static size_t choose_by_rules(enum slots_kind *kind)
{
    size_t job = fewest_slots(CONSECUTIVE);
    *kind = SLOTS_REDUCE;
    if (job == SLOTS_NOBODY)
        job = fewest_slots(LAZY);
    if (job != SLOTS_NOBODY)
        return job;
    job = most_saving();
    *kind = SLOTS_MAP;
    if (job == SLOTS_NOBODY) {
        job = fewest_slots(FAIR);
        if (job != SLOTS_NOBODY && !ref.terms->lazy_start && is_ready(job))
            *kind = SLOTS_REDUCE;
    }
    return job;
}

size_t reference_choose_omo(enum slots_kind *kind)
{
    size_t job = choose_by_rules(kind);
    if (job == SLOTS_NOBODY || *kind == SLOTS_MAP ||
        pending(job, SLOTS_MAP) + held(job, SLOTS_MAP) == 0 ||
        count_slots(false) < (double)ref.n_slots - 1)
        return job;
    *kind = SLOTS_MAP;
    return fewest_slots(MAPS);
}
