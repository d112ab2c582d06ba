/*
 * In a phase all jobs are equally fast, so that the work which each of them has done since the phase
 * began to be used grows alike: a job that enters when that stands at v ends when it stands at v + w.
 * The phase is a heap of these ends, and a step of the model costs O(log k), not O(k).
 */
#include "core/scheduling/slots/fresh_static.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/order.h"

/* A later split has to be shorter by this part to replace an earlier one. */
static const double SHORTER = 1 - 1e-9;
/* What is longer than the shortest by more has no part in that, whatever was rounded on the way. */
static const double TOO_LONG = 1 + 1e-6;

enum phase_of { MAPS, REDUCES, PHASES };

struct phase {
    struct heap ends; /* work done by then; which entry of the phase it is, from 0 */
    double work_s;    /* done by each job that has been there from the beginning */
    double slots;
};

struct model {
    const struct fresh_batch *batch;
    struct phase phases[PHASES];
    double work_s[PHASES]; /* of all jobs */
    /* Jobs that have entered the map phase are the first ones of the batch. Those with reduces that
     * have left it are in `mapped`, and the first of these have entered the reduce phase. */
    size_t n_mapping;
    size_t *mapped;
    size_t n_mapped;
    size_t n_reducing;
    size_t *done; /* entries of a phase, at this instant */
    double now_s;
    struct fresh_job_times *times; /* NULL: they do not matter */
};

/* --- a phase --- */

static double need_of(const struct phase *phase)
{
    if (phase->ends.n == 0)
        return HUGE_VAL;
    double left_s = heap_top(&phase->ends).key - phase->work_s;
    return fmax(0, left_s * (double)phase->ends.n / phase->slots);
}

/* Time goes on by dt_s; entries that need no more than `enough_s` are done, and listed in order. */
static size_t go_on(struct phase *phase, double dt_s, double enough_s, size_t done[])
{
    size_t n_done = 0;
    if (phase->ends.n == 0)
        return 0;
    double speed = phase->slots / (double)phase->ends.n;
    bool sorted = true;
    while (phase->ends.n > 0 && (heap_top(&phase->ends).key - phase->work_s) / speed <= enough_s) {
        done[n_done++] = heap_pop(&phase->ends).value;
        sorted = sorted && (n_done < 2 || done[n_done - 2] < done[n_done - 1]);
    }
    if (!sorted)
        qsort(done, n_done, sizeof *done, order_by_size);
    phase->work_s = phase->ends.n > 0 ? phase->work_s + dt_s * speed : 0;
    return n_done;
}

/* --- from list to list --- */

static void end_reduces(struct model *model, size_t n_done)
{
    for (size_t i = 0; model->times != NULL && i < n_done; i++)
        model->times[model->mapped[model->done[i]]].finish_s = model->now_s;
}

static void end_maps(struct model *model, size_t n_done)
{
    for (size_t i = 0; i < n_done; i++) {
        size_t job = model->done[i];
        if (model->batch->jobs[job].reduce_s > 0)
            model->mapped[model->n_mapped++] = job;
        if (model->times != NULL)
            model->times[job].map_end_s = model->times[job].finish_s = model->now_s;
    }
}

static void fill_phases(struct model *model)
{
    const struct fresh_batch *batch = model->batch;
    struct phase *maps = &model->phases[MAPS];
    struct phase *reduces = &model->phases[REDUCES];
    for (; reduces->ends.n < batch->concurrency && model->n_reducing < model->n_mapped;
         model->n_reducing++) {
        size_t job = model->mapped[model->n_reducing];
        heap_push(&reduces->ends, reduces->work_s + batch->jobs[job].reduce_s, model->n_reducing);
        if (model->times != NULL)
            model->times[job].reduce_start_s = model->now_s;
    }
    for (; maps->ends.n < batch->concurrency && model->n_mapping < batch->n; model->n_mapping++) {
        size_t job = model->n_mapping;
        heap_push(&maps->ends, maps->work_s + batch->jobs[job].map_s, job);
        if (model->times != NULL)
            model->times[job] =
                (struct fresh_job_times){model->now_s, (double)NAN, (double)NAN, (double)NAN};
    }
}

/* --- a split --- */

static enum pv_code make_model(struct model *model,
                               const struct fresh_batch *batch,
                               struct arena *scratch,
                               struct pv_error *err)
{
    size_t most = batch->concurrency < batch->n ? batch->concurrency : batch->n;
    *model = (struct model){.batch = batch,
                            .mapped = arena_array(scratch, batch->n, sizeof *model->mapped),
                            .done = arena_array(scratch, most, sizeof *model->done)};
    if (model->mapped == NULL || model->done == NULL ||
        !heap_init(&model->phases[MAPS].ends, scratch, most) ||
        !heap_init(&model->phases[REDUCES].ends, scratch, most))
        return pv_no_memory(err);
    for (size_t i = 0; i < batch->n; i++) {
        model->work_s[MAPS] += batch->jobs[i].map_s;
        model->work_s[REDUCES] += batch->jobs[i].reduce_s;
    }
    return PV_OK;
}

/* The makespan; HUGE_VAL, and then the times do not matter, as soon as it is known to be above
 * limit_s: the reduces that are left do not end sooner than on all of their slots. times may be
 * NULL. */
static double
carry_out(struct model *model, size_t map_slots, double limit_s, struct fresh_job_times times[])
{
    struct phase *maps = &model->phases[MAPS];
    struct phase *reduces = &model->phases[REDUCES];
    maps->slots = (double)map_slots;
    reduces->slots = (double)(model->batch->slots - map_slots);
    maps->work_s = reduces->work_s = 0;
    maps->ends.n = reduces->ends.n = 0;
    model->n_mapping = model->n_mapped = model->n_reducing = 0;
    model->now_s = 0;
    model->times = times;
    double left_s = model->work_s[REDUCES];
    fill_phases(model);
    while (maps->ends.n > 0 || reduces->ends.n > 0) {
        double dt_s = fmin(need_of(maps), need_of(reduces));
        model->now_s += dt_s;
        left_s -= reduces->ends.n > 0 ? dt_s * reduces->slots : 0;
        if (model->now_s + left_s / reduces->slots > limit_s)
            return HUGE_VAL;
        double enough_s = dt_s + 1e-9 * fmax(1, model->now_s);
        end_reduces(model, go_on(reduces, dt_s, enough_s, model->done));
        end_maps(model, go_on(maps, dt_s, enough_s, model->done));
        fill_phases(model);
    }
    return model->now_s;
}

enum pv_code fresh_static_times(const struct fresh_batch *batch,
                                size_t map_slots,
                                struct arena *scratch,
                                struct fresh_job_times times[],
                                struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct model model;
    enum pv_code code = make_model(&model, batch, scratch, err);
    if (code == PV_OK)
        (void)carry_out(&model, map_slots, HUGE_VAL, times);
    arena_rewind(scratch, mark);
    return code;
}

/* --- all splits --- */

size_t fresh_static_splits(const struct fresh_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->jobs[i].reduce_s > 0)
            return batch->slots - 1;
    return batch->slots;
}

enum pv_code fresh_static_makespans(const struct fresh_batch *batch,
                                    struct arena *scratch,
                                    double makespan_s[],
                                    struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct model model;
    enum pv_code code = make_model(&model, batch, scratch, err);
    size_t n = code == PV_OK ? fresh_static_splits(batch) : 0;
    for (size_t i = 0; i < n; i++)
        makespan_s[i] = carry_out(&model, i + 1, HUGE_VAL, NULL);
    arena_rewind(scratch, mark);
    return code;
}

size_t fresh_static_least(const double makespan_s[], size_t n, size_t step)
{
    size_t best = 0;
    for (size_t slots = step; slots <= n; slots += step)
        if (best == 0 || makespan_s[slots - 1] < makespan_s[best - 1] * SHORTER)
            best = slots;
    return best;
}

/* --- the best split, without trying all --- */

static size_t nearest_split(double map_slots, size_t splits)
{
    return map_slots < 1 ? 1 : map_slots < (double)splits ? (size_t)map_slots : splits;
}

/* The shorter of two makespans: with slots in proportion to the work, which is best for many jobs,
 * and to its square roots, which is best for one. */
static double guess(struct model *model, size_t splits)
{
    double slots = (double)model->batch->slots;
    double map_s = model->work_s[MAPS];
    double reduce_s = model->work_s[REDUCES];
    size_t even = nearest_split(slots * map_s / (map_s + reduce_s), splits);
    size_t root = nearest_split(slots * sqrt(map_s) / (sqrt(map_s) + sqrt(reduce_s)), splits);
    double even_s = carry_out(model, even, HUGE_VAL, NULL);
    return even == root ? even_s : fmin(even_s, carry_out(model, root, even_s, NULL));
}

/* A phase takes at least its work over its slots. */
static size_t find_best(struct model *model)
{
    size_t splits = fresh_static_splits(model->batch);
    double shortest_s = guess(model, splits);
    double best_s = HUGE_VAL;
    size_t best = 0;
    for (size_t slots = 1; slots <= splits; slots++) {
        double limit_s = shortest_s * TOO_LONG;
        double reduce_slots = (double)(model->batch->slots - slots);
        if (model->work_s[MAPS] > limit_s * (double)slots ||
            model->work_s[REDUCES] > limit_s * reduce_slots)
            continue;
        double makespan_s = carry_out(model, slots, limit_s, NULL);
        shortest_s = fmin(shortest_s, makespan_s);
        if (best == 0 || makespan_s < best_s * SHORTER) {
            best = slots;
            best_s = makespan_s;
        }
    }
    return best;
}

enum pv_code fresh_static_best(const struct fresh_batch *batch,
                               struct arena *scratch,
                               size_t *map_slots,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct model model;
    enum pv_code code = make_model(&model, batch, scratch, err);
    if (code == PV_OK)
        *map_slots = find_best(&model);
    arena_rewind(scratch, mark);
    return code;
}
