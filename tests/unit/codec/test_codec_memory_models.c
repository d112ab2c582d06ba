/* Models of scaling, and advice by them, when memory fails. */
#include <criterion/criterion.h>
#include <math.h>

#include "codec/history/run.h"
#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "codec/models/refit.h"
#include "codec_memory.h"
#include "core/advice/advise.h"
#include "core/advice/replay_curve.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/selection/selection.h"
#include "core/scaling/uncertainty/bootstrap.h"
#include "failing_malloc.h"

TestSuite(codec_memory_models, .init = codec_memory_set_up, .timeout = 300);

/* --- models --- */

static enum pv_code fit(const struct codec_node *top, struct pv_error *err)
{
    struct codec_model_fit asked;
    struct model_fit fitted;
    struct model_selection selection;
    const struct model_fit *chosen = &fitted;
    const struct model_selection *choice = NULL;
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_model_fit_decode(top, 24, &asked);
    PV_TRY(codec_result(top->reader));
    if (asked.kind != NULL) {
        PV_TRY(model_fit(asked.kind, asked.rows, asked.n, asked.weights, arena, &fitted, err));
    } else {
        PV_TRY(model_select(asked.rows, asked.n, arena, &selection, err));
        if (selection.selected == NULL)
            return PV_OK;
        chosen = &selection.selected->fit;
        choice = &selection;
    }
    writer_init(&w, arena);
    codec_model_fit_encode(&w, chosen, choice);
    return codec_memory_finish(&w, err);
}

static enum pv_code predict(const struct codec_node *top, struct pv_error *err)
{
    struct codec_model_predict asked;
    struct writer w;
    codec_model_predict_decode(top, 64, &asked);
    PV_TRY(codec_result(top->reader));
    struct model_spread spread = model_spread(&asked.model, asked.model.uncertainty.confidence);
    writer_init(&w, top->reader->arena);
    writer_begin_array(&w);
    for (size_t i = 0; i < asked.n; i++) {
        struct model_prediction prediction;
        model_predict(&asked.model, &spread, asked.points[i].problem_size,
                      asked.points[i].executors, &prediction);
        codec_model_prediction_encode(&w, &asked.model, &asked.points[i], &prediction);
    }
    writer_end_array(&w);
    return codec_memory_finish(&w, err);
}

Test(codec_memory_models, models)
{
    codec_memory_how.step = 17; /* a selection has thousands */
    codec_memory_seeds("model_fit", fit);
    codec_memory_how.step = 1;
    cr_expect_gt(
        codec_memory_one("{\"model\":\"ernest\",\"parameters\":{\"a\":{\"estimate\":12},\"b\":{"
                         "\"estimate\":3.5},"
                         "\"c\":{\"estimate\":1.25},\"d\":{\"estimate\":0.4}},\"uncertainty\":null,"
                         "\"points\":[{\"problem_size\":8,\"executors\":2}]}",
                         predict),
        2);
}

/* Noise that is none: the same at every call. */
static void make_rows(struct observation rows[], size_t *n)
{
    *n = 0;
    for (double executors = 1; executors <= 16; executors *= 2)
        for (int i = 0; i < 2; i++)
            rows[(*n)++] = (struct observation){.problem_size = 64,
                                                .executors = executors,
                                                .duration_s = (10 + 400 / executors) *
                                                              (1 + 0.01 * sin(7 * executors + i)),
                                                .speedup = (double)NAN};
}

static enum pv_code resample(void *context)
{
    struct observation rows[16];
    struct bootstrap *bootstrap;
    struct bootstrap_result result;
    struct pv_error err = {0};
    struct arena arena;
    struct arena scratch;
    size_t n;
    make_rows(rows, &n);
    const struct bootstrap_point point = {64, 32};
    const struct bootstrap_order order = {.kind = context,
                                          .rows = rows,
                                          .n = n,
                                          .points = &point,
                                          .n_points = 1,
                                          .resamples = 2,
                                          .selections = 1,
                                          .confidence = 0.9,
                                          .seed = 1};
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    enum pv_code code = bootstrap_begin(&order, &arena, &bootstrap, &err);
    size_t steps = code == PV_OK ? bootstrap_steps(bootstrap) : 0;
    for (size_t i = 0; code == PV_OK && i < steps; i++)
        code = bootstrap_step(bootstrap, i, &scratch, &err);
    if (code == PV_OK)
        code = bootstrap_finish(bootstrap, &arena, &result, &err);
    arena_fini(&arena);
    arena_fini(&scratch);
    return code;
}

Test(codec_memory_models, bootstrap)
{
    const struct model_kind *kind = model_find_kind("ernest");
    cr_assert_not_null(kind);
    cr_expect_eq(resample((void *)(uintptr_t)kind), PV_OK);
    cr_expect_gt(failing_malloc_run(resample, (void *)(uintptr_t)kind, PV_E_MEMORY, 1), 10);
}

/* --- advice --- */

static enum pv_code advice(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_run_limits limits = {.stages = 8, .tasks = 100, .labels = 4};
    static const int64_t executors[] = {1, 2, 4, 8};
    struct run profiles[2];
    struct curve curve;
    struct advice advice;
    struct arena *arena = top->reader->arena;
    const struct curve_question question = {.problem_size = 16,
                                            .cores_per_executor = 2,
                                            .executors = executors,
                                            .n_executors = 4,
                                            .task_budget = 100000};
    const struct advise_goal wanted = {.objective = ADVISE_MIN_EXECUTORS,
                                       .deadline_s = 12,
                                       .confidence = 0.9,
                                       .min_executors = 1,
                                       .max_executors = 8,
                                       .billing = {.per_hour = 2},
                                       .max_cost = (double)NAN};
    codec_run_decode(top, &limits, &profiles[0]);
    PV_TRY(codec_result(top->reader));
    profiles[1] = profiles[0];
    profiles[1].executors = 4;
    profiles[1].duration_s = 15;
    PV_TRY(replay_curve_make(profiles, 2, &question, arena, arena, &curve, err));
    return advise(&curve, &wanted, arena, &advice, err);
}

Test(codec_memory_models, advice)
{
    cr_expect_gt(codec_memory_one(CODEC_MEMORY_RUN, advice), 30);
}
