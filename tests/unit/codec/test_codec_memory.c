/*
 * The k-th allocation fails, for k = 1, 2, ... until a request is decoded, its answer computed and
 * encoded. Requests are the seeds of the fuzz targets (CORPUS) and a few of what has no target.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/access/access.h"
#include "codec/advice/advice.h"
#include "codec/clusters/cluster.h"
#include "codec/clusters/cluster_samples.h"
#include "codec/clusters/price_book.h"
#include "codec/clusters/price_csv.h"
#include "codec/deadlines/contention.h"
#include "codec/deadlines/control.h"
#include "codec/deadlines/feasibility.h"
#include "codec/deadlines/stage_plan.h"
#include "codec/geo/copy_plan.h"
#include "codec/geo/simulation.h"
#include "codec/geo/wfformat.h"
#include "codec/history/application.h"
#include "codec/history/name_rules.h"
#include "codec/history/run.h"
#include "codec/kubernetes/admission_question.h"
#include "codec/kubernetes/spark_patch.h"
#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "codec/models/refit.h"
#include "codec/scheduling/slot_decision.h"
#include "codec/scheduling/slot_plan.h"
#include "codec/scheduling/slots_simulation.h"
#include "codec/scheduling/speculation.h"
#include "codec/scheduling/tasks_simulation.h"
#include "codec/webhooks/webhook.h"
#include "core/advice/advise.h"
#include "core/control/explain.h"
#include "core/deadline/explain.h"
#include "core/geo/plan_make.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/selection/selection.h"
#include "core/scaling/uncertainty/bootstrap.h"
#include "failing_malloc.h"
#include "two_jobs.h"

enum { BODY_MAX = 1 << 16 };

static void set_up(void)
{
    gsl_set_error_handler_off();
}
TestSuite(codec_memory, .init = set_up, .timeout = 300);

/* What is done with a decoded body: PV_OK, or as err says. */
typedef enum pv_code (*handler)(const struct codec_node *top, struct pv_error *err);

struct request {
    const char *text;
    size_t n;
    handler handle;
    const uint64_t *wanted; /* what `printed` must be; NULL: anything */
};

static uint64_t printed;    /* a hash of the last reply */
static bool may_do_without; /* memory that only saves time */
static long step = 1;       /* from one allocation that fails to the next */

static enum pv_code answer(void *context)
{
    static const struct codec_bounds bounds = {.depth = 32, .values = 100000};
    const struct request *request = context;
    struct pv_error err = {0};
    struct codec_document document;
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code = codec_open(&document, request->text, request->n, &bounds, &arena, &err);
    if (code == PV_OK) {
        code = request->handle(&document.top, &err);
        enum pv_code read = codec_close(&document);
        code = code != PV_OK ? code : read;
    }
    arena_fini(&arena);
    return code == PV_OK && request->wanted != NULL && *request->wanted != printed ? PV_E_INTERNAL
                                                                                   : code;
}

static long count(const char *name, const char *text, size_t n, handler handle)
{
    struct request request = {text, n, handle, NULL};
    enum pv_code whole = answer(&request);
    uint64_t wanted = printed;
    request.wanted = &wanted;
    long allocations = failing_malloc_run(
        answer, &request, whole == PV_OK && !may_do_without ? PV_E_MEMORY : whole, step);
    cr_expect_geq(allocations, 0, "%s: %s", name, failing_malloc_complaint());
    return allocations;
}

/* A request that is answered, or has a fault. */
static long one(const char *text, handler handle)
{
    struct request request = {text, strlen(text), handle, NULL};
    cr_expect_eq(answer(&request), PV_OK, "%s", text);
    return count(text, text, strlen(text), handle);
}

static long faulty(const char *text, handler handle)
{
    struct request request = {text, strlen(text), handle, NULL};
    cr_expect_eq(answer(&request), PV_E_INVALID, "%s", text);
    return count(text, text, strlen(text), handle);
}

/* Every seed of a fuzz target; one at least must have an answer. */
static void seeds(const char *target, handler handle)
{
    char path[1024];
    static char text[BODY_MAX];
    size_t answered = 0;
    (void)snprintf(path, sizeof path, "%s/%s", CORPUS, target);
    DIR *folder = opendir(path);
    cr_assert_not_null(folder, "%s", path);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s/%s", CORPUS, target, entry->d_name);
        FILE *file = fopen(path, "rb");
        cr_assert_not_null(file, "%s", path);
        size_t n = fread(text, 1, sizeof text, file);
        (void)fclose(file);
        struct request request = {text, n, handle, NULL};
        answered += answer(&request) == PV_OK;
        cr_expect_gt(count(path, text, n, handle), 0);
    }
    (void)closedir(folder);
    cr_expect_gt(answered, 0, "%s", target);
}

static enum pv_code finish(struct writer *w, struct pv_error *err)
{
    size_t n;
    const char *text = writer_finish(w, &n);
    if (text == NULL)
        return pv_no_memory(err);
    printed = 0;
    for (size_t i = 0; i < n; i++)
        printed = printed * 31 + (unsigned char)text[i];
    return PV_OK;
}

/* --- resources --- */

static enum pv_code token(const struct codec_node *top, struct pv_error *err)
{
    struct token token;
    struct writer w;
    codec_token_decode(top, &token);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_token_encode(&w, &token);
    return finish(&w, err);
}

static enum pv_code cluster(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_cluster_limits limits = {.labels = 8, .cores = 1000};
    struct cluster cluster;
    struct writer w;
    codec_cluster_decode(top, &limits, &cluster);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_cluster_encode(&w, &cluster);
    return finish(&w, err);
}

static enum pv_code webhook(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_webhook_limits limits = {.labels = 8};
    struct webhook webhook;
    struct writer w;
    codec_webhook_decode(top, &limits, &webhook);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_webhook_encode(&w, &webhook, true);
    return finish(&w, err);
}

static enum pv_code price_book(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_price_book_limits limits = {.rows = 8};
    struct price_book book;
    struct writer w;
    size_t n;
    codec_price_book_decode(top, &limits, &book);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_price_book_encode(&w, &book, true);
    PV_TRY(finish(&w, err));
    return codec_price_csv_encode(&book, top->reader->arena, &n) == NULL ? pv_no_memory(err)
                                                                         : PV_OK;
}

static enum pv_code application(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_application_limits limits = {.labels = 8};
    struct application application;
    struct writer w;
    codec_application_decode(top, &limits, &application);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_application_encode(&w, &application, APPLICATION_LAST_RUN | APPLICATION_LAST_ADVICE);
    return finish(&w, err);
}

static enum pv_code name_rules(const struct codec_node *top, struct pv_error *err)
{
    struct codec_name_rules rules;
    struct writer w;
    codec_name_rules_decode(top, &rules);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_name_rules_encode(&w, true, rules.rules, rules.n);
    return finish(&w, err);
}

Test(codec_memory, resources)
{
    cr_expect_gt(one("{\"name\":\"ci\",\"scopes\":[\"read\",\"write\"],\"team\":\"t\"}", token), 4);
    cr_expect_gt(
        one("{\"url\":\"https://a\",\"events\":[\"run.ingested\"],\"applications\":[\"a\"],"
            "\"labels\":{\"k\":\"v\"},\"authorization\":\"x\"}",
            webhook),
        4);
    cr_expect_gt(one("{\"description\":\"d\",\"labels\":{\"a\":\"b\",\"c\":\"d\"},\"executors\":4,"
                     "\"cores_per_executor\":2,\"price_book\":\"p\",\"machine_type\":\"m\"}",
                     cluster),
                 8);
    cr_expect_gt(faulty("{\"description\":7,\"labels\":{\"a\":1},\"unknown\":2}", cluster), 4);
    cr_expect_gt(
        one("{\"currency\":\"EUR\",\"prices\":[{\"machine_type\":\"m\",\"per_executor_hour\":1},"
            "{\"cluster\":\"c\",\"per_executor_hour\":2,\"spot_per_executor_hour\":1}]}",
            price_book),
        8);
    cr_expect_gt(
        one("{\"name\":\"a\",\"description\":\"d\",\"labels\":{\"k\":\"v\"}}", application), 4);
    cr_expect_gt(
        one("{\"rules\":[{\"name\":\"r\",\"pattern\":\"a-*\",\"application\":\"a\"}]}", name_rules),
        4);
}

static enum pv_code run(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_run_limits limits = {.stages = 8, .tasks = 100, .labels = 4};
    struct run run;
    struct writer w;
    codec_run_decode(top, &limits, &run);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_run_encode(&w, &run, strview_of("a"), CODEC_RUN_STAGES | CODEC_RUN_TASKS);
    return finish(&w, err);
}

static enum pv_code run_record(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_run_limits limits = {.stages = 8, .tasks = 100, .labels = 4};
    struct run run;
    struct writer w;
    codec_run_decode_record(top, &limits, &run);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_run_encode(&w, &run, strview_of("a"), CODEC_RUN_RECORD);
    return finish(&w, err);
}

#define RUN                                                                                        \
    "{\"problem_size\":8,\"executors\":2,\"cores_per_executor\":2,\"duration_s\":20,"              \
    "\"labels\":{\"k\":\"v\"},\"stages\":[{\"id\":0,\"name\":\"s\",\"task_durations_s\":[1,2,3]}," \
    "{\"id\":1,\"parents\":[0],\"tasks\":4,\"task_duration_s\":2}]}"

Test(codec_memory, runs)
{
    cr_expect_gt(one(RUN, run), 10);
    cr_expect_gt(one(RUN, run_record), 10);
    cr_expect_gt(one("{\"duration_s\":20,\"spark_application_id\":\"a\",\"log_digest\":"
                     "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                     "\"spark_properties\":{\"spark.a\":\"1\",\"spark.b\":\"2\"},"
                     "\"warnings\":[{\"code\":\"c\",\"message\":\"m\"}]}",
                     run_record),
                 10);
    cr_expect_gt(
        faulty("{\"problem_size\":8,\"executors\":2,\"cores_per_executor\":2,\"duration_s\":20,"
               "\"stages\":[{\"id\":0,\"parents\":[1]},{\"id\":1,\"parents\":[0]}]}",
               run),
        10);
}

static enum pv_code price_csv(void *context)
{
    const struct request *request = context;
    struct pv_error err = {0};
    struct price_book book;
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code = codec_price_csv_decode((struct strview){request->text, request->n}, NULL,
                                               100, &arena, &book, &err);
    arena_fini(&arena);
    return code;
}

Test(codec_memory, price_csv)
{
    static const char text[] = "machine_type,per_executor_hour,currency\r\n\"m,1\",0.5,EUR\r\n"
                               "m2,0.25,EUR\r\n";
    struct request request = {text, sizeof text - 1, NULL, NULL};
    cr_expect_eq(price_csv(&request), PV_OK);
    cr_expect_gt(failing_malloc_run(price_csv, &request, PV_E_MEMORY, 1), 2);
}

static enum pv_code samples(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_cluster_samples_limits limits = {
        .samples = 64, .now_us = INT64_C(1728000000000000), .ahead_us = INT64_C(86400000000)};
    struct codec_cluster_samples samples;
    (void)err;
    codec_cluster_samples_decode(top, strview_of("eu"), &limits, &samples);
    return codec_result(top->reader);
}

Test(codec_memory, cluster_samples)
{
    seeds("cluster_samples", samples);
}

/* --- Kubernetes --- */

static enum pv_code admission(const struct codec_node *top, struct pv_error *err)
{
    struct admission_review review;
    struct spark_property property = {"spark.executor.cores", "7"};
    const struct spark_configuration advised = {.properties = &property, .n = 1};
    struct writer w;
    size_t n = 0;
    codec_admission_review_decode(top, &review);
    PV_TRY(codec_result(top->reader));
    if (review.concern != REVIEW_ASKS)
        return PV_OK;
    writer_init(&w, top->reader->arena);
    codec_admission_question_encode(&w, &review, true);
    if (writer_finish(&w, &n) == NULL)
        return pv_no_memory(err);
    writer_init(&w, top->reader->arena);
    (void)spark_patch_encode(&w, &review.object, &advised, NULL, 0, "id");
    const char *patch = writer_finish(&w, &n);
    bool made =
        patch != NULL && spark_patch_base64(top->reader->arena, (struct strview){patch, n}) != NULL;
    return made ? PV_OK : pv_no_memory(err);
}

Test(codec_memory, admission_review)
{
    seeds("admission_review", admission);
}

/* --- deadlines --- */

static enum pv_code
feasibility_beside(const struct codec_node *top, struct arena *scratch, struct pv_error *err)
{
    static const struct codec_job_set_limits limits = {
        .jobs = 8, .stages = 8, .tasks = 300, .cores = 64};
    struct codec_feasibility asked;
    struct edf_outcome outcomes[8];
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct edf_changes changes;
    struct edf_job_delays delays[8];
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_feasibility_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    for (size_t i = 0; i < asked.set.n_jobs; i++)
        if (asked.set.sources[i].application.at != NULL)
            return PV_OK;
    if (asked.set.cluster.at != NULL)
        asked.set.cores = 3;
    if (codec_feasibility_take_memory(&asked, NULL) != PV_OK)
        return PV_OK;
    PV_TRY(edf_schedule(asked.set.jobs, asked.set.n_jobs, asked.set.cores, scratch, outcomes,
                        &metrics, NULL, err));
    PV_TRY(edf_find_remedies(asked.set.jobs, asked.set.n_jobs, asked.set.cores, 20000, arena,
                             scratch, &remedies, err));
    PV_TRY(edf_find_changes(asked.set.jobs, asked.set.n_jobs, asked.set.cores, remedies.deadlines_s,
                            2000, arena, scratch, &changes, err));
    PV_TRY(edf_find_delays(asked.set.jobs, asked.set.n_jobs, asked.set.cores, outcomes, arena,
                           scratch, delays, err));
    writer_init(&w, arena);
    writer_begin_object(&w);
    const struct codec_feasibility_answer answer = {outcomes, &metrics, &remedies, &changes,
                                                    delays};
    codec_feasibility_encode(&w, &asked, &answer);
    writer_end_object(&w);
    return finish(&w, err);
}

static enum pv_code feasibility(const struct codec_node *top, struct pv_error *err)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    enum pv_code code = feasibility_beside(top, &scratch, err);
    arena_fini(&scratch);
    return code;
}

static enum pv_code stage_plan(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_stage_plan_limits limits = {
        .stages = 16, .tasks = 100, .cores = 100000};
    struct codec_stage_plan asked;
    struct stage_plan plan;
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_stage_plan_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    if (asked.stages == NULL)
        return PV_OK;
    if (isnan(asked.terms.executors))
        asked.terms.executors = 3;
    if (isnan(asked.terms.cores_per_executor))
        asked.terms.cores_per_executor = 2;
    PV_TRY(stage_plan_make(&asked.terms, asked.stages, asked.n_stages, arena, &plan, err));
    writer_init(&w, arena);
    writer_begin_object(&w);
    codec_stage_plan_encode(&w, &plan);
    writer_end_object(&w);
    return finish(&w, err);
}

static enum pv_code contention(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_contention_limits limits = {.applications = 32, .cores = 1e6};
    struct codec_contention asked;
    struct contention_share shares[32];
    struct contention_outcome outcome;
    struct arena *arena = top->reader->arena;
    struct findings reasons = {.arena = arena};
    struct writer w;
    codec_contention_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    if (isnan(asked.terms.max_cores))
        asked.terms.max_cores = 12;
    PV_TRY(contention_resolve(asked.strategy, &asked.terms, asked.applications, asked.n, arena,
                              shares, &outcome, err));
    contention_explain(asked.strategy, &asked.terms, &outcome, &reasons);
    if (reasons.failed)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_contention_encode(&w, &asked, shares, &outcome, &reasons);
    return finish(&w, err);
}

/* One run with its penalties, and a search from it. */
static enum pv_code recommend(const struct codec_control *asked,
                              const struct control_model *model,
                              const struct control_run *run,
                              struct codec_control_recommendation *made,
                              struct arena *arena,
                              struct pv_error *err)
{
    static struct control_score score;
    static struct control_score baselines[CONTROL_BASELINES];
    static struct control_found found;
    static struct findings reasons;
    const struct control_problem problem = {
        asked->set.jobs,           asked->terms,   asked->stakes,
        asked->set.n_jobs,         model->cluster, asked->options,
        (size_t)asked->repetitions};
    const struct control_point point = {run->strategy, run->gamma, (double)NAN, 50, 12};
    const struct control_comparison of = {&problem, &asked->sent[0].sent.name, &point, &score, 1,
                                          baselines};
    const struct control_search terms = {asked->search.over, (size_t)asked->search.simulations};
    struct control_effort effort = {.steps_max = 1e6};
    reasons = (struct findings){.arena = arena};
    bool room = control_score_init(&score, &problem, arena);
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        room = room && control_score_init(&baselines[i], &problem, arena);
    if (!room)
        return pv_no_memory(err);
    PV_TRY(control_score_points(&problem, &point, 1, 0, &effort, arena, &score, baselines, err));
    *made = (struct codec_control_recommendation){&score,   baselines, control_choose(&score, 1),
                                                  &reasons, &found,    &reasons};
    PV_TRY(control_search_run(&problem, &terms, &point, &score, 1, &effort, arena, arena, &found,
                              err));
    control_explain_choice(&of, &made->choice, &reasons);
    control_explain_found(&of, &made->choice, &found, &reasons);
    return findings_check(&reasons, err);
}

/* One simulation with its trace, and the baselines. */
static enum pv_code control(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_control_limits limits = {
        {.jobs = 4, .stages = 4, .tasks = 100, .cores = 64}, .repetitions = 2, .simulations = 4};
    struct arena *arena = top->reader->arena;
    struct codec_control *asked = arena_calloc(arena, 1, sizeof *asked);
    struct control_run run = {&contention_strategies[0], 1, 1e6};
    struct control_result result;
    struct control_result baselines[CONTROL_BASELINES];
    struct control_trace trace;
    struct control_model model;
    struct codec_control_recommendation recommendation;
    struct findings best = {.arena = arena};
    struct findings warnings = {.arena = arena};
    struct writer w;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_control_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    const struct control_cluster cluster = {(size_t)asked->set.size.executors,
                                            (size_t)asked->set.size.cores_per_executor};
    PV_TRY(control_model_make(asked->set.jobs, asked->terms, asked->set.n_jobs, &cluster,
                              &asked->options, arena, &model, err));
    if (!control_trace_init(&trace, model.plan.n_jobs, model.plan.n_stages, 8,
                            control_model_start_s(&model), 1, arena))
        return pv_no_memory(err);
    PV_TRY(control_simulate(&model, &run, NULL, &trace, arena, arena, &result, err));
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        PV_TRY(control_baseline_run(&control_baselines[i], &model, NULL, arena, arena,
                                    &baselines[i], err));
    size_t first = control_explain_best(&run, &result, 1, &best);
    control_explain_warnings(&asked->set.sources[0].name, &model, &warnings);
    PV_TRY(findings_check(&best, err));
    PV_TRY(findings_check(&warnings, err));
    if (asked->stakes != NULL)
        PV_TRY(recommend(asked, &model, &run, &recommendation, arena, err));
    const struct codec_control_result reply = {asked,
                                               &model,
                                               &run,
                                               1,
                                               &result,
                                               &trace,
                                               baselines,
                                               &best,
                                               first,
                                               &warnings,
                                               asked->stakes == NULL ? NULL : &recommendation};
    writer_init(&w, arena);
    codec_control_encode(&w, asked);
    codec_control_result_encode(&w, &reply);
    return finish(&w, err);
}

Test(codec_memory, control_simulations)
{
    cr_expect_gt(
        one("{\"cluster\":{\"executors\":2,\"cores_per_executor\":2},\"jobs\":[{\"name\":"
            "\"A\",\"deadline_s\":3,\"stages\":[{\"id\":0,\"tasks\":9,\"task_duration_s\":"
            "2},{\"id\":1,\"parents\":[0],\"task_durations_s\":[1,2]}]}],\"duration_noise\":"
            "0.1,\"actuation_delay_s\":0.5}",
            control),
        20);
    cr_expect_gt(one("{\"cluster\":{\"executors\":1,\"cores_per_executor\":2},\"jobs\":[{\"name\":"
                     "\"A\",\"deadline_s\":3,\"weight\":2,\"stages\":[{\"id\":0,\"tasks\":9,"
                     "\"task_duration_s\":2}]}],\"duration_noise\":0.1,\"penalty\":\"fair\","
                     "\"repetitions\":2,\"search\":{\"simulations\":4}}",
                     control),
                 20);
    cr_expect_gt(faulty("{\"cluster\":{\"executors\":2},\"jobs\":[],\"gammas\":[2]}", control), 2);
}

Test(codec_memory, deadlines)
{
    seeds("feasibility", feasibility);
    seeds("stage_plan", stage_plan);
    seeds("contention", contention);
}

/* --- geo --- */

static enum pv_code copy_plan(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_copy_plan_limits limits = {
        .clusters = 6, .jobs = 4, .tasks = 16, .points = 8};
    struct codec_copy_plan asked;
    struct geo_plan plan;
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_copy_plan_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    if (asked.n_registered > 0)
        return PV_OK;
    if (isnan(asked.problem.slot_s))
        asked.problem.slot_s = 1;
    asked.load = geo_system_load_measure(&asked.problem);
    asked.epsilon_is_auto = geo_parameters_are_automatic(&asked.parameters);
    geo_parameters_resolve(&asked.parameters, &asked.problem);
    PV_TRY(geo_plan_make(&asked.problem, &asked.parameters, NULL, NULL, arena, &plan, err));
    writer_init(&w, arena);
    codec_copy_plan_encode(&w, &asked, &plan);
    return finish(&w, err);
}

static enum pv_code wfformat(const struct codec_node *top, struct pv_error *err)
{
    static const size_t clusters[] = {2, 5};
    static const struct geosim_stores stores = {clusters, 2};
    static const struct geosim_scaling scaling = {.work = 0.5, .bytes = 10};
    struct strview names[16];
    struct codec_operations operations = {.names = names, .most = 16};
    struct geosim_recording recording;
    struct rng rng = rng_make(1, 1);
    codec_wfformat_decode(top, 64, &operations, &recording);
    PV_TRY(codec_result(top->reader));
    return geosim_recording_place(&recording, &scaling, &stores, &rng, top->reader->arena) == NULL
               ? pv_no_memory(err)
               : PV_OK;
}

static enum pv_code simulation(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_simulation_limits limits = {.workflows = 10,
                                                          .tasks = 10000,
                                                          .workflow_tasks = 1000,
                                                          .clusters = 10,
                                                          .runs = 100,
                                                          .task_runs = 1000000,
                                                          .templates = 2,
                                                          .operations = 8};
    struct codec_simulation *asked = arena_calloc(top->reader->arena, 1, sizeof *asked);
    struct writer w;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_simulation_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_simulation_encode(&w, asked);
    return finish(&w, err);
}

Test(codec_memory, geo)
{
    may_do_without = true; /* speeds that are computed again (core/geo/rates.c) */
    seeds("copy_plan", copy_plan);
    may_do_without = false;
    seeds("wfformat", wfformat);
    cr_expect_gt(one("{\"kind\":\"geo\",\"policies\":[{\"policy\":\"flutter\"}],\"arrival_rates_"
                     "per_s\":[0.05]}",
                     simulation),
                 2);
}

/* --- schedulers --- */

static const struct codec_comparison_limits comparison_limits = {.workload = &two_jobs,
                                                                 .jobs = 10,
                                                                 .splits = 10000,
                                                                 .tasks = 200,
                                                                 .runs = 100,
                                                                 .task_runs = 10000,
                                                                 .probes_per_task = 5,
                                                                 .job_rows = 1000,
                                                                 .memory_bytes = (size_t)1 << 30,
                                                                 .search_task_runs = 2000,
                                                                 .search_task_runs_max = 2000};

/* Candidates that are the better the later they come. */
static enum pv_code search_for(const struct codec_comparison *common,
                               struct policy_search_plan *plan,
                               struct arena *arena,
                               struct policy_search_found **found,
                               struct pv_error *err)
{
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    *found = arena_array(arena, loads, sizeof **found);
    plan->budget = (double)common->search.task_runs / (double)loads;
    plan->error_chance = common->search.error_chance;
    for (size_t l = 0; *found != NULL && l < loads; l++) {
        struct policy_search *search = policy_search_begin(plan, arena);
        struct policy_search_batch batch;
        while (search != NULL && policy_search_next(search, &batch)) {
            double *values = arena_array(arena, batch.n, sizeof *values);
            if (values == NULL)
                return pv_no_memory(err);
            for (size_t i = 0; i < batch.n; i++)
                values[i] = 1000 - (double)batch.cells[i].candidate;
            policy_search_give(search, values);
        }
        if (search == NULL || !policy_search_conclude(search, arena, &(*found)[l]))
            return pv_no_memory(err);
    }
    return *found != NULL ? PV_OK : pv_no_memory(err);
}

static enum pv_code search_slots(const struct codec_slots_simulation *asked,
                                 struct slots_comparison *comparison,
                                 struct arena *arena,
                                 struct policy_search_found **found,
                                 struct pv_error *err)
{
    struct policy_search_plan plan;
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    if (!slots_search_plan(comparison, &asked->tried, arena, &plan))
        return pv_no_memory(err);
    PV_TRY(search_for(&asked->common, &plan, arena, found, err));
    comparison->found =
        slots_search_best(&asked->tried, *found, policy_comparison_loads(&comparison->plan), arena);
    return comparison->found != NULL ? PV_OK : pv_no_memory(err);
}

static enum pv_code search_tasks(struct codec_tasks_simulation *asked,
                                 struct tasks_comparison *comparison,
                                 struct arena *arena,
                                 struct policy_search_found **found,
                                 struct pv_error *err)
{
    struct policy_search_plan plan;
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    if (!tasks_search_plan(&asked->model, &asked->tried, asked->common.n_loads > 0, arena, &plan))
        return pv_no_memory(err);
    PV_TRY(search_for(&asked->common, &plan, arena, found, err));
    comparison->found =
        tasks_search_best(&asked->tried, *found, policy_comparison_loads(&comparison->plan), arena);
    if (comparison->found == NULL)
        return pv_no_memory(err);
    asked->draws[asked->common.n_policies] = tasks_terms_draw(&comparison->found[0]);
    return PV_OK;
}

static enum pv_code slots_simulation(const struct codec_node *top, struct pv_error *err)
{
    struct arena *arena = top->reader->arena;
    struct codec_slots_simulation *asked = arena_calloc(arena, 1, sizeof *asked);
    struct slots_comparison comparison;
    struct policy_search_found *found;
    struct writer w;
    size_t n;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_slots_simulation_decode(top, &comparison_limits, asked);
    PV_TRY(codec_result(top->reader));
    PV_TRY(two_jobs_load_slots(asked, arena, err));
    PV_TRY(codec_slots_simulation_take(asked, arena, &comparison, err));
    PV_TRY(search_slots(asked, &comparison, arena, &found, err));
    double *runtime_s = arena_array(arena, asked->n_jobs, sizeof *runtime_s);
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct slots_cell *made = arena_calloc(arena, n, sizeof *made);
    if (runtime_s == NULL || cells == NULL || made == NULL)
        return pv_no_memory(err);
    comparison.runtime_s = runtime_s;
    PV_TRY(slots_runtimes_alone(&comparison.cluster, comparison.jobs, comparison.n_jobs, NULL,
                                arena, runtime_s, err));
    for (size_t i = 0; i < n; i++) {
        struct slots_detail *detail = arena_calloc(arena, 1, sizeof *detail);
        if (detail == NULL)
            return pv_no_memory(err);
        detail->queues = arena_calloc(arena, 1, sizeof *detail->queues);
        detail->distribution = arena_calloc(arena, 1, sizeof *detail->distribution);
        if (detail->queues == NULL || detail->distribution == NULL)
            return pv_no_memory(err);
        made[i].detail = detail;
        PV_TRY(slots_comparison_run(&comparison, &cells[i], NULL, arena, &made[i], err));
    }
    const struct codec_slots_result result = {
        asked, &comparison,
        slots_comparison_conclude(&comparison, made, asked->common.objective, arena), found};
    if (result.loads == NULL)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_slots_simulation_encode(&w, asked);
    writer_end_line(&w);
    codec_slots_result_encode(&w, &result);
    return finish(&w, err);
}

static enum pv_code tasks_simulation(const struct codec_node *top, struct pv_error *err)
{
    struct arena *arena = top->reader->arena;
    struct codec_tasks_simulation *asked = arena_calloc(arena, 1, sizeof *asked);
    struct writer w;
    size_t n;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_tasks_simulation_decode(top, &comparison_limits, asked);
    PV_TRY(codec_result(top->reader));
    PV_TRY(two_jobs_load_tasks(asked, arena, err));
    struct tasks_comparison comparison = codec_tasks_simulation_take(asked);
    struct policy_search_found *found;
    PV_TRY(search_tasks(asked, &comparison, arena, &found, err));
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct tasks_cell *made = arena_calloc(arena, n, sizeof *made);
    if (cells == NULL || made == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct tasks_detail *detail = arena_calloc(arena, 1, sizeof *detail);
        if (detail == NULL)
            return pv_no_memory(err);
        detail->queues = arena_calloc(arena, 1, sizeof *detail->queues);
        detail->distributions = arena_calloc(arena, TASKS_CLASSES, sizeof *detail->distributions);
        if (detail->queues == NULL || detail->distributions == NULL)
            return pv_no_memory(err);
        made[i].detail = detail;
        PV_TRY(tasks_comparison_run(&comparison, &cells[i], NULL, arena, &made[i], err));
    }
    const struct codec_tasks_result result = {
        asked, &comparison,
        tasks_comparison_conclude(&comparison, made, asked->common.objective, arena), found};
    if (result.loads == NULL)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_tasks_simulation_encode(&w, asked);
    writer_end_line(&w);
    codec_tasks_result_encode(&w, &result);
    return finish(&w, err);
}

static enum pv_code scheduler_simulation(const struct codec_node *top, struct pv_error *err)
{
    static const char *const kinds[] = {"slots", "tasks", NULL};
    size_t kind = codec_choice(top, "kind", CODEC_REQUIRED, kinds, 2);
    return kind == 0   ? slots_simulation(top, err)
           : kind == 1 ? tasks_simulation(top, err)
                       : codec_result(top->reader);
}

static enum pv_code speculation(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_speculation_limits limits = {
        .nodes = 40, .tasks = 100, .types = 12, .auto_nodes = 30};
    struct arena *arena = top->reader->arena;
    struct findings warnings = {.arena = arena};
    struct codec_speculation asked;
    struct speculation_gaps gaps;
    struct node_levels levels;
    struct esplash_decision esplash;
    struct late_decision late;
    struct writer w;
    codec_speculation_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    PV_TRY(speculation_find_gaps(&asked.cluster, arena, &gaps, err));
    writer_init(&w, arena);
    if (asked.kind == CODEC_SPECULATION_LATE) {
        PV_TRY(late_decide(&asked.cluster, arena, &late, err));
        codec_speculation_warn(&asked, NULL, &gaps, &warnings);
        codec_late_encode(&w, &asked, &late, &warnings);
        return finish(&w, err);
    }
    if (asked.level != NULL)
        levels = node_levels_given(asked.level, asked.n_nodes);
    else
        PV_TRY(node_levels_find(&asked.cluster, asked.level_count, arena, &levels, err));
    PV_TRY(esplash_decide(&asked.cluster, &levels, &asked.terms, arena, &esplash, err));
    codec_speculation_warn(&asked, &levels, &gaps, &warnings);
    codec_esplash_encode(&w, &asked, &levels, &esplash, &warnings);
    return finish(&w, err);
}

static enum pv_code slot_plan(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_slot_plan_limits limits = {.jobs = 10, .splits = 1000};
    static const struct run_source source = {.problem_size = 8, .executors = 2};
    static const struct codec_slot_profile profile = {
        .tasks = {40, 2, 10, 3}, .runs = &source, .n_runs = 1, .graph_changed = true};
    struct arena *arena = top->reader->arena;
    struct findings warnings = {.arena = arena};
    struct codec_slot_plan asked;
    struct fresh_plan_terms terms;
    struct fresh_plan plan;
    struct writer w;
    codec_slot_plan_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    for (size_t i = 0; i < asked.n_jobs; i++)
        if (asked.jobs[i].application.at != NULL)
            asked.jobs[i].profile = &profile;
    PV_TRY(codec_slot_plan_take(&asked, arena, &terms, err));
    PV_TRY(fresh_plan_make(&terms, arena, &plan, err));
    codec_slot_plan_warn(&asked, &plan, &warnings);
    writer_init(&w, arena);
    codec_slot_plan_encode(&w, &asked, &plan, &warnings);
    return finish(&w, err);
}

/* Decoded alone: what is decided with needs no memory, or is the core's. */
static enum pv_code slot_decision(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_slot_decision_limits limits = {.jobs = 10};
    struct codec_slot_decision asked;
    (void)err;
    codec_slot_decision_decode(top, &limits, &asked);
    return codec_result(top->reader);
}

Test(codec_memory, schedulers)
{
    seeds("scheduler_simulation", scheduler_simulation);
    seeds("slot_plan", slot_plan);
    seeds("slot_decision", slot_decision);
    seeds("speculation", speculation);
}

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
    return finish(&w, err);
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
    return finish(&w, err);
}

Test(codec_memory, models)
{
    step = 17; /* a selection has thousands */
    seeds("model_fit", fit);
    step = 1;
    cr_expect_gt(one("{\"model\":\"ernest\",\"parameters\":{\"a\":{\"estimate\":12},\"b\":{"
                     "\"estimate\":3.5},"
                     "\"c\":{\"estimate\":1.25},\"d\":{\"estimate\":0.4}},\"uncertainty\":null,"
                     "\"points\":[{\"problem_size\":8,\"executors\":2}]}",
                     predict),
                 4);
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

Test(codec_memory, bootstrap)
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
    PV_TRY(curve_predict(profiles, 2, &question, arena, arena, &curve, err));
    return advise(&curve, &wanted, arena, &advice, err);
}

Test(codec_memory, advice)
{
    cr_expect_gt(one(RUN, advice), 30);
}
