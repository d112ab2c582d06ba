#include "core/scheduling/slots/fresh.h"

#include <math.h>

#include "base/rounding.h"

double fresh_map_work_s(const struct fresh_job *job)
{
    return (double)(job->maps - job->maps_finished) * job->map_task_s;
}

double fresh_reduce_work_s(const struct fresh_job *job)
{
    return (double)(job->reduces - job->reduces_finished) * job->reduce_task_s;
}

double fresh_consumption(const struct fresh_job *job, double now_s)
{
    double since_s = now_s - job->started_s;
    return since_s > 0 ? job->task_time_s / since_s : 0;
}

static bool less(double a, double b)
{
    return a < b && !rounding_equal(a, b);
}

/* --- the tally --- */

struct fresh_tally fresh_tally_begin(double now_s)
{
    return (struct fresh_tally){.now_s = now_s,
                                .first = SLOTS_NOBODY,
                                .candidates = {{.job = SLOTS_NOBODY}, {.job = SLOTS_NOBODY}}};
}

static void
add_candidate(struct fresh_candidate *best, size_t index, const struct fresh_job *job, double now_s)
{
    double consumption = fresh_consumption(job, now_s);
    if (best->job == SLOTS_NOBODY || less(consumption, best->consumption))
        *best = (struct fresh_candidate){index, consumption};
}

static void add_mapping(struct fresh_tally *tally, size_t index, const struct fresh_job *job)
{
    double work_s = fresh_map_work_s(job);
    tally->map_jobs++;
    tally->map_work_s += work_s;
    if (job->maps_finished + job->maps_running < job->maps)
        add_candidate(&tally->candidates[SLOTS_MAP], index, job, tally->now_s);
    if (tally->first != SLOTS_NOBODY && !less(work_s, tally->first_map_work_s))
        return;
    tally->first = index;
    tally->first_map_work_s = work_s;
    tally->first_reduce_work_s = fresh_reduce_work_s(job);
    tally->first_progress = (double)job->maps_finished / (double)job->maps;
    tally->first_running = job->maps_running;
}

void fresh_tally_add(struct fresh_tally *tally, size_t index, const struct fresh_job *job)
{
    if (job->phase == FRESH_MAP) {
        add_mapping(tally, index, job);
        return;
    }
    tally->reduce_work_s += fresh_reduce_work_s(job);
    if (job->phase == FRESH_PENDING)
        return;
    if (job->reduces_running > 0)
        tally->reduce_ends_per_s += (double)job->reduces_running / job->reduce_task_s;
    if (job->reduces_finished + job->reduces_running < job->reduces)
        add_candidate(&tally->candidates[SLOTS_REDUCE], index, job, tally->now_s);
}

/* --- expected slots --- */

/* Theorem 3.3.1: how many reduces end until job a, which gets ever more slots, has ended its maps.
 * The root is taken by the conjugate, so that it does not vanish when c is small. */
static double
released(double work_s, double running, double ratio, double ends_per_s, double concurrency)
{
    if (!(work_s > 0 && ends_per_s > 0))
        return 0;
    double gained_per_s = ratio * ends_per_s / (2 * concurrency);
    return 2 * work_s * ends_per_s /
           (running + sqrt(running * running + 4 * gained_per_s * work_s));
}

/* What the slots will have to do when job a has ended its maps. */
static void look_ahead(const struct fresh_terms *terms,
                       const struct fresh_slots *slots,
                       const struct fresh_tally *tally,
                       struct fresh_figures *figures)
{
    double total = (double)slots->total_slots;
    double jobs =
        (double)(terms->concurrency < tally->map_jobs ? terms->concurrency : tally->map_jobs);
    double maps_s =
        fmax(0, tally->map_work_s - jobs * tally->first_map_work_s) + slots->next_map_work_s;
    double reduces_s = tally->reduce_work_s + tally->first_reduce_work_s;
    figures->next_map_work_s = maps_s;
    figures->next_reduce_work_s = reduces_s;
    if (rounding_equal(maps_s + reduces_s, 0))
        return;
    double ratio = maps_s / (maps_s + reduces_s);
    double ends_per_s =
        isnan(slots->reduce_interval_s) ? tally->reduce_ends_per_s : 1 / slots->reduce_interval_s;
    bool maps_vanish = rounding_equal(ratio, 0);
    figures->expected_ratio = ratio;
    figures->reduce_slots_released = released(tally->first_map_work_s, (double)tally->first_running,
                                              figures->current_ratio, ends_per_s, jobs);
    figures->predicted_map_slots =
        (double)slots->map_slots + figures->current_ratio * figures->reduce_slots_released;
    if (!maps_vanish)
        figures->deviation = fabs(figures->predicted_map_slots / total - ratio) / ratio;
    figures->sudden_change = maps_vanish || less(terms->tau2, figures->deviation);
    if (figures->sudden_change)
        figures->expected_map_slots = ratio * total;
}

/* Alg. 3.3.3. */
static void expect_slots(const struct fresh_terms *terms,
                         const struct fresh_slots *slots,
                         const struct fresh_tally *tally,
                         struct fresh_figures *figures)
{
    double work_s = tally->map_work_s + tally->reduce_work_s;
    *figures = (struct fresh_figures){.current_ratio = (double)NAN,
                                      .first_to_end = SLOTS_NOBODY,
                                      .progress = (double)NAN,
                                      .next_map_work_s = (double)NAN,
                                      .next_reduce_work_s = (double)NAN,
                                      .expected_ratio = (double)NAN,
                                      .reduce_slots_released = (double)NAN,
                                      .predicted_map_slots = (double)NAN,
                                      .deviation = (double)NAN,
                                      .expected_map_slots = (double)NAN};
    if (rounding_equal(work_s, 0))
        return;
    figures->current_ratio = tally->map_work_s / work_s;
    figures->expected_map_slots = figures->current_ratio * (double)slots->total_slots;
    if (tally->first == SLOTS_NOBODY)
        return;
    figures->first_to_end = tally->first;
    figures->progress = tally->first_progress;
    if (!less(tally->first_progress, terms->tau1))
        look_ahead(terms, slots, tally, figures);
}

/* --- the decision --- */

/* Alg. 3.3.2 and 3.3.4. */
struct fresh_action fresh_decide(const struct fresh_terms *terms,
                                 const struct fresh_slots *slots,
                                 const struct fresh_tally *tally,
                                 struct fresh_figures *figures)
{
    expect_slots(terms, slots, tally, figures);
    bool maps = less((double)slots->map_slots, figures->expected_map_slots);
    enum slots_kind wanted = maps ? SLOTS_MAP : SLOTS_REDUCE;
    enum slots_kind other = maps ? SLOTS_REDUCE : SLOTS_MAP;
    if (tally->candidates[wanted].job != SLOTS_NOBODY)
        return (struct fresh_action){FRESH_EXPECTED_SLOTS, tally->candidates[wanted].job, wanted};
    if (tally->candidates[other].job != SLOTS_NOBODY)
        return (struct fresh_action){FRESH_OTHER_KIND, tally->candidates[other].job, other};
    return (struct fresh_action){FRESH_IDLE, SLOTS_NOBODY, wanted};
}
