#include "core/scheduling/slots/fairness_series.h"

#include "core/scheduling/comparison/fairness.h"
#include "core/sim/occupancy.h"

struct fairness_job {
    double arrival_s;
    double held; /* slots, since since_s */
    double since_s;
    double held_s; /* time that they were held, up to since_s */
    bool ended;
};

bool fairness_series_begin(struct fairness_series *series,
                           size_t n_jobs,
                           double start_s,
                           struct arena *arena)
{
    *series =
        (struct fairness_series){.points = {.start_s = start_s, .step_s = OCCUPANCY_FIRST_WIDTH_S},
                                 .jobs = arena_array(arena, n_jobs, sizeof *series->jobs),
                                 .active = arena_array(arena, n_jobs, sizeof *series->active)};
    return series->jobs != NULL && series->active != NULL;
}

static double sample(const struct fairness_series *series, double at_s)
{
    struct fairness fairness = {.n = 0};
    for (size_t i = 0; i < series->n_active; i++) {
        const struct fairness_job *job = &series->jobs[series->active[i]];
        if (job->ended)
            continue;
        double held_s = job->held_s + job->held * (at_s - job->since_s);
        fairness_add(&fairness, at_s > job->arrival_s ? held_s / (at_s - job->arrival_s) : 0);
    }
    return fairness_index(&fairness);
}

static void drop_every_second(struct fairness_points *points)
{
    points->n = FAIRNESS_SAMPLES_MAX / 2;
    for (size_t i = 1; i < points->n; i++)
        points->values[i] = points->values[2 * i];
    points->step_s *= 2;
}

void fairness_series_advance(struct fairness_series *series, double at_s)
{
    struct fairness_points *points = &series->points;
    for (;;) {
        double next_s = points->start_s + (double)points->n * points->step_s;
        if (!(next_s < at_s))
            return;
        if (points->n == FAIRNESS_SAMPLES_MAX)
            drop_every_second(points);
        else
            points->values[points->n++] = sample(series, next_s);
    }
}

void fairness_series_arrive(struct fairness_series *series, size_t job, double at_s)
{
    series->jobs[job] = (struct fairness_job){.arrival_s = at_s, .since_s = at_s};
    series->active[series->n_active++] = job;
}

void fairness_series_hold(struct fairness_series *series, size_t index, double at_s, double by)
{
    struct fairness_job *job = &series->jobs[index];
    job->held_s += job->held * (at_s - job->since_s);
    job->since_s = at_s;
    job->held += by;
}

/* Those that are under way keep their order, in which a sample adds them up. */
static void drop_ended(struct fairness_series *series)
{
    size_t n = 0;
    for (size_t i = 0; i < series->n_active; i++)
        if (!series->jobs[series->active[i]].ended)
            series->active[n++] = series->active[i];
    series->n_active = n;
    series->n_ended = 0;
}

void fairness_series_end(struct fairness_series *series, size_t job)
{
    series->jobs[job].ended = true;
    series->n_ended++;
    if (2 * series->n_ended >= series->n_active)
        drop_ended(series);
}
