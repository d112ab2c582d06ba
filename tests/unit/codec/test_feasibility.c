#include "codec/deadlines/feasibility.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

static const struct codec_job_set_limits limits = {
    .jobs = 3, .stages = 4, .tasks = 20000, .cores = 1000};

struct answer {
    enum pv_code code;
    struct pv_error err;
    json_t *json;
};

static bool add_row(void *context, const struct edf_placement *placement)
{
    void **both = context;
    codec_feasibility_encode_placement(both[0], both[1], placement);
    return true;
}

static void encode(struct codec_feasibility *asked, struct arena *arena, struct answer *answer)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    struct edf_outcome outcomes[8];
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct edf_changes changes;
    struct edf_job_delays delays[8];
    struct writer w;
    writer_init(&w, arena);
    void *both[] = {&w, asked};
    const struct edf_observer observer = {add_row, both};
    cr_assert_leq(asked->set.n_jobs, sizeof outcomes / sizeof *outcomes);
    cr_assert_eq(edf_schedule(asked->set.jobs, asked->set.n_jobs, asked->set.cores, &scratch,
                              outcomes, &metrics, NULL, &answer->err),
                 PV_OK);
    cr_assert_eq(edf_find_remedies(asked->set.jobs, asked->set.n_jobs, asked->set.cores, 1000000,
                                   arena, &scratch, &remedies, &answer->err),
                 PV_OK);
    writer_begin_object(&w);
    bool late = metrics.delayed > 0;
    if (asked->with_all_remedies && late)
        cr_assert_eq(edf_find_changes(asked->set.jobs, asked->set.n_jobs, asked->set.cores,
                                      remedies.deadlines_s, 100000, arena, &scratch, &changes,
                                      &answer->err),
                     PV_OK);
    if (asked->with_delays && late)
        cr_assert_eq(edf_find_delays(asked->set.jobs, asked->set.n_jobs, asked->set.cores, outcomes,
                                     arena, &scratch, delays, &answer->err),
                     PV_OK);
    const struct codec_feasibility_answer found = {
        .outcomes = outcomes,
        .metrics = &metrics,
        .remedies = late ? &remedies : NULL,
        .changes = late && asked->with_all_remedies ? &changes : NULL,
        .delays = late && asked->with_delays ? delays : NULL,
    };
    codec_feasibility_encode(&w, asked, &found);
    if (asked->with_schedule) {
        writer_key(&w, "schedule");
        writer_begin_array(&w);
        cr_assert_eq(edf_schedule(asked->set.jobs, asked->set.n_jobs, asked->set.cores, &scratch,
                                  outcomes, &metrics, &observer, &answer->err),
                     PV_OK);
        writer_end_array(&w);
    }
    writer_end_object(&w);
    size_t n;
    const char *text = writer_finish(&w, &n);
    cr_assert_not_null(text);
    answer->json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(answer->json, "the reply is no JSON");
    arena_fini(&scratch);
}

/* Decode, compute, encode: all of the call but HTTP and the store. */
static struct answer ask(const char *body, const struct codec_job_set_limits *most)
{
    struct answer answer = {0};
    struct codec_document document;
    struct arena arena;
    arena_init(&arena, 0);
    answer.code = codec_open(&document, body, strlen(body), &bounds, &arena, &answer.err);
    if (answer.code != PV_OK) {
        arena_fini(&arena);
        return answer;
    }
    struct codec_feasibility asked;
    codec_feasibility_decode(&document.top, most, &asked);
    answer.code = codec_close(&document);
    if (answer.code == PV_OK)
        answer.code = codec_feasibility_take_memory(&asked, &answer.err);
    if (answer.code == PV_OK && asked.set.sources[0].application.at == NULL)
        encode(&asked, &arena, &answer);
    arena_fini(&arena);
    return answer;
}

static const struct pv_fault *find_fault(const struct answer *answer, const char *at)
{
    for (size_t i = 0; i < answer->err.n_faults && i < PV_FAULTS_MAX; i++)
        if (strcmp(answer->err.faults[i].at, at) == 0)
            return &answer->err.faults[i];
    return NULL;
}

/* --- faults --- */

#define CLUSTER "\"cluster\":{\"executors\":2,\"cores_per_executor\":2}"
#define STAGE "{\"id\":0,\"task_durations_s\":[1]}"
#define JOB(name, rest) "{\"name\":\"" name "\",\"deadline_s\":9," rest "}"
#define REQUEST(jobs) "{" CLUSTER ",\"jobs\":[" jobs "]}"
#define STAGES(stages) REQUEST(JOB("A", "\"stages\":[" stages "]"))
#define GOOD JOB("A", "\"stages\":[" STAGE "]")

static const struct {
    const char *body;
    const char *at;
    const char *code;
} bad[] = {
    {"{\"jobs\":[" GOOD "]}", "/cluster", "required"},
    {"{" CLUSTER "}", "/jobs", "required"},
    {REQUEST(""), "/jobs", "too_few_items"},
    {REQUEST("7"), "/jobs/0", "wrong_type"},
    {"{\"cluster\":\"\",\"jobs\":[" GOOD "]}", "/cluster", "invalid_name"},
    {"{\"cluster\":4,\"jobs\":[" GOOD "]}", "/cluster", "wrong_type"},
    {"{\"cluster\":{\"executors\":0,\"cores_per_executor\":2},\"jobs\":[" GOOD "]}",
     "/cluster/executors", "out_of_range"},
    {"{\"cluster\":{\"executors\":100,\"cores_per_executor\":11},\"jobs\":[" GOOD "]}", "/cluster",
     "out_of_range"},
    {"{\"cluster\":{\"executors\":2,\"cores_per_executor\":2.5},\"jobs\":[" GOOD "]}",
     "/cluster/cores_per_executor", "wrong_type"},
    {"{\"cluster\":{\"executors\":2,\"cores_per_executor\":2,\"name\":\"x\"},\"jobs\":[" GOOD "]}",
     "/cluster/name", "unknown_field"},
    {"{" CLUSTER ",\"jobs\":[" GOOD "],\"seed\":1}", "/seed", "unknown_field"},
    {"{" CLUSTER ",\"jobs\":[" GOOD "],\"include\":[\"all\"]}", "/include/0", "not_allowed"},
    {"{" CLUSTER ",\"jobs\":[" GOOD "],\"include\":[3]}", "/include/0", "wrong_type"},
    {"{" CLUSTER ",\"jobs\":[" GOOD "],\"include\":[\"schedule\",\"schedule\"]}", "/include/1",
     "duplicate"},
    {REQUEST(GOOD "," JOB("B", "\"stages\":[" STAGE "]") "," GOOD), "/jobs/2/name", "duplicate"},
    {REQUEST("{\"deadline_s\":9,\"stages\":[" STAGE "]}"), "/jobs/0/name", "required"},
    {REQUEST(JOB("", "\"stages\":[" STAGE "]")), "/jobs/0/name", "invalid_name"},
    {REQUEST("{\"name\":\"A\",\"stages\":[" STAGE "]}"), "/jobs/0/deadline_s", "required"},
    {REQUEST("{\"name\":\"A\",\"deadline_s\":0,\"stages\":[" STAGE "]}"), "/jobs/0/deadline_s",
     "out_of_range"},
    {REQUEST("{\"name\":\"A\",\"deadline_s\":-5,\"stages\":[" STAGE "]}"), "/jobs/0/deadline_s",
     "out_of_range"},
    {REQUEST("{\"name\":\"A\",\"deadline_s\":\"NaN\",\"stages\":[" STAGE "]}"),
     "/jobs/0/deadline_s", "wrong_type"},
    {REQUEST(JOB("A", "\"release_s\":\"soon\",\"stages\":[" STAGE "]")), "/jobs/0/release_s",
     "wrong_type"},
    {REQUEST(JOB("A", "\"overhead_per_task_s\":-1,\"stages\":[" STAGE "]")),
     "/jobs/0/overhead_per_task_s", "out_of_range"},
    {REQUEST(JOB("A", "\"priority\":1,\"stages\":[" STAGE "]")), "/jobs/0/priority",
     "unknown_field"},
    {REQUEST(JOB("A", "\"release_s\":1")), "/jobs/0/stages", "required"},
    {REQUEST(JOB("A", "\"application\":\"x\",\"stages\":[" STAGE "]")), "/jobs/0/application",
     "conflict"},
    {REQUEST(JOB("A", "\"problem_size\":4,\"stages\":[" STAGE "]")), "/jobs/0/problem_size",
     "conflict"},
    {REQUEST(JOB("A", "\"application\":\"x\",\"problem_size\":0")), "/jobs/0/problem_size",
     "out_of_range"},
    {STAGES(""), "/jobs/0/stages", "too_few_items"},
    {STAGES(STAGE "," STAGE), "/jobs/0/stages/1/id", "duplicate"},
    {STAGES("{\"id\":0}"), "/jobs/0/stages/0/task_durations_s", "required"},
    {STAGES("{\"tasks\":1,\"task_duration_s\":1}"), "/jobs/0/stages/0/id", "required"},
    {STAGES("{\"id\":0,\"tasks\":3}"), "/jobs/0/stages/0/task_duration_s", "required"},
    {STAGES("{\"id\":0,\"task_duration_s\":3}"), "/jobs/0/stages/0/tasks", "required"},
    {STAGES("{\"id\":0,\"tasks\":-3,\"task_duration_s\":1}"), "/jobs/0/stages/0/tasks",
     "out_of_range"},
    {STAGES("{\"id\":0,\"tasks\":1.5,\"task_duration_s\":1}"), "/jobs/0/stages/0/tasks",
     "wrong_type"},
    {STAGES("{\"id\":0,\"tasks\":1,\"task_duration_s\":-1}"), "/jobs/0/stages/0/task_duration_s",
     "out_of_range"},
    {STAGES("{\"id\":0,\"task_durations_s\":[1,-2]}"), "/jobs/0/stages/0/task_durations_s/1",
     "out_of_range"},
    {STAGES("{\"id\":0,\"task_durations_s\":[1],\"tasks\":1}"), "/jobs/0/stages/0/tasks",
     "conflict"},
    {STAGES("{\"id\":0,\"task_durations_s\":[1],\"skipped\":true}"), "/jobs/0/stages/0/skipped",
     "unknown_field"},
    {STAGES("{\"id\":0,\"task_durations_s\":[1],\"parents\":[3]}"), "/jobs/0/stages/0/parents/0",
     "unknown_parent"},
    {STAGES("{\"id\":0,\"task_durations_s\":[1],\"parents\":[0]}"), "/jobs/0/stages/0/parents",
     "cycle"},
    {STAGES(STAGE ",{\"id\":1,\"task_durations_s\":[1],\"parents\":[2,0]},{\"id\":2,"
                  "\"task_durations_s\":[1],\"parents\":[1]}"),
     "/jobs/0/stages/1/parents", "cycle"},
    {STAGES(STAGE ",{\"id\":1,\"task_durations_s\":[1],\"parents\":[2,0]},{\"id\":2,"
                  "\"task_durations_s\":[1],\"parents\":[1]}"),
     "/jobs/0/stages/2/parents", "cycle"},
    {STAGES(STAGE ",{\"id\":1,\"tasks\":0,\"task_duration_s\":0},{\"id\":2,\"tasks\":0,"
                  "\"task_duration_s\":0},{\"id\":3,\"tasks\":0,\"task_duration_s\":0},{\"id\":4,"
                  "\"tasks\":0,\"task_duration_s\":0}"),
     "/jobs/0/stages", "too_many_items"},
    {REQUEST(GOOD "," GOOD "," GOOD "," GOOD), "/jobs", "too_many_items"},
    {REQUEST(JOB("A", "\"stages\":[{\"id\":0,\"tasks\":15000,\"task_duration_s\":1}]") "," JOB(
         "B", "\"stages\":[{\"id\":0,\"tasks\":15000,\"task_duration_s\":1}]")),
     "/jobs/1/stages", "too_many_items"},
    {STAGES("{\"id\":0,\"tasks\":20001,\"task_duration_s\":1}"), "/jobs/0/stages/0/tasks",
     "out_of_range"},
};

/* Every fault names its member and its kind; nothing is computed then. */
Test(codec_feasibility, faults_point_at_the_member)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct answer answer = ask(bad[i].body, &limits);
        cr_assert_eq(answer.code, PV_E_INVALID, "%s", bad[i].body);
        const struct pv_fault *fault = find_fault(&answer, bad[i].at);
        cr_assert_not_null(fault, "%s: no fault at %s, first is %s %s", bad[i].body, bad[i].at,
                           answer.err.faults[0].at, answer.err.faults[0].code);
        cr_assert_str_eq(fault->code, bad[i].code, "%s", bad[i].body);
    }
}

/* One fault in a request is one fault in the answer. */
Test(codec_feasibility, a_fault_is_told_once)
{
    struct answer answer =
        ask(STAGES("{\"id\":0,\"task_durations_s\":[1],\"skippd\":true}"), &limits);
    cr_assert_eq(answer.err.n_faults, 1);
    answer = ask(STAGES("{\"id\":0}"), &limits);
    cr_assert_eq(answer.err.n_faults, 1);
}

/* Defaults: release 0, no overhead, no parents, no schedule; a job from history waits for its
 * stages. */
Test(codec_feasibility, reads_what_is_optional)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct pv_error err = {0};
    struct codec_document document;
    const char *body = REQUEST(GOOD "," JOB("B", "\"application\":\"hourly\",\"problem_size\":7"));
    cr_assert_eq(codec_open(&document, body, strlen(body), &bounds, &arena, &err), PV_OK);
    struct codec_feasibility asked;
    codec_feasibility_decode(&document.top, &limits, &asked);
    cr_assert_eq(codec_close(&document), PV_OK);
    cr_assert_eq(asked.set.cores, 4);
    cr_assert_not(asked.with_schedule);
    cr_assert_eq(asked.set.jobs[0].release_s, 0);
    cr_assert_eq(asked.set.jobs[0].overhead_per_task_s, 0);
    cr_assert_eq(asked.set.jobs[0].stages[0].n_parents, 0);
    cr_assert_null(asked.set.sources[0].application.at);
    cr_assert(strview_is(asked.set.sources[1].application, "hourly"));
    cr_assert_eq(asked.set.sources[1].problem_size, 7);
    cr_assert(isnan(asked.set.sources[1].overhead_s));
    cr_assert_eq(asked.set.jobs[1].n_stages, 0);
    cr_assert_eq(codec_job_set_tasks(&asked.set), 1);
    arena_fini(&arena);
}

/* --- stored cases --- */

static void compare(const json_t *want, const json_t *got, double tolerance, const char *where)
{
    if (json_is_object(want)) {
        const char *key;
        json_t *value;
        cr_assert(json_is_object(got), "%s", where);
        /* jansson's iteration takes no const object; nothing is changed. */
        void *at = json_object_iter((json_t *)(uintptr_t)want);
        for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)want, at)) {
            key = json_object_iter_key(at);
            value = json_object_iter_value(at);
            char deeper[200];
            (void)snprintf(deeper, sizeof deeper, "%.150s.%.40s", where, key);
            json_t *member = json_object_get(got, key);
            if (json_object_get(value, "$absent") != NULL)
                cr_assert_null(member, "%s", deeper);
            else
                compare(value, member, tolerance, deeper);
        }
    } else if (json_is_array(want)) {
        cr_assert_eq(json_array_size(want), json_array_size(got), "%s", where);
        for (size_t i = 0; i < json_array_size(want); i++)
            compare(json_array_get(want, i), json_array_get(got, i), tolerance, where);
    } else if (json_is_number(want)) {
        double x = json_number_value(want);
        cr_assert(json_is_number(got), "%s", where);
        cr_assert_float_eq(json_number_value(got), x, tolerance * fmax(1, fabs(x)), "%s", where);
    } else {
        cr_assert(json_equal(want, got), "%s", where);
    }
}

static void check_expectation(const json_t *vector, const struct answer *answer, const char *where)
{
    long long status = json_integer_value(json_object_get(vector, "status"));
    enum pv_code want = status == 400 ? PV_E_SYNTAX : status == 422 ? PV_E_INVALID : PV_OK;
    cr_assert_eq(answer->code, want, "%s", where);
    json_t *pointers = json_object_get(vector, "pointers");
    for (size_t i = 0; i < json_array_size(pointers); i++)
        cr_assert_not_null(find_fault(answer, json_string_value(json_array_get(pointers, i))), "%s",
                           where);
    if (want == PV_OK)
        compare(json_object_get(vector, "expect"), answer->json,
                json_number_value(json_object_get(vector, "tolerance")), where);
}

static void check_vector(const char *path)
{
    static const struct codec_job_set_limits wide = {100, 1000, 1000000, 100000};
    json_t *vector = json_load_file(path, 0, NULL);
    cr_assert_not_null(vector, "%s", path);
    const char *text = json_string_value(json_object_get(vector, "request_text"));
    char *body = text != NULL ? strdup(text) : json_dumps(json_object_get(vector, "request"), 0);
    struct answer answer = ask(body, &wide);
    check_expectation(vector, &answer, path);
    json_decref(answer.json);
    json_decref(vector);
    free(body);
}

static size_t check_directory(const char *below)
{
    const char *shared = getenv("PROVISOR_SHARED");
    char directory[400];
    (void)snprintf(directory, sizeof directory, "%s/golden/vectors/%s",
                   shared != NULL ? shared : "../shared", below);
    DIR *open = opendir(directory);
    if (open == NULL)
        cr_skip_test("no vectors at %s: set PROVISOR_SHARED", directory);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char path[700];
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        check_vector(path);
        n++;
    }
    closedir(open);
    return n;
}

/* The worked cases that every implementation of the call has to answer. */
Test(codec_feasibility, answers_the_golden_vectors)
{
    cr_assert_gt(check_directory("feasibility"), 0);
}

Test(codec_feasibility, refuses_the_golden_errors)
{
    cr_assert_gt(check_directory("errors/feasibility"), 0);
}
