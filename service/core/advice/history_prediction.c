#include "core/advice/history_prediction.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "core/advice/replay_curve.h"
#include "core/history/task_slots.h"
#include "core/scaling/history/history_drift.h"
#include "core/scaling/history/idle_machine.h"
#include "core/scaling/history/law_errors.h"
#include "core/scaling/selection/selection.h"

/* What every step is given. */
struct frame {
    const struct advice_question *question;
    const struct advice_limits *limits;
    const struct history_extent *extent;
    const struct latest_run *latest;     /* NULL: a profile */
    const struct run_observations *seen; /* whose rows the streak is of */
    struct arena *arena;
    struct arena *scratch;
};

/* --- what is asked of a curve --- */

/* Where the question leaves size or cores open, a run fills in. */
static enum pv_code set_question(const struct frame *f,
                                 double problem_size,
                                 int64_t cores_per_executor,
                                 struct curve_question *question,
                                 struct pv_error *err)
{
    const struct advice_question *asked = f->question;
    *question = (struct curve_question){
        .problem_size = isnan(asked->problem_size) ? problem_size : asked->problem_size,
        .cores_per_executor = asked->cores_per_executor == RUN_UNKNOWN ? cores_per_executor
                                                                       : asked->cores_per_executor,
        .task_budget = f->limits->task_budget};
    return !(question->problem_size > 0) || question->cores_per_executor < 1
               ? pv_fail(err, PV_E_TOO_FEW,
                         "the problem size or the cores per executor of the nearest run are "
                         "unknown")
               : PV_OK;
}

static int64_t most_executors(const struct frame *f, int64_t cores_per_executor)
{
    int64_t by_cores = f->limits->cores / cores_per_executor;
    int64_t most = f->limits->executors < by_cores ? f->limits->executors : by_cores;
    return most < 1 ? 1 : most;
}

/* Counts that an answer may turn on: the ends of what is allowed, by request and by what ran, and
 * those of the last run, the fewest for barrier stages; 0 where the service cannot answer for one. */
enum { SPECIAL_COUNTS = 5 };
static void set_special_counts(const struct frame *f,
                               int64_t cores_per_executor,
                               int64_t most,
                               int64_t fewest,
                               int64_t counts[SPECIAL_COUNTS])
{
    const struct advise_goal *goal = &f->question->goal;
    counts[0] = goal->min_executors;
    counts[1] = goal->max_executors;
    counts[2] = history_extent_bound(f->extent, f->limits->extrapolation, cores_per_executor);
    counts[3] = history_extent_last(f->extent, cores_per_executor);
    counts[4] = fewest;
    for (size_t i = 0; i < SPECIAL_COUNTS; i++)
        if (counts[i] < 1 || counts[i] > most)
            counts[i] = 0;
}

/* --- the replay's --- */

/* Tasks of all runs on the asked size: what one point of the curve costs. */
static double tasks_a_point(const struct run runs[], size_t n, double problem_size)
{
    double tasks = 1.0;
    for (size_t i = 0; i < n; i++) {
        double grown =
            !(runs[i].problem_size > 0) ? 1.0 : fmax(1.0, problem_size / runs[i].problem_size);
        for (size_t s = 0; s < runs[i].n_stages; s++)
            if (runs[i].stages[s].n_tasks > 0)
                tasks += (double)runs[i].stages[s].n_tasks * grown;
    }
    return tasks;
}

/* A fifth of the budget is the leaving out's; the rest says how many points there can be. */
static size_t
affordable_points(uint64_t task_budget, const struct run runs[], size_t n, double size)
{
    double points = 0.8 * (double)task_budget / tasks_a_point(runs, n, size);
    return points > CURVE_POINTS_MAX ? CURVE_POINTS_MAX : points < 24.0 ? 24 : (size_t)points;
}

/* The runs that belong to the streak of slow runs, or those that do not; in full weight if all do. */
static enum pv_code take_level(const struct frame *f,
                               const struct run runs[],
                               size_t n,
                               bool of_streak,
                               struct run **taken,
                               size_t *n_taken,
                               struct pv_error *err)
{
    *taken = arena_array(f->arena, n, sizeof **taken);
    *n_taken = 0;
    if (*taken == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (latest_run_has(f->latest, f->seen, runs[i].id) == of_streak) {
            (*taken)[*n_taken] = runs[i];
            (*taken)[*n_taken].weight = of_streak ? 1 : runs[i].weight;
            (*n_taken)++;
        }
    return PV_OK;
}

/*
 * The curve of the replays of n >= 1 runs, nearest in size first. All runs on a coarser grid rather
 * than fewer runs on a fine one: stages that grow with the machines make points dearer than
 * affordable_points foresees.
 */
static enum pv_code curve_of_runs(const struct frame *f,
                                  const struct run runs[],
                                  size_t n,
                                  struct curve *curve,
                                  struct pv_error *err)
{
    struct curve_question question;
    int64_t grid[CURVE_POINTS_MAX], special[SPECIAL_COUNTS];
    PV_TRY(set_question(f, runs[0].problem_size, runs[0].cores_per_executor, &question, err));
    int64_t most = most_executors(f, question.cores_per_executor);
    set_special_counts(f, question.cores_per_executor, most,
                       task_slots_least_executors(&runs[0], question.cores_per_executor), special);
    question.executors = grid;
    question.executors_max = f->limits->executors;
    size_t points = affordable_points(f->limits->task_budget, runs, n, question.problem_size);
    for (;; points /= 2) {
        struct pv_error why = {0};
        bool last = points < 48;
        question.least_runs = last ? 1 : n;
        question.n_executors = curve_grid(points, most, special, SPECIAL_COUNTS, grid);
        enum pv_code code =
            replay_curve_make(runs, n, &question, f->arena, f->scratch, curve, &why);
        if (code == PV_E_LIMIT && !last)
            continue;
        return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
    }
}

/* The usual level: of the runs before a streak of slow ones, if some of them were loaded. */
static enum pv_code predict_by_replay(const struct frame *f,
                                      const struct run runs[],
                                      size_t n,
                                      struct curve *curve,
                                      struct pv_error *err)
{
    struct run *usual;
    size_t n_usual;
    if (f->latest == NULL || !f->latest->slower)
        return curve_of_runs(f, runs, n, curve, err);
    PV_TRY(take_level(f, runs, n, false, &usual, &n_usual, err));
    if (n_usual == 0)
        PV_TRY(take_level(f, runs, n, true, &usual, &n_usual, err));
    return curve_of_runs(f, usual, n_usual, curve, err);
}

/* --- replay or model --- */

/* Models know executors, not their cores: only runs on executors like those asked for count. */
static struct observation *observe(const struct run_observations *seen,
                                   int64_t cores_per_executor,
                                   struct arena *arena,
                                   size_t *n)
{
    struct observation *rows = arena_array(arena, seen->n, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows != NULL && i < seen->n; i++)
        if (seen->evidence[i].cores_per_executor == cores_per_executor) {
            rows[*n] = seen->rows[i];
            rows[(*n)++].theta = seen->theta;
        }
    return rows;
}

/* Of the group that is asked about; seen->n: there is none. */
static size_t find_latest(const struct run_observations *seen)
{
    size_t latest = 0;
    while (latest < seen->n && seen->rows[latest].context > 1)
        latest++;
    return latest;
}

/* Counts the runs that a model was fitted to and that have warnings. */
static void count_warned(const struct run_observations *seen, struct curve *curve)
{
    if (curve->model_kind == NULL)
        return;
    curve->warned = (struct warned_runs){.runs = 0};
    for (size_t i = 0; i < seen->n; i++)
        if (seen->evidence[i].cores_per_executor == curve->cores_per_executor &&
            seen->rows[i].context <= 1)
            warned_runs_add(&curve->warned, seen->evidence[i].warnings, seen->evidence[i].run_id);
}

/* The better of the replay's curve, where there is one in made->curve, and a model's. */
static enum pv_code choose_predictor(const struct frame *f,
                                     const struct run_observations *seen,
                                     bool has_replay,
                                     struct history_prediction *made,
                                     struct pv_error *err)
{
    struct curve_question question;
    int64_t grid[CURVE_POINTS_MAX], special[SPECIAL_COUNTS];
    const struct advise_goal *goal = &f->question->goal;
    double size = (double)NAN;
    int64_t cores = RUN_UNKNOWN;
    size_t latest = find_latest(seen);
    made->replayed = has_replay ? made->curve : (struct curve){.n_points = 0};
    if (has_replay) {
        size = made->curve.problem_size;
        cores = made->curve.cores_per_executor;
    } else if (latest < seen->n) {
        size = seen->rows[latest].problem_size;
        cores = seen->evidence[latest].cores_per_executor;
    }
    PV_TRY(set_question(f, size, cores, &question, err));
    int64_t most = most_executors(f, question.cores_per_executor);
    set_special_counts(f, question.cores_per_executor, most, made->curve.fewest_executors, special);
    question.executors = grid;
    question.n_executors = curve_grid(CURVE_POINTS_MAX, most, special, SPECIAL_COUNTS, grid);
    struct arena_mark mark = arena_mark(f->scratch);
    size_t n;
    struct observation *rows = observe(seen, question.cores_per_executor, f->scratch, &n);
    enum pv_code code = rows == NULL
                            ? pv_no_memory(err)
                            : predictor_choose(rows, n, &question, goal->min_executors,
                                               goal->max_executors, has_replay, f->arena,
                                               f->scratch, &made->curve, &made->predictor, err);
    arena_rewind(f->scratch, mark);
    if (code == PV_OK)
        count_warned(seen, &made->curve);
    return code;
}

/* The nearest runs have what can be asked for, and yet `why`. */
static enum pv_code refuse_runs(size_t looked_at, const char *why, struct pv_error *err)
{
    if (looked_at == 1)
        return pv_fail(err, PV_E_TOO_FEW, "the only run near enough cannot be replayed: %s", why);
    return pv_fail(err, PV_E_TOO_FEW, "none of the %zu nearest run%s can be replayed: %s",
                   looked_at, PLURAL(looked_at), why);
}

/* What came of a replay of n runs. */
struct replayed {
    enum pv_code code;
    struct pv_error why;
    size_t n;
};

/* Replay where it can be done. Stages to plan take less than a replay: the nearest run has them
 * also where it is too large for one. */
static enum pv_code replay_runs(const struct frame *f,
                                const struct advice_history *history,
                                const struct run runs[],
                                size_t n,
                                struct replayed *replayed,
                                struct history_prediction *made,
                                struct pv_error *err)
{
    *replayed = (struct replayed){.code = PV_E_TOO_FEW, .n = n};
    if (n > 0) {
        replayed->code = predict_by_replay(f, runs, n, &made->curve, &replayed->why);
        PV_TRY(quotas_take_run(&runs[0], f->arena, &made->stages, err));
    } else {
        (void)pv_fail(&replayed->why, PV_E_TOO_FEW, "%s", history->lack);
        made->stages.missing = arena_strdup(f->arena, history->lack);
        if (made->stages.missing == NULL)
            return pv_no_memory(err);
    }
    bool usable =
        replayed->code == PV_OK || replayed->code == PV_E_TOO_FEW || replayed->code == PV_E_LIMIT;
    return usable ? PV_OK : pv_fail(err, replayed->code, "%s", replayed->why.detail);
}

/* Whether a model does better than the replay, or answers in its place. */
static enum pv_code predict_beside(const struct frame *f,
                                   const struct advice_history *history,
                                   const struct replayed *replayed,
                                   struct history_prediction *made,
                                   struct pv_error *err)
{
    struct pv_error no_model = {0};
    enum pv_code code =
        choose_predictor(f, &history->seen, replayed->code == PV_OK, made, &no_model);
    if (code == PV_E_TOO_FEW && replayed->code == PV_E_TOO_FEW && replayed->n > 0)
        return refuse_runs(replayed->n, replayed->why.detail, err);
    if (code == PV_E_TOO_FEW) /* what a replay lacks is more useful to know */
        return pv_fail(err, replayed->code, "%s", replayed->why.detail);
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", no_model.detail);
}

static enum pv_code predict_from_nearest(const struct frame *f,
                                         const struct advice_history *history,
                                         struct history_prediction *made,
                                         struct pv_error *err)
{
    struct replayed replayed;
    PV_TRY(replay_runs(f, history, history->nearest, history->n_nearest, &replayed, made, err));
    return predict_beside(f, history, &replayed, made, err);
}

/* Runs from before a drift, starved ones and outliers count as little in a replay as in a fit. */
static void history_prediction_weigh(struct run runs[],
                                     size_t n,
                                     const struct run_observations *seen,
                                     bool faded)
{
    double oldest = seen->n == 0 ? 1 : seen->rows[seen->n - 1].weight;
    for (size_t i = 0; i < n; i++) {
        runs[i].weight = faded ? oldest : 1;
        for (size_t j = 0; j < seen->n; j++)
            if (strcmp(seen->evidence[j].run_id, runs[i].id) == 0)
                runs[i].weight = seen->rows[j].weight;
    }
}

/* From the runs of the group; where they allow neither replay nor model, from all runs. Where some
 * of the group were there to be replayed, stages stay those of the nearest of them. */
static enum pv_code predict_from_group(const struct frame *f,
                                       struct advice_history *history,
                                       struct history_prediction *made,
                                       struct pv_error *err)
{
    struct pv_error why = {0};
    struct replayed replayed;
    if (history->group.n_keys == 0 || history->group.ignored)
        return predict_from_nearest(f, history, made, err);
    made->from_own = history->n_own > 0;
    PV_TRY(replay_runs(f, history, history->own, history->n_own, &replayed, made, err));
    enum pv_code code = predict_beside(f, history, &replayed, made, &why);
    if (code != PV_E_TOO_FEW && code != PV_E_LIMIT)
        return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
    label_group_ignore(&history->group, &history->seen);
    if (history->n_own > 0)
        return predict_beside(f, history, &replayed, made, err);
    *made = (struct history_prediction){.from_own = false};
    return predict_from_nearest(f, history, made, err);
}

/* Why neither can be done: what a replay lacks, and what a model does. */
static const char *
describe_lack(const char *replay, const struct predictor *predictor, struct arena *arena)
{
    return predictor->without_model == NULL
               ? arena_strdup(arena, replay)
               : arena_printf(arena, "%s; and no model can be fitted: %s", replay,
                              predictor->without_model);
}

/* A history that allows no prediction may still show with what the job is to run. */
static enum pv_code predict_or_lack(const struct frame *f,
                                    struct advice_history *history,
                                    struct history_prediction *made,
                                    struct pv_error *err)
{
    struct pv_error why = {0};
    enum pv_code code = predict_from_group(f, history, made, &why);
    if (code != PV_E_TOO_FEW)
        return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
    *made =
        (struct history_prediction){.lack = describe_lack(why.detail, &made->predictor, f->arena),
                                    .predictor = made->predictor,
                                    .curve = {.problem_size = f->question->problem_size,
                                              .cores_per_executor = f->question->cores_per_executor,
                                              .loo_mape_percent = (double)NAN}};
    for (size_t i = 0; isnan(made->curve.problem_size) && i < history->n_latest; i++)
        made->curve.problem_size = history->latest[i].problem_size;
    return made->lack == NULL ? pv_no_memory(err) : PV_OK;
}

/* Of the newest nine that have one: enough that a single odd run does not decide. */
static double median_startup_s(const struct run runs[], size_t n)
{
    enum { ENOUGH = 9 };
    double sorted[ENOUGH];
    size_t known = 0;
    for (size_t i = 0; i < n && known < ENOUGH; i++) {
        double startup_s = runs[i].executor_startup_s;
        size_t at = known;
        if (isnan(startup_s))
            continue;
        for (; at > 0 && sorted[at - 1] > startup_s; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = startup_s;
        known++;
    }
    return known == 0 ? (double)NAN : (sorted[(known - 1) / 2] + sorted[known / 2]) / 2.0;
}

/* Predicts the same counts from the runs of the streak; *curve is NULL if they cannot be replayed. */
static enum pv_code replay_streak(const struct frame *f,
                                  const struct run runs[],
                                  size_t n,
                                  const struct history_prediction *made,
                                  struct curve **curve,
                                  struct pv_error *err)
{
    const struct curve *usual = &made->curve;
    struct run *streak;
    int64_t *grid = arena_array(f->arena, usual->n_points, sizeof *grid);
    struct curve *of_streak = arena_calloc(f->arena, 1, sizeof *of_streak);
    size_t n_streak = 0;
    struct pv_error why = {0};
    *curve = NULL;
    if (grid == NULL || of_streak == NULL)
        return pv_no_memory(err);
    PV_TRY(take_level(f, runs, n, true, &streak, &n_streak, err));
    for (size_t i = 0; i < usual->n_points; i++)
        grid[i] = usual->points[i].executors;
    const struct curve_question question = {.problem_size = usual->problem_size,
                                            .cores_per_executor = usual->cores_per_executor,
                                            .executors = grid,
                                            .n_executors = usual->n_points,
                                            .task_budget = f->limits->task_budget,
                                            .least_runs = 1};
    if (n_streak == 0)
        return PV_OK;
    enum pv_code code =
        replay_curve_make(streak, n_streak, &question, f->arena, f->scratch, of_streak, &why);
    if (code == PV_OK)
        *curve = of_streak;
    return code == PV_OK || code == PV_E_TOO_FEW || code == PV_E_LIMIT
               ? PV_OK
               : pv_fail(err, code, "%s", why.detail);
}

/* Adds the level of the newest runs to the level of the runs before them. */
static enum pv_code mix_levels(const struct frame *f,
                               const struct run runs[],
                               size_t n,
                               struct history_prediction *made,
                               struct pv_error *err)
{
    struct curve *of_streak = NULL;
    bool is_replay = made->curve.model_kind == NULL;
    bool is_of_streak = is_replay && n > 0;
    PV_TRY(latest_run_find_stage(&made->latest, f->seen, runs, n, f->scratch, err));
    if (!made->latest.slower)
        return PV_OK;
    for (size_t i = 0; i < n; i++)
        is_of_streak = is_of_streak && latest_run_has(&made->latest, f->seen, runs[i].id);
    if (is_replay && !is_of_streak)
        PV_TRY(replay_streak(f, runs, n, made, &of_streak, err));
    return latest_run_mix(&made->latest, of_streak, is_of_streak, f->arena, &made->curve, err);
}

/* Does a task take as much of an executor as it did in the run? */
static bool keeps_slots(const struct run *run)
{
    const struct task_slots now = task_slots_of(run, 0, true), then = task_slots_of(run, 0, false);
    return now.task_cores == then.task_cores && now.by_resource == then.by_resource;
}

/* Finds the runs of each point's configuration; none if the question changes the task slots. */
static enum pv_code find_same_runs(const struct run_observations *seen,
                                   const struct run runs[],
                                   size_t n,
                                   struct arena *arena,
                                   struct curve *curve,
                                   struct pv_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!keeps_slots(&runs[i]))
            return PV_OK;
    for (size_t i = 0; i < curve->n_points; i++) {
        struct curve_point *point = &curve->points[i];
        const struct same_runs_of configuration = {curve->problem_size, point->executors,
                                                   curve->cores_per_executor};
        PV_TRY(same_runs_find(seen, &configuration, arena, &point->ran, err));
    }
    return PV_OK;
}

enum pv_code history_predict(const struct advice_question *question,
                             const struct advice_limits *limits,
                             struct advice_history *history,
                             struct arena *arena,
                             struct arena *scratch,
                             struct history_prediction *made,
                             struct pv_error *err)
{
    bool has_own = history->n_own > 0;
    const struct history_extent extent =
        history_extent_find(&history->seen, has_own ? history->own : history->nearest,
                            has_own ? history->n_own : history->n_nearest);
    struct latest_run latest = {.deviates = false};
    const struct frame f = {question, limits, &extent, &latest, &history->seen, arena, scratch};
    struct history_drift found;
    struct arena_mark mark = arena_mark(scratch);
    *made = (struct history_prediction){.from_own = false};
    enum pv_code code = history_drift_find(&history->seen, scratch, &found, err);
    arena_rewind(scratch, mark);
    if (code != PV_OK)
        return code;
    idle_machine_learn(&history->seen);
    law_errors_learn(&history->seen);
    latest = latest_run_find(&history->seen);
    if (latest.slower)
        for (size_t k = 0; k < latest.streak; k++) {
            history->seen.rows[latest.rows[k]].weight = DRIFT_LEAST_WEIGHT;
            history->seen.evidence[latest.rows[k]].far_off = true;
        }
    history_prediction_weigh(history->own, history->n_own, &history->seen, found.faded > 0);
    history_prediction_weigh(history->nearest, history->n_nearest, &history->seen, found.faded > 0);
    for (size_t i = 0; i < history->n_own; i++)
        history->own[i].asked = stage_slots_asked(&question->spark_constraints);
    for (size_t i = 0; i < history->n_nearest; i++)
        history->nearest[i].asked = stage_slots_asked(&question->spark_constraints);
    PV_TRY(predict_or_lack(&f, history, made, err));
    PV_TRY(label_group_copy(&history->group, arena, &made->group, err));
    made->extent = extent;
    made->latest = latest;
    PV_TRY(spark_history_take(history->latest, history->n_latest,
                              has_own ? history->own : history->nearest,
                              has_own ? history->n_own : history->n_nearest, &extent,
                              made->curve.problem_size, arena, &made->spark, err));
    memory_history_take(history->latest, history->n_latest, made->curve.problem_size,
                        &made->memory);
    made->memory_per_core_bytes = limits->memory_per_core_bytes;
    made->memory_cut_runs = limits->memory_cut_runs;
    made->executor_startup_s = median_startup_s(history->latest, history->n_latest);
    made->session = history->session;
    made->curve.size_measure = made->replayed.size_measure = history->size_measure;
    made->n_measured_otherwise = history->n_measured_otherwise;
    made->streaming = made->lack != NULL && history->streaming;
    for (size_t i = 0; made->lack != NULL && i < history->n_latest; i++)
        warned_runs_add_run(&made->newest, &history->latest[i]);
    if (made->lack != NULL)
        return PV_OK;
    made->predictor.drift = found.drift;
    made->predictor.runs_watched = history->seen.n;
    made->predictor.runs_light = found.down_weighted_in_all;
    bool own = made->from_own;
    const struct run *runs = own ? history->own : history->nearest;
    size_t n = own ? history->n_own : history->n_nearest;
    if (n > 0)
        PV_TRY(bottlenecks_find(&runs[0], arena, scratch, &made->bottlenecks, err));
    PV_TRY(mix_levels(&f, runs, n, made, err));
    PV_TRY(find_same_runs(&history->seen, runs, n, arena, &made->curve, err));
    return unrelated_runs_find(runs, n, predictor_error_percent(&made->predictor, &made->curve),
                               arena, scratch, &made->unrelated, err);
}

enum pv_code history_learn_theta(struct run_observations *seen,
                                 struct arena *arena,
                                 const struct process_theta **theta,
                                 struct pv_error *err)
{
    struct history_drift found; /* read by nobody: it weighs the runs */
    struct model_selection selection;
    size_t n;
    size_t latest = find_latest(seen);
    bool pools = false;
    for (size_t i = 0; i < seen->n; i++)
        pools = pools || seen->rows[i].context > 1;
    *theta = NULL;
    if (!pools || latest == seen->n || seen->evidence[latest].cores_per_executor < 1)
        return PV_OK;
    PV_TRY(history_drift_find(seen, arena, &found, err));
    struct observation *rows = observe(seen, seen->evidence[latest].cores_per_executor, arena, &n);
    if (rows == NULL)
        return pv_no_memory(err);
    PV_TRY(model_select(rows, n, arena, &selection, err));
    *theta = predictor_theta(&selection);
    return PV_OK;
}

enum pv_code profile_predict(const struct advice_question *question,
                             const struct advice_limits *limits,
                             struct arena *arena,
                             struct arena *scratch,
                             struct history_prediction *made,
                             struct pv_error *err)
{
    const struct history_extent extent = history_extent_of_run(&question->profile);
    const struct frame f = {question, limits, &extent, NULL, NULL, arena, scratch};
    struct pv_error why = {0};
    *made = (struct history_prediction){
        .extent = extent, .executor_startup_s = median_startup_s(&question->profile, 1)};
    enum pv_code code = predict_by_replay(&f, &question->profile, 1, &made->curve, &why);
    if (code == PV_E_TOO_FEW)
        return pv_fault(err, PV_PLACE_POINTER, "/profile", "too_few_observations", "%s",
                        why.detail);
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    PV_TRY(spark_history_take(&question->profile, 1, &question->profile, 1, &extent,
                              made->curve.problem_size, arena, &made->spark, err));
    return quotas_take_run(&question->profile, arena, &made->stages, err);
}
