#include "core/history/run_idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A time without stages. */
struct gap {
    double from_s;
    double to_s;
    double removed_s;
};

struct stage_span {
    double from_s;
    double to_s;
};

static int earlier_first(const void *left, const void *right)
{
    const struct stage_span *a = left;
    const struct stage_span *b = right;
    return (a->from_s > b->from_s) - (a->from_s < b->from_s);
}

/* Lists the stages that ran, by their start. Returns 0 if an instant is unknown. */
static size_t list_spans(const struct run *run, struct stage_span spans[])
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (stage->skipped)
            continue;
        spans[n] = (struct stage_span){stage->started_s, stage->started_s + stage->duration_s};
        if (!isfinite(spans[n++].to_s))
            return 0;
    }
    if (n > 0)
        qsort(spans, n, sizeof *spans, earlier_first);
    return n;
}

/* When the session could work: when it had an executor, if that was before the first stage. */
static double ready_at(const struct run *run, double first_stage_s)
{
    if (run->n_executor_lifetimes == 0 || !(run->executor_lifetimes[0].added_s < first_stage_s))
        return 0.0;
    return run->executor_lifetimes[0].added_s;
}

/* The long gaps in order of time: before the first of n >= 1 stages, between them, and behind the last. */
static size_t
list_gaps(const struct run *run, const struct stage_span spans[], size_t n, struct gap gaps[])
{
    size_t n_gaps = 0;
    double reached_s = ready_at(run, spans[0].from_s);
    for (size_t i = 0; i <= n; i++) {
        double next_s = i < n ? spans[i].from_s : run->duration_s;
        if (next_s - reached_s >= RUN_AWAY_LEAST_S)
            gaps[n_gaps++] = (struct gap){reached_s, next_s, 0.0};
        reached_s = i < n ? fmax(reached_s, spans[i].to_s) : reached_s;
    }
    return n_gaps;
}

static void share_away(const struct run *run, struct gap gaps[], size_t n)
{
    double long_s = 0.0;
    for (size_t i = 0; i < n; i++)
        long_s += gaps[i].to_s - gaps[i].from_s;
    double share = long_s > 0.0 ? fmin(1.0, run->away_s / long_s) : 0.0;
    for (size_t i = 0; i < n; i++)
        gaps[i].removed_s = share * (gaps[i].to_s - gaps[i].from_s);
}

/* The instant without the time away before it; NAN stays. */
static double move(double at_s, const struct gap gaps[], size_t n)
{
    double removed_s = 0.0;
    for (size_t i = 0; i < n && gaps[i].from_s < at_s; i++)
        removed_s += gaps[i].removed_s *
                     fmin(1.0, (at_s - gaps[i].from_s) / (gaps[i].to_s - gaps[i].from_s));
    return at_s - removed_s;
}

static void move_all(struct run *run, const struct gap gaps[], size_t n)
{
    double core_s = 0.0;
    for (size_t i = 0; i < run->n_stages; i++)
        run->stages[i].started_s = move(run->stages[i].started_s, gaps, n);
    for (size_t i = 0; i < run->n_executor_lifetimes; i++) {
        struct executor_lifetime *lifetime = &run->executor_lifetimes[i];
        double before_s = fmin(lifetime->removed_s, run->duration_s) - lifetime->added_s;
        double end_s = fmin(lifetime->removed_s, run->duration_s);
        double now_s = move(end_s, gaps, n) - move(lifetime->added_s, gaps, n);
        core_s += (double)lifetime->cores * (before_s - now_s);
        lifetime->added_s = move(lifetime->added_s, gaps, n);
        lifetime->removed_s = move(lifetime->removed_s, gaps, n);
    }
    if (core_s > 0.0 && core_s < run->core_s)
        run->core_s -= core_s;
}

static enum pv_code copy_lists(struct run *run, struct arena *arena, struct pv_error *err)
{
    struct run_stage *stages = arena_array(arena, run->n_stages, sizeof *stages);
    struct executor_lifetime *lifetimes =
        arena_array(arena, run->n_executor_lifetimes, sizeof *lifetimes);
    if (stages == NULL || lifetimes == NULL)
        return pv_no_memory(err);
    if (run->n_stages > 0)
        memcpy(stages, run->stages, run->n_stages * sizeof *stages);
    if (run->n_executor_lifetimes > 0)
        memcpy(lifetimes, run->executor_lifetimes, run->n_executor_lifetimes * sizeof *lifetimes);
    run->stages = stages;
    run->executor_lifetimes = lifetimes;
    return PV_OK;
}

enum pv_code run_leave_out_idle(struct run *run, struct arena *arena, struct pv_error *err)
{
    if (!(run->away_s > 0.0) || isnan(run->duration_s))
        return PV_OK;
    struct stage_span *spans = arena_array(arena, run->n_stages, sizeof *spans);
    struct gap *gaps = arena_array(arena, run->n_stages + 2, sizeof *gaps);
    if (spans == NULL || gaps == NULL)
        return pv_no_memory(err);
    PV_TRY(copy_lists(run, arena, err));
    size_t n = list_spans(run, spans);
    if (n > 0) {
        size_t n_gaps = list_gaps(run, spans, n, gaps);
        share_away(run, gaps, n_gaps);
        run->initialization_s = move(run->initialization_s, gaps, n_gaps);
        move_all(run, gaps, n_gaps);
    }
    run->duration_s = fmax(0.0, run->duration_s - run->away_s);
    run->idle_s -= run->away_s;
    run->away_s = 0.0;
    return PV_OK;
}
