#include "core/advice/driver_order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Instants of a log are whole milliseconds: this much later is at once. */
static const double at_once_s = 0.0015;

/* Both lists ascend by id, and the job's is part of the run's. False: an instant is unknown. */
static bool
read_instants(const struct run *run, const struct edf_job *job, struct stage_instants *record)
{
    size_t at = 0;
    for (size_t s = 0; s < job->n_stages; s++) {
        while (at < run->n_stages && run->stages[at].id != job->stages[s].id)
            at++;
        if (at == run->n_stages)
            return false;
        record->start_s[s] = run->stages[at].started_s;
        record->end_s[s] = run->stages[at].started_s + run->stages[at].duration_s;
        if (!isfinite(record->end_s[s]))
            return false;
    }
    record->n = job->n_stages;
    return true;
}

static bool parents_come_first(const struct edf_job *job)
{
    for (size_t s = 0; s < job->n_stages; s++) {
        for (size_t p = 0; p < job->stages[s].n_parents; p++)
            if (job->stages[s].parents[p] >= s)
                return false;
    }
    return true;
}

/* When the last parent completed; -INFINITY without parents. */
static double parents_done(const struct edf_stage *stage, const struct stage_instants *record)
{
    double done_s = (double)-INFINITY;
    for (size_t p = 0; p < stage->n_parents; p++)
        done_s = fmax(done_s, record->end_s[stage->parents[p]]);
    return done_s;
}

/* Did stage a complete between the parents of s and the submission of s? */
static bool
was_awaited(const struct stage_instants *record, size_t a, size_t s, double parents_done_s)
{
    return record->end_s[a] <= record->start_s[s] + at_once_s && record->end_s[a] > parents_done_s;
}

/* The stages s waited for in addition to its parents, into `found`; returns how many. */
static size_t find_awaited(const struct edf_job *job,
                           const struct stage_instants *record,
                           size_t s,
                           size_t found[])
{
    double done_s = parents_done(&job->stages[s], record);
    double last_start_s = (double)-INFINITY;
    if (record->start_s[s] <= done_s + at_once_s)
        return 0; /* its parents explain when it began */
    for (size_t a = 0; a < s; a++)
        if (was_awaited(record, a, s, done_s))
            last_start_s = fmax(last_start_s, record->start_s[a]);
    size_t n = 0;
    for (size_t a = 0; a < s; a++)
        if (was_awaited(record, a, s, done_s) && record->end_s[a] >= last_start_s)
            found[n++] = a;
    return n;
}

struct awaited {
    double end_s;
    size_t stage;
};

static int later_first(const void *left, const void *right)
{
    const struct awaited *a = left;
    const struct awaited *b = right;
    if (a->end_s != b->end_s)
        return a->end_s > b->end_s ? -1 : 1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* Those that completed last, where there are more than AWAITED_MOST; returns how many are left. */
static size_t
keep_last(const struct stage_instants *record, size_t found[], size_t n, struct awaited room[])
{
    enum { AWAITED_MOST = 64 };
    if (n <= AWAITED_MOST)
        return n;
    for (size_t i = 0; i < n; i++)
        room[i] = (struct awaited){record->end_s[found[i]], found[i]};
    qsort(room, n, sizeof *room, later_first);
    for (size_t i = 0; i < AWAITED_MOST; i++)
        found[i] = room[i].stage;
    return AWAITED_MOST;
}

static enum pv_code add_parents(struct edf_stage *stage,
                                const size_t found[],
                                size_t n,
                                struct arena *arena,
                                struct pv_error *err)
{
    size_t *parents = arena_array(arena, stage->n_parents + n, sizeof *parents);
    if (parents == NULL)
        return pv_no_memory(err);
    if (stage->n_parents > 0)
        memcpy(parents, stage->parents, stage->n_parents * sizeof *parents);
    /* None is there already: parents completed before all that are found. */
    memcpy(parents + stage->n_parents, found, n * sizeof *parents);
    stage->parents = parents;
    stage->n_parents += n;
    return PV_OK;
}

enum pv_code stage_instants_read(const struct run *run,
                                 const struct edf_job *job,
                                 struct arena *arena,
                                 struct stage_instants *instants,
                                 struct pv_error *err)
{
    *instants = (struct stage_instants){
        .start_s = arena_array(arena, job->n_stages, sizeof *instants->start_s),
        .end_s = arena_array(arena, job->n_stages, sizeof *instants->end_s)};
    if (instants->start_s == NULL || instants->end_s == NULL)
        return pv_no_memory(err);
    if (!read_instants(run, job, instants))
        instants->n = 0;
    return PV_OK;
}

enum pv_code driver_order_add(const struct run *run,
                              struct arena *arena,
                              struct edf_job *job,
                              struct pv_error *err)
{
    struct stage_instants record;
    PV_TRY(stage_instants_read(run, job, arena, &record, err));
    size_t *found = arena_array(arena, job->n_stages, sizeof *found);
    struct edf_stage *stages = arena_array(arena, job->n_stages, sizeof *stages);
    struct awaited *room = arena_array(arena, job->n_stages, sizeof *room);
    if (found == NULL || stages == NULL || room == NULL)
        return pv_no_memory(err);
    if (record.n == 0 || !parents_come_first(job))
        return PV_OK;
    memcpy(stages, job->stages, job->n_stages * sizeof *stages);
    for (size_t s = 0; s < job->n_stages; s++) {
        size_t n = find_awaited(job, &record, s, found);
        n = keep_last(&record, found, n, room);
        enum pv_code code = n == 0 ? PV_OK : add_parents(&stages[s], found, n, arena, err);
        if (code != PV_OK)
            return code;
    }
    job->stages = stages;
    return PV_OK;
}

/* --- when no stage was active --- */

struct submission {
    double at_s;
    size_t stage;
};

static int earlier_first(const void *left, const void *right)
{
    const struct submission *a = left;
    const struct submission *b = right;
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* Stages that were submitted together after a time without any all waited for its end. */
static double
find_gaps(const struct submission order[], const struct stage_instants *record, double delays_s[])
{
    double sum_s = 0.0;
    double reached_s = record->end_s[order[0].stage];
    double gap_s = 0.0, gap_end_s = (double)-INFINITY;
    for (size_t i = 1; i < record->n; i++) {
        if (order[i].at_s > reached_s + at_once_s) {
            gap_s = order[i].at_s - reached_s;
            gap_end_s = order[i].at_s;
            sum_s += gap_s;
        }
        if (order[i].at_s <= gap_end_s + at_once_s)
            delays_s[order[i].stage] = gap_s;
        reached_s = fmax(reached_s, record->end_s[order[i].stage]);
    }
    return sum_s;
}

enum pv_code driver_gaps_find(const struct run *run,
                              const struct edf_job *job,
                              struct arena *scratch,
                              double *initialization_s,
                              double *between_s,
                              double delays_s[],
                              struct pv_error *err)
{
    struct stage_instants record;
    struct submission *order = arena_array(scratch, job->n_stages, sizeof *order);
    if (order == NULL)
        return pv_no_memory(err);
    PV_TRY(stage_instants_read(run, job, scratch, &record, err));
    *between_s = 0.0;
    *initialization_s = isfinite(run->initialization_s) ? run->initialization_s : 0.0;
    if (record.n == 0)
        return PV_OK;
    for (size_t s = 0; s < job->n_stages; s++)
        order[s] = (struct submission){record.start_s[s], s};
    qsort(order, job->n_stages, sizeof *order, earlier_first);
    *initialization_s = fmax(0.0, order[0].at_s);
    *between_s = find_gaps(order, &record, delays_s);
    return PV_OK;
}
