#include "slots_reference.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/slots/slots_split.h"
#include "slots_reference_internal.h"

struct reference ref;

static bool is(enum slots_policy_index policy)
{
    return ref.terms->policy == slots_policies[policy];
}

static bool is_fair(void)
{
    return is(SLOTS_FAIR) || is(SLOTS_FRESH_STATIC) || is(SLOTS_DRF);
}

size_t reference_count(size_t job, enum slots_kind kind, bool pending, bool holding, bool ended)
{
    size_t n = 0;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        bool holds = task->phase == HOLDS_SLOT || task->phase == WORKS;
        n += task->job == job && task->kind == kind &&
             ((pending && task->phase == PENDING) || (holding && holds) ||
              (ended && task->phase == ENDED));
    }
    return n;
}

static size_t all_of(size_t job, enum slots_kind kind)
{
    return reference_count(job, kind, true, true, true);
}

static bool maps_done(size_t job)
{
    return reference_count(job, SLOTS_MAP, true, true, false) == 0;
}

static double map_end(size_t job)
{
    double end_s = ref.jobs[job].arrival_s;
    for (size_t i = 0; i < ref.n_tasks; i++)
        if (ref.tasks[i].job == job && ref.tasks[i].kind == SLOTS_MAP)
            end_s = fmax(end_s, ref.tasks[i].begin_s + ref.tasks[i].duration_s);
    return end_s;
}

/* Which of two sizes is less is a matter of their last bit. */
static double size_of(size_t job)
{
    long double size_s = 0;
    for (size_t i = 0; i < ref.n_tasks; i++)
        size_s += ref.tasks[i].job == job ? ref.tasks[i].duration_s : 0;
    return (double)size_s;
}

static double predicted_size(size_t job)
{
    double given = ref.jobs[job].predicted_size_s;
    return isnan(given) ? size_of(job) : given;
}

/* --- service --- */

static double service(size_t job, double *working)
{
    double service_s = 0;
    *working = 0;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        if (task->job != job)
            continue;
        if (task->phase == ENDED)
            service_s += task->duration_s;
        if (task->phase == WORKS) {
            service_s += ref.now_s - task->begin_s;
            *working += 1;
        }
    }
    return service_s;
}

static double limit(size_t job)
{
    double sum = 0;
    for (size_t q = 0; q <= ref.queue[job]; q++)
        sum += q < ref.terms->n_limits ? ref.terms->limits_s[q] : HUGE_VAL;
    return sum;
}

static bool crosses_here(size_t job)
{
    double working;
    double service_s = service(job, &working);
    double limit_s = limit(job);
    if (isinf(limit_s) || !ref.arrived[job] || ref.end_told[job])
        return false;
    return service_s >= limit_s - 1e-9 * fmax(1, limit_s) ||
           (working > 0 && (limit_s - service_s) / working <= 1e-9 * fmax(1, ref.now_s));
}

static double next_crossing(size_t job)
{
    double working;
    double service_s = service(job, &working);
    if (isinf(limit(job)) || !ref.arrived[job] || ref.end_told[job] || working == 0)
        return HUGE_VAL;
    return ref.now_s + (limit(job) - service_s) / working;
}

static void cross_all(void)
{
    for (size_t q = 0; q < ref.terms->n_limits; q++)
        for (size_t place = 0; place < ref.places; place++)
            for (size_t j = 0; j < ref.n; j++)
                if (ref.arrived[j] && ref.queue[j] == q && ref.place[j] == place &&
                    crosses_here(j)) {
                    ref.queue[j]++;
                    ref.place[j] = ref.places++;
                }
}

/* --- what policies hear of --- */

static void fill_phases(void)
{
    size_t k = ref.terms->concurrency;
    size_t r = 0;
    size_t m = 0;
    for (size_t j = 0; j < ref.n; j++) {
        r += ref.in_r[j];
        m += ref.in_m[j];
    }
    for (; r < k && ref.n_p > 0; r++) {
        ref.in_r[ref.p[0]] = true;
        ref.n_p--;
        for (size_t i = 0; i < ref.n_p; i++)
            ref.p[i] = ref.p[i + 1];
    }
    for (; m < k && ref.n_m_waits > 0; m++) {
        ref.in_m[ref.m_waits[0]] = true;
        ref.entered_m_s[ref.m_waits[0]] = ref.now_s;
        ref.n_m_waits--;
        for (size_t i = 0; i < ref.n_m_waits; i++)
            ref.m_waits[i] = ref.m_waits[i + 1];
    }
}

static void tell_of_maps(size_t job)
{
    ref.maps_told[job] = true;
    ref.times[job].map_end_s = ref.now_s;
    ref.in_m[job] = false;
    if (all_of(job, SLOTS_REDUCE) > 0)
        ref.p[ref.n_p++] = job;
}

static void tell_of_end(size_t job)
{
    ref.end_told[job] = true;
    ref.times[job].finish_s = ref.now_s;
    ref.in_r[job] = false;
    ref.ended_sizes[ref.n_ended++] = size_of(job);
}

static void arrive(size_t job)
{
    size_t queue = 0;
    size_t last = ref.n_ended;
    ref.arrived[job] = true;
    ref.times[job].start_s = (double)NAN;
    ref.times[job].map_end_s = ref.now_s;
    if (all_of(job, SLOTS_MAP) == 0) {
        ref.maps_told[job] = true;
        ref.p[ref.n_p++] = job;
    } else {
        ref.m_waits[ref.n_m_waits++] = job;
    }
    if (is(SLOTS_SITA))
        while (queue < ref.terms->n_limits &&
               ref.terms->limits_s[queue] < predicted_size(job) - 1e-8)
            queue++;
    if (is(SLOTS_COMP))
        for (size_t back = 1; back < ref.terms->queues && back <= last; back++)
            queue += ref.ended_sizes[last - back] < predicted_size(job);
    ref.queue[job] = queue;
    ref.place[job] = ref.places++;
}

/* --- whom a slot goes to --- */

static bool is_candidate(size_t job, enum slots_kind kind)
{
    if (!ref.arrived[job] || reference_count(job, kind, true, false, false) == 0)
        return false;
    if (is_fair() && ref.terms->concurrency > 0)
        return kind == SLOTS_MAP ? ref.in_m[job] : ref.in_r[job];
    if (kind == SLOTS_MAP)
        return true;
    double maps = (double)all_of(job, SLOTS_MAP);
    return (double)reference_count(job, SLOTS_MAP, false, false, true) >=
           ceil(ref.slow_start * maps - 1e-9);
}

static double tenant_held(size_t tenant, enum slots_kind kind)
{
    double held = 0;
    for (size_t j = 0; j < ref.n; j++)
        if (ref.jobs[j].queue == tenant)
            held += (double)reference_count(j, kind, false, true, false);
    return held;
}

/* The lesser goes first; three figures, the most important one first. */
static void standing(size_t job, enum slots_kind kind, double figures[3])
{
    figures[0] = figures[1] = 0;
    figures[2] = (double)ref.rank[job];
    if (is_fair())
        figures[0] = (double)reference_count(job, kind, false, true, false);
    if (is(SLOTS_CAPACITY)) {
        size_t tenant = ref.jobs[job].queue;
        figures[0] = tenant_held(tenant, kind) / ref.terms->tenants[tenant].share;
        figures[1] = (double)tenant;
    }
    if (is(SLOTS_FBQ) || is(SLOTS_TAGS) || is(SLOTS_SITA) || is(SLOTS_COMP)) {
        figures[0] = (double)ref.queue[job];
        figures[1] = (double)ref.place[job];
    }
}

static bool may_have(size_t job, const struct slot *slot)
{
    if (!is_candidate(job, slot->kind))
        return false;
    if (is(SLOTS_TAGS) || is(SLOTS_SITA))
        return ref.queue[job] == slot->partition;
    if (!is(SLOTS_CAPACITY))
        return true;
    double most = floor(ref.terms->tenants[ref.jobs[job].queue].max_share *
                            (double)ref.n_of_kind[slot->kind] +
                        1e-9);
    return tenant_held(ref.jobs[job].queue, slot->kind) < fmax(1, most);
}

static size_t choose(const struct slot *slot)
{
    size_t best = SLOTS_NOBODY;
    double least[3] = {0};
    for (size_t j = 0; j < ref.n; j++) {
        double figures[3];
        if (!may_have(j, slot))
            continue;
        standing(j, slot->kind, figures);
        bool less = fabs(figures[0] - least[0]) > 1e-9 ? figures[0] < least[0]
                    : figures[1] != least[1]           ? figures[1] < least[1]
                                                       : figures[2] < least[2];
        if (best != SLOTS_NOBODY && !less)
            continue;
        best = j;
        for (size_t f = 0; f < 3; f++)
            least[f] = figures[f];
    }
    return best;
}

static void give(size_t job, size_t slot)
{
    size_t first = 0;
    while (ref.tasks[first].job != job || ref.tasks[first].kind != ref.slots[slot].kind ||
           ref.tasks[first].phase != PENDING)
        first++;
    struct task *task = &ref.tasks[first];
    cr_assert(!ref.slots[slot].taken);
    ref.slots[slot].taken = true;
    task->slot = slot;
    task->phase = HOLDS_SLOT;
    task->given_s = ref.now_s;
    if (task->kind == SLOTS_MAP)
        task->begin_s = ref.now_s;
    else if (maps_done(job))
        task->begin_s = fmax(ref.now_s + ref.jobs[job].shuffle_s, map_end(job));
    if (task->begin_s <= ref.now_s)
        task->phase = WORKS;
    if (isnan(ref.times[job].start_s))
        ref.times[job].start_s = ref.now_s;
}

/* --- instants --- */

static double find_next(void)
{
    double next_s = HUGE_VAL;
    double crossing_s = HUGE_VAL;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        if (task->phase == WORKS)
            next_s = fmin(next_s, task->begin_s + task->duration_s);
        if (task->phase == HOLDS_SLOT && !isnan(task->begin_s))
            next_s = fmin(next_s, task->begin_s);
    }
    for (size_t j = 0; j < ref.n; j++)
        if (!ref.arrived[j])
            next_s = fmin(next_s, ref.jobs[j].arrival_s);
    if (is(SLOTS_FBQ) || is(SLOTS_TAGS))
        for (size_t j = 0; j < ref.n; j++)
            crossing_s = fmin(crossing_s, next_crossing(j));
    return crossing_s < next_s - 1e-9 * fmax(1, next_s) || isinf(next_s) ? crossing_s : next_s;
}

static void end_tasks(void)
{
    for (size_t i = 0; i < ref.n_tasks; i++) {
        struct task *task = &ref.tasks[i];
        if (task->phase != WORKS || task->begin_s + task->duration_s != ref.now_s)
            continue;
        task->phase = ENDED;
        cr_assert(ref.slots[task->slot].taken);
        ref.slots[task->slot].taken = false;
        cr_assert(task->kind == SLOTS_MAP ||
                  (maps_done(task->job) && ref.now_s >= map_end(task->job)));
    }
    for (size_t i = 0; i < ref.n_tasks; i++) {
        struct task *task = &ref.tasks[i];
        if (task->phase != HOLDS_SLOT)
            continue;
        if (isnan(task->begin_s) && maps_done(task->job))
            task->begin_s = fmax(task->given_s + ref.jobs[task->job].shuffle_s, map_end(task->job));
        if (task->begin_s <= ref.now_s)
            task->phase = WORKS;
    }
}

static void happen(void)
{
    if (is(SLOTS_OMO))
        reference_close_windows();
    end_tasks();
    for (size_t i = 0; i < ref.n; i++)
        if (ref.arrived[ref.order[i]] && !ref.maps_told[ref.order[i]] && maps_done(ref.order[i]))
            tell_of_maps(ref.order[i]);
    for (size_t i = 0; i < ref.n; i++) {
        size_t j = ref.order[i];
        if (ref.arrived[j] && !ref.end_told[j] && maps_done(j) &&
            reference_count(j, SLOTS_REDUCE, true, true, false) == 0)
            tell_of_end(j);
    }
    for (size_t i = 0; i < ref.n; i++)
        if (!ref.arrived[ref.order[i]] && ref.jobs[ref.order[i]].arrival_s <= ref.now_s)
            arrive(ref.order[i]);
    fill_phases();
    if (is(SLOTS_FBQ) || is(SLOTS_TAGS))
        cross_all();
    for (size_t s = 0; s < ref.n_slots; s++) {
        struct slot *slot = &ref.slots[s];
        if (slot->taken)
            continue;
        size_t job = is(SLOTS_FRESH) ? reference_choose_fresh(&slot->kind)
                     : is(SLOTS_OMO) ? reference_choose_omo(&slot->kind)
                                     : choose(slot);
        if (job != SLOTS_NOBODY)
            give(job, s);
    }
}

/* --- before --- */

static void make_slots(const struct slots_cluster *cluster)
{
    const struct slots_terms *terms = ref.terms;
    bool divided = is(SLOTS_TAGS) || is(SLOTS_SITA);
    for (enum slots_kind kind = SLOTS_MAP; kind <= SLOTS_REDUCE; kind++) {
        size_t left = cluster->slots[kind];
        ref.n_of_kind[kind] = left;
        for (size_t p = 0; left > 0 && p <= (divided ? terms->n_limits : 0); p++) {
            size_t part = left;
            if (divided && p < terms->n_limits)
                part = (size_t)fmax(
                    1, floor(terms->partitions[p] * (double)cluster->slots[kind] + 1e-9));
            left -= part;
            while (part-- > 0)
                ref.slots[ref.n_slots++] = (struct slot){kind, p, false};
        }
    }
}

static void make_tasks(size_t job)
{
    for (enum slots_kind kind = SLOTS_MAP; kind <= SLOTS_REDUCE; kind++) {
        const struct slots_task_list *list = &ref.jobs[job].task_lists[kind];
        for (size_t i = 0; i < list->n; i++)
            for (size_t k = 0; k < list->tasks[i].count; k++)
                ref.tasks[ref.n_tasks++] = (struct task){.job = job,
                                                         .kind = kind,
                                                         .duration_s = list->tasks[i].duration_s,
                                                         .begin_s = (double)NAN};
    }
}

void slots_reference(const struct slots_cluster *cluster,
                     const struct slots_job jobs[],
                     size_t n,
                     const struct slots_terms *terms,
                     struct slots_job_times times[])
{
    ref = (struct reference){
        .jobs = jobs, .terms = terms, .slow_start = cluster->slow_start, .n = n, .times = times};
    struct slots_cluster split = *cluster;
    if (is(SLOTS_FRESH_STATIC)) {
        struct arena arena;
        arena_init(&arena, 0);
        cr_assert_eq(slots_split(cluster, jobs, n, terms->concurrency, &arena, split.slots, NULL),
                     PV_OK);
        arena_fini(&arena);
    }
    make_slots(&split);
    for (size_t j = 0; j < n; j++) {
        make_tasks(j);
        for (size_t other = 0; other < n; other++)
            ref.rank[j] += jobs[other].arrival_s < jobs[j].arrival_s ||
                           (jobs[other].arrival_s == jobs[j].arrival_s && other < j);
        ref.order[ref.rank[j]] = j;
    }
    for (double next_s = find_next(); !isinf(next_s); next_s = find_next()) {
        ref.now_s = next_s;
        happen();
    }
    for (size_t j = 0; j < n; j++)
        cr_assert(ref.end_told[j]);
}
