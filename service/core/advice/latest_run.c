#include "core/advice/latest_run.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/history/graph.h"
#include "core/numerics/quantile.h"

/* Priors of the slopes: between a job that is all serial and one that is all work. */
static const double SIZE_SLOPE = 0.7, SIZE_DEVIATION = 0.35;
static const double CORES_SLOPE = -0.6, CORES_DEVIATION = 0.4;

/* A run as a point of the regression. */
struct place {
    double ln_size;
    double ln_cores;
    double ln_time;
    size_t row;
};

/* The expectation of ln T: Student's t. */
struct expectation {
    double centre;
    double scale;
    double freedom;
};

/* --- the expectation --- */

/* The symmetric matrix of the normal equations, from which the first row of the inverse is needed. */
struct normal {
    double m[3][3];
    double v[3];
};

static void add_row(struct normal *eq, const double x[3], double y, double weight)
{
    for (size_t i = 0; i < 3; i++) {
        eq->v[i] += weight * x[i] * y;
        for (size_t j = 0; j < 3; j++)
            eq->m[i][j] += weight * x[i] * x[j];
    }
}

/* Signed minor without row i and column j. */
static double cofactor(const struct normal *eq, size_t i, size_t j)
{
    size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return eq->m[a][c] * eq->m[b][d] - eq->m[a][d] * eq->m[b][c];
}

/* Predicts a run at `at` from the n >= 1 others. Coordinates are relative to `at`, so that the constant is
 * the expectation and its variance the one asked for. */
static struct expectation expect(const struct place others[], size_t n, const struct place *at)
{
    const double slopes[3] = {0, SIZE_SLOPE, CORES_SLOPE};
    const double deviations[3] = {0, SIZE_DEVIATION, CORES_DEVIATION};
    struct normal eq = {.v = {0}};
    double solution[3], inverse[3], squares = 0, determinant = 0;
    for (size_t i = 0; i < n; i++) {
        const double x[3] = {1, others[i].ln_size - at->ln_size, others[i].ln_cores - at->ln_cores};
        add_row(&eq, x, others[i].ln_time, 1);
    }
    for (size_t k = 1; k < 3; k++) {
        double x[3] = {0};
        double ratio = CURVE_PRIOR_SPREAD / deviations[k];
        x[k] = 1;
        add_row(&eq, x, slopes[k], ratio * ratio);
    }
    for (size_t k = 0; k < 3; k++)
        determinant += eq.m[0][k] * cofactor(&eq, 0, k);
    for (size_t i = 0; i < 3; i++) {
        solution[i] = 0;
        for (size_t j = 0; j < 3; j++)
            solution[i] += cofactor(&eq, i, j) / determinant * eq.v[j];
        inverse[i] = cofactor(&eq, 0, i) / determinant;
    }
    for (size_t i = 0; i < n; i++) {
        double off = others[i].ln_time - solution[0] -
                     solution[1] * (others[i].ln_size - at->ln_size) -
                     solution[2] * (others[i].ln_cores - at->ln_cores);
        squares += off * off;
    }
    double freedom = CURVE_PRIOR_FREEDOM + (double)n - 1;
    double prior = CURVE_PRIOR_FREEDOM * CURVE_PRIOR_SPREAD * CURVE_PRIOR_SPREAD;
    return (struct expectation){solution[0], sqrt((prior + squares) / freedom * (1 + inverse[0])),
                                freedom};
}

static double reach_of(const struct expectation *expected)
{
    return expected->scale * gsl_cdf_tdist_Pinv(0.5 + LATEST_RUN_CONFIDENCE / 2, expected->freedom);
}

/* --- the runs in the order of time --- */

static struct place place_of(const struct run_observations *seen, size_t row)
{
    const struct observation *run = &seen->rows[row];
    int64_t cores = seen->evidence[row].cores_per_executor;
    return (struct place){log(run->problem_size),
                          log(run->executors * (cores >= 1 ? (double)cores : 1.0)),
                          log(run->duration_s), row};
}

/* The newest runs that are like the newest of all, in the order of time. */
static size_t like_newest(const struct run_observations *seen, struct place places[])
{
    struct place newest = {0};
    size_t n = 0;
    for (size_t i = 0; i < seen->n && n < LATEST_RUN_LOOKED_AT; i++) {
        if (seen->rows[i].context > 1 || !(seen->rows[i].duration_s > 0) ||
            seen->evidence[i].executors_lost)
            continue;
        const struct place place = place_of(seen, i);
        if (n == 0)
            newest = place;
        if (fabs(place.ln_size - newest.ln_size) <= log(LATEST_RUN_LIKE) &&
            fabs(place.ln_cores - newest.ln_cores) <= log(LATEST_RUN_LIKE))
            places[n++] = place;
    }
    for (size_t i = 0; i < n / 2; i++) {
        struct place swapped = places[i];
        places[i] = places[n - 1 - i];
        places[n - 1 - i] = swapped;
    }
    return n;
}

/* Runs read so far: those before the streak come first, then those of the streak. */
struct watch {
    struct place known[LATEST_RUN_LOOKED_AT];
    size_t n;      /* learnt */
    size_t streak; /* behind them */
    bool slower;
    size_t stays;
    size_t returns;
};

/* 1: slower than expected; -1: faster; 0: as expected, or nothing is known. */
static int judge(const struct watch *watch, const struct place *run)
{
    if (watch->n == 0)
        return 0;
    const struct expectation expected = expect(watch->known, watch->n, run);
    double off = run->ln_time - expected.centre;
    return fabs(off) <= reach_of(&expected) ? 0 : off > 0 ? 1 : -1;
}

static void watch_run(struct watch *watch, const struct place *run)
{
    int side = judge(watch, run);
    if (watch->streak > 0 && (side == 0 || (side > 0) != watch->slower)) {
        watch->returns++; /* they are part of what may be expected */
        watch->n += watch->streak;
        watch->streak = 0;
        side = judge(watch, run);
    }
    watch->known[watch->n + watch->streak] = *run;
    if (side == 0) {
        watch->n++;
        return;
    }
    watch->stays += watch->streak > 0;
    watch->slower = side > 0;
    watch->streak++;
    if (watch->streak == LATEST_RUN_SETTLED) {
        memmove(watch->known, watch->known + watch->n, watch->streak * sizeof *watch->known);
        watch->n = watch->streak;
        watch->streak = 0;
    }
}

struct latest_run latest_run_find(const struct run_observations *seen)
{
    struct place places[LATEST_RUN_LOOKED_AT];
    struct watch watch = {.n = 0};
    struct latest_run found = {.deviates = false};
    size_t n = like_newest(seen, places);
    for (size_t i = 0; i < n; i++)
        watch_run(&watch, &places[i]);
    if (watch.streak == 0)
        return found;
    const struct place *newest = &places[n - 1];
    const struct expectation expected = expect(watch.known, watch.n, newest);
    double reach = reach_of(&expected), stays = (double)watch.stays;
    found = (struct latest_run){
        .deviates = true,
        .slower = watch.slower,
        .duration_s = seen->rows[newest->row].duration_s,
        .expected_s = exp(expected.centre),
        .interval_s = {exp(expected.centre - reach), exp(expected.centre + reach)},
        .problem_size = seen->rows[newest->row].problem_size,
        .executors = (int64_t)seen->rows[newest->row].executors,
        .compared = watch.n,
        .streak = watch.streak,
        .persistence = (1 + stays) / (2 + stays + (double)watch.returns)};
    memcpy(found.run_id, seen->evidence[newest->row].run_id, sizeof found.run_id);
    for (size_t k = 0; k < watch.streak; k++) {
        const struct place *run = &watch.known[watch.n + watch.streak - 1 - k];
        found.rows[k] = run->row;
        found.shift +=
            (run->ln_time - expect(watch.known, watch.n, run).centre) / (double)watch.streak;
    }
    return found;
}

bool latest_run_has(const struct latest_run *latest,
                    const struct run_observations *seen,
                    const char *run_id)
{
    for (size_t k = 0; k < latest->streak; k++)
        if (strcmp(seen->evidence[latest->rows[k]].run_id, run_id) == 0)
            return true;
    return false;
}

/* --- the stage --- */

enum { OTHERS_MAX = 20 };

/* The runs to compare with: the same stages, of like size, and not of the streak. */
static enum pv_code find_others(const struct latest_run *latest,
                                const struct run_observations *seen,
                                const struct run *newest,
                                const struct run runs[],
                                size_t n,
                                struct arena *scratch,
                                const struct run *others[OTHERS_MAX],
                                size_t *n_others,
                                struct pv_error *err)
{
    *n_others = 0;
    for (size_t i = 0; i < n && *n_others < OTHERS_MAX; i++) {
        bool equal = false;
        if (latest_run_has(latest, seen, runs[i].id) || runs[i].n_stages == 0 ||
            fabs(log(runs[i].problem_size / newest->problem_size)) > log(LATEST_RUN_LIKE))
            continue;
        PV_TRY(run_graph_compare(newest, &runs[i], scratch, &equal, err));
        if (equal)
            others[(*n_others)++] = &runs[i];
    }
    return PV_OK;
}

/* NAN: no other run knows it. */
static double usual_time(const struct run *const others[], size_t n, size_t stage)
{
    double times[OTHERS_MAX];
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (others[i]->stages[stage].duration_s > 0)
            times[known++] = others[i]->stages[stage].duration_s;
    return known == 0 ? (double)NAN : quantile_median(times, known);
}

enum pv_code latest_run_find_stage(struct latest_run *latest,
                                   const struct run_observations *seen,
                                   const struct run runs[],
                                   size_t n,
                                   struct arena *scratch,
                                   struct pv_error *err)
{
    const struct run *newest = NULL, *others[OTHERS_MAX];
    size_t n_others;
    double most_s = 0;
    for (size_t i = 0; i < n; i++)
        if (latest->run_id[0] != '\0' && strcmp(runs[i].id, latest->run_id) == 0)
            newest = &runs[i];
    if (!latest->deviates || newest == NULL || newest->n_stages == 0)
        return PV_OK;
    PV_TRY(find_others(latest, seen, newest, runs, n, scratch, others, &n_others, err));
    latest->other_stages = n_others == 0;
    for (size_t s = 0; n_others > 0 && s < newest->n_stages; s++) {
        double usual_s = usual_time(others, n_others, s);
        double stage_s = newest->stages[s].duration_s;
        double extra_s = latest->slower ? stage_s - usual_s : usual_s - stage_s;
        if (!(extra_s > most_s))
            continue;
        most_s = extra_s;
        latest->stage_id = newest->stages[s].id;
        latest->stage_s = stage_s;
        latest->stage_usual_s = usual_s;
    }
    /* A third: less says nothing of where the difference comes from. */
    latest->has_stage = most_s > fabs(latest->duration_s - latest->expected_s) / 3;
    return PV_OK;
}

/* --- the distribution --- */

/* The curve of the other level, in proportion. */
static void scale_curve(const struct curve *curve, double times, struct curve *other)
{
    struct curve_point *points = other->points;
    *other = *curve;
    other->points = points;
    other->other = NULL;
    other->freedom = CURVE_PRIOR_FREEDOM;
    other->single_s = curve->single_s * times;
    for (size_t i = 0; i < curve->n_points; i++) {
        points[i] = curve->points[i];
        points[i].duration_s *= times;
        points[i].cache_doubt_s *= times;
        for (size_t k = 0; k < points[i].n_centres; k++)
            points[i].centres[k].predicted_s *= times;
        points[i].spread = fmax(points[i].spread, CURVE_PRIOR_SPREAD);
        points[i].own = NULL;
    }
}

/* Exchanges the levels; the description of the runs stays with the curve. */
static void swap_levels(struct curve *curve, struct curve *other)
{
    const struct curve kept = *curve;
    curve->points = other->points;
    curve->single_s = other->single_s;
    curve->freedom = other->freedom;
    curve->other_is_usual = !curve->other_is_usual;
    curve->other_weight = 1 - curve->other_weight;
    other->points = kept.points;
    other->single_s = kept.single_s;
    other->freedom = kept.freedom;
}

enum pv_code latest_run_mix(const struct latest_run *latest,
                            const struct curve *of_streak,
                            bool is_of_streak,
                            struct arena *arena,
                            struct curve *curve,
                            struct pv_error *err)
{
    if (!latest->deviates || !latest->slower)
        return PV_OK;
    struct curve *other = arena_calloc(arena, 1, sizeof *other);
    if (other == NULL)
        return pv_no_memory(err);
    if (of_streak != NULL) {
        *other = *of_streak;
    } else {
        other->points = arena_calloc(arena, curve->n_points, sizeof *other->points);
        if (other->points == NULL)
            return pv_no_memory(err);
        scale_curve(curve, exp(is_of_streak ? -latest->shift : latest->shift), other);
    }
    curve->other = other;
    curve->other_is_usual = is_of_streak;
    curve->other_weight = is_of_streak ? 1 - latest->persistence : latest->persistence;
    if (curve->other_weight > 0.5)
        swap_levels(curve, other);
    return PV_OK;
}

/* --- the warning --- */

static void describe_stage(const struct latest_run *latest, char *text, size_t room)
{
    text[0] = '\0';
    if (latest->has_stage)
        (void)snprintf(text, room, " Stage %" PRId64 " took %s instead of %s.", latest->stage_id,
                       quantity_duration(latest->stage_s).text,
                       quantity_duration(latest->stage_usual_s).text);
    else if (latest->other_stages)
        (void)snprintf(text, room, " Its stages differ from those of the runs before it.");
}

static void describe_streak(const struct latest_run *latest, char *text, size_t room)
{
    const char *pace = latest->slower ? "slower" : "faster";
    text[0] = '\0';
    if (latest->streak > 1)
        (void)snprintf(text, room, " The latest %zu run%s %s all %s.", latest->streak,
                       PLURAL(latest->streak), PLURAL_VERB(latest->streak, "was", "were"), pace);
    size_t n = strlen(text);
    if (latest->slower)
        (void)snprintf(text + n, room - n,
                       " The next run is taken to be as slow with a probability of %s.",
                       quantity_probability(latest->persistence).text);
}

enum pv_code
latest_run_explain(const struct latest_run *latest, struct advice *advice, struct pv_error *err)
{
    char stage[160], streak[240];
    if (!latest->deviates)
        return PV_OK;
    describe_stage(latest, stage, sizeof stage);
    describe_streak(latest, streak, sizeof streak);
    struct finding *note = finding_add(
        &advice->warnings, "latest_run_deviates",
        "The latest run took %s where %s were expected on its %" PRId64
        " executor%s, by %zu run%s before it of like size and executors.%s%s",
        quantity_duration(latest->duration_s).text,
        quantity_interval(latest->interval_s[0], latest->interval_s[1]).text, latest->executors,
        PLURAL(latest->executors), latest->compared, PLURAL(latest->compared), stage, streak);
    finding_text(note, "run_id",
                 latest->run_id[0] == '\0' ? NULL
                                           : arena_strdup(advice->warnings.arena, latest->run_id));
    finding_number(note, "duration_s", latest->duration_s);
    finding_number(note, "expected_s", latest->expected_s);
    finding_number(note, "lower_s", latest->interval_s[0]);
    finding_number(note, "upper_s", latest->interval_s[1]);
    finding_number(note, "problem_size", latest->problem_size);
    finding_number(note, "executors", (double)latest->executors);
    finding_number(note, "runs", (double)latest->streak);
    finding_number(note, "compared_runs", (double)latest->compared);
    finding_number(note, "persistence", latest->slower ? latest->persistence : (double)NAN);
    if (latest->has_stage) {
        finding_number(note, "stage", (double)latest->stage_id);
        finding_number(note, "stage_duration_s", latest->stage_s);
        finding_number(note, "stage_usual_duration_s", latest->stage_usual_s);
    }
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
