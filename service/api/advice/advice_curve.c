#include "api/advice/advice_curve.h"

#include <math.h>

/* --- the replay's --- */

/* Tasks of all runs on the asked size: what one point of the curve costs. */
static double tasks_a_point(const struct run runs[], size_t n, int64_t problem_size)
{
    double tasks = 1.0;
    for (size_t i = 0; i < n; i++) {
        double grown = runs[i].problem_size < 1
                           ? 1.0
                           : fmax(1.0, (double)problem_size / (double)runs[i].problem_size);
        for (size_t s = 0; s < runs[i].n_stages; s++)
            if (runs[i].stages[s].n_tasks > 0)
                tasks += (double)runs[i].stages[s].n_tasks * grown;
    }
    return tasks;
}

/* A fifth of the budget is the leaving out's; the rest says how many points there can be. */
static size_t
affordable_points(const struct config *config, const struct run runs[], size_t n, int64_t size)
{
    double points = 0.8 * (double)config->advice_task_budget / tasks_a_point(runs, n, size);
    return points > CURVE_POINTS_MAX ? CURVE_POINTS_MAX : points < 24.0 ? 24 : (size_t)points;
}

static int64_t most_executors(const struct config *config, int64_t cores_per_executor)
{
    int64_t by_cores = config->cores_max / cores_per_executor;
    int64_t most = config->executors_max < by_cores ? config->executors_max : by_cores;
    return most < 1 ? 1 : most;
}

/*
 * All runs on a coarser grid rather than fewer runs on a fine one: stages that grow with the
 * machines make points dearer than affordable_points foresees.
 */
static enum pv_code predict_within_budget(struct curve_question *question,
                                          const int64_t extra[2],
                                          int64_t most,
                                          size_t room,
                                          const struct run runs[],
                                          size_t n,
                                          struct arena *arena,
                                          struct arena *scratch,
                                          struct curve *curve,
                                          struct pv_error *err)
{
    int64_t grid[CURVE_POINTS_MAX];
    question->executors = grid;
    for (;; room /= 2) {
        struct pv_error why = {0};
        bool last = room < 48;
        question->least_runs = last ? 1 : n;
        question->n_executors = curve_grid(room, most, extra, 2, grid);
        enum pv_code code = curve_predict(runs, n, question, arena, scratch, curve, &why);
        if (code == PV_E_LIMIT && !last)
            continue;
        if (code != PV_OK && err != NULL)
            *err = why;
        return code;
    }
}

/* Where the request leaves size or cores open, a run fills in. */
static enum pv_code set_question(const struct config *config,
                                 const struct codec_advice_request *asked,
                                 int64_t problem_size,
                                 int64_t cores_per_executor,
                                 struct curve_question *question,
                                 struct pv_error *err)
{
    *question = (struct curve_question){.problem_size = asked->problem_size,
                                        .cores_per_executor = asked->cores_per_executor,
                                        .task_budget = (uint64_t)config->advice_task_budget};
    if (question->problem_size == RUN_UNKNOWN)
        question->problem_size = problem_size;
    if (question->cores_per_executor == RUN_UNKNOWN)
        question->cores_per_executor = cores_per_executor;
    return question->problem_size < 1 || question->cores_per_executor < 1
               ? pv_fail(err, PV_E_TOO_FEW,
                         "the problem size or the cores per executor of the nearest run are "
                         "unknown")
               : PV_OK;
}

/* The ends of what is allowed, where the service can answer for them, else 0. */
static void set_ends(const struct codec_advice_request *asked, int64_t most, int64_t ends[2])
{
    ends[0] = asked->question.min_executors <= most ? asked->question.min_executors : 0;
    ends[1] = asked->question.max_executors <= most ? asked->question.max_executors : 0;
}

enum pv_code advice_curve_replay(const struct config *config,
                                 const struct codec_advice_request *asked,
                                 const struct run runs[],
                                 size_t n,
                                 struct arena *arena,
                                 struct curve *curve,
                                 struct pv_error *err)
{
    struct curve_question question;
    enum pv_code code = set_question(config, asked, runs[0].problem_size,
                                     runs[0].cores_per_executor, &question, err);
    if (code != PV_OK)
        return code;
    int64_t most = most_executors(config, question.cores_per_executor);
    int64_t ends[2];
    set_ends(asked, most, ends);
    size_t room = affordable_points(config, runs, n, question.problem_size);
    struct arena scratch;
    arena_init(&scratch, (size_t)config->request_memory_bytes_max);
    code = predict_within_budget(&question, ends, most, room, runs, n, arena, &scratch, curve, err);
    arena_fini(&scratch);
    return code;
}

/* --- replay or model --- */

/* Models know executors, not their cores: only runs on executors like those asked for count. */
static struct observation *observe(const struct run_duration_list *list,
                                   const unsigned of[],
                                   int64_t cores_per_executor,
                                   struct arena *arena,
                                   size_t *n)
{
    struct observation *rows = arena_array(arena, list->n, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows != NULL && i < list->n; i++) {
        const struct run_duration *run = &list->items[i];
        if (run->cores_per_executor != cores_per_executor)
            continue;
        rows[*n] = model_seen((double)run->problem_size, (double)run->executors, run->duration_s,
                              run->initialization_s);
        rows[*n].context = of == NULL ? 0 : of[i];
        rows[(*n)++].weight = run->weight;
    }
    return rows;
}

/* Of the context that is asked about; NULL: there is none. */
static const struct run_duration *find_latest(const struct run_duration_list *list,
                                              const unsigned of[])
{
    for (size_t i = 0; i < list->n; i++)
        if (of == NULL || of[i] <= 1)
            return &list->items[i];
    return NULL;
}

enum pv_code advice_curve_choose(const struct config *config,
                                 const struct codec_advice_request *asked,
                                 const struct run_duration_list *durations,
                                 const unsigned of[],
                                 bool has_replay,
                                 struct history_item *item,
                                 struct pv_error *err)
{
    struct curve_question question;
    const struct run_duration *latest = find_latest(durations, of);
    int64_t size = has_replay ? item->curve.problem_size
                              : (latest == NULL ? RUN_UNKNOWN : latest->problem_size);
    int64_t cores = has_replay ? item->curve.cores_per_executor
                               : (latest == NULL ? RUN_UNKNOWN : latest->cores_per_executor);
    enum pv_code code = set_question(config, asked, size, cores, &question, err);
    if (code != PV_OK)
        return code;
    int64_t most = most_executors(config, question.cores_per_executor);
    int64_t grid[CURVE_POINTS_MAX], ends[2];
    set_ends(asked, most, ends);
    question.executors = grid;
    question.n_executors = curve_grid(CURVE_POINTS_MAX, most, ends, 2, grid);
    struct arena scratch;
    size_t n;
    arena_init(&scratch, (size_t)config->request_memory_bytes_max);
    struct observation *rows = observe(durations, of, question.cores_per_executor, &scratch, &n);
    code = rows == NULL ? pv_no_memory(err)
                        : predictor_choose(rows, n, &question, asked->question.min_executors,
                                           asked->question.max_executors, has_replay, &item->arena,
                                           &scratch, &item->curve, &item->predictor, err);
    arena_fini(&scratch);
    return code;
}
