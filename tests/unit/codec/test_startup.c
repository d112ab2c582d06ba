/*
 * Whatever a job ran with, and whatever is asked: Spark and the platform start the job with every form
 * of the advice, or the form is refused, and that only if the caller's own values, or the platform,
 * leave no other way. What Spark demands is written here a second time, from its sources, without the
 * table of core/spark/startup_rules.c.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/rng.h"
#include "codec/advice/advice.h"
#include "codec/advice/advice_spark.h"
#include "codec/advice/rendering.h"
#include "codec/json/finding.h"
#include "codec/json/reader.h"
#include "core/advice/answer.h"
#include "core/advice/spark_advice.h"
#include "core/spark/startup_rules.h"

#define DYNAMIC "spark.dynamicAllocation."
#define EXECUTOR "spark.executor."

/* --- a configuration --- */

enum { CONF_MOST = 64 };

struct conf {
    const char *keys[CONF_MOST];
    const char *values[CONF_MOST];
    size_t n;
};

static const char *get(const struct conf *conf, const char *key)
{
    for (size_t i = 0; i < conf->n; i++)
        if (strcmp(conf->keys[i], key) == 0)
            return conf->values[i];
    return NULL;
}

/* value NULL: it is removed. */
static void put(struct conf *conf, const char *key, const char *value)
{
    size_t i = 0;
    while (i < conf->n && strcmp(conf->keys[i], key) != 0)
        i++;
    if (value == NULL && i < conf->n) {
        conf->n--;
        conf->keys[i] = conf->keys[conf->n];
        conf->values[i] = conf->values[conf->n];
    } else if (value != NULL) {
        cr_assert_lt(i, CONF_MOST);
        conf->keys[i] = key;
        conf->values[i] = value;
        conf->n += i == conf->n;
    }
}

static void put_all(struct conf *conf, const struct conf *over)
{
    for (size_t i = 0; i < over->n; i++)
        put(conf, over->keys[i], over->values[i]);
}

/* --- what Spark demands --- */

enum platform { OTHER, KUBERNETES_PODS, SERVERLESS, NODES_OF_DATABRICKS };

static bool says_true(const struct conf *conf, const char *key, bool otherwise)
{
    const char *value = get(conf, key);
    return value == NULL ? otherwise : strcasecmp(value, "true") == 0;
}

/* -2: no whole number that each platform reads alike. */
static long whole(const struct conf *conf, const char *key, long otherwise)
{
    const char *value = get(conf, key);
    if (value == NULL)
        return otherwise;
    size_t n = strspn(value, "0123456789");
    bool is_plain = n > 0 && n < 12 && value[n] == '\0' && (value[0] != '0' || n == 1);
    long number = is_plain ? strtol(value, NULL, 10) : -1;
    return number < 0 || number > 2147483647 ? -2 : number;
}

/* JavaUtils.byteStringAs; -2: Spark refuses it. */
static double bytes_of(const struct conf *conf, const char *key, double unit, double otherwise)
{
    static const char *const units[] = {"b", "k", "m", "g", "t", "p"};
    const char *value = get(conf, key);
    size_t digits = value == NULL ? 0 : strspn(value, "0123456789");
    if (value == NULL)
        return otherwise;
    if (digits == 0)
        return -2;
    double number = strtod(value, NULL);
    char suffix[4] = "";
    if (strlen(value + digits) > 2)
        return -2;
    for (size_t i = 0; value[digits + i] != '\0'; i++)
        suffix[i] = (char)(value[digits + i] | 0x20);
    if (suffix[0] == '\0')
        return number * unit;
    if (value[digits] == '.')
        return -2;
    for (size_t i = 0; i < 6; i++)
        if (suffix[0] == units[i][0] && (suffix[1] == '\0' || (suffix[1] == 'b' && i > 0)))
            return number * pow(1024, (double)i);
    return -2;
}

static double number_of(const char *text)
{
    char *end;
    double value = text == NULL ? (double)NAN : strtod(text, &end);
    return text == NULL || *end != '\0' || end == text ? (double)NAN : value;
}

static double cpus_of(const char *text)
{
    size_t n = strlen(text);
    char number[32];
    bool thousandths = n > 1 && text[n - 1] == 'm';
    (void)snprintf(number, sizeof number, "%.*s", (int)(thousandths ? n - 1 : n), text);
    return number_of(number) / (thousandths ? 1000 : 1);
}

struct version {
    const char *text;
    int at; /* 100 * major + minor; the latest if it is unknown */
};

/* ExecutorAllocationManager.validateSettings and SchedulerBackendUtils.getInitialTargetExecutorNumber */
static const char *
fault_of_allocation(const struct conf *conf, const struct version *version, enum platform platform)
{
    long least = whole(conf, DYNAMIC "minExecutors", 0);
    long most = whole(conf, DYNAMIC "maxExecutors", 2147483647);
    long initial = whole(conf, DYNAMIC "initialExecutors", least);
    long instances = whole(conf, EXECUTOR "instances", 0);
    bool service = says_true(conf, "spark.shuffle.service.enabled", false);
    bool tracking = says_true(conf, DYNAMIC "shuffleTracking.enabled", version->at >= 304);
    if (least < 0 || most < 0 || initial < 0 || instances < 0)
        return "no whole number";
    if (platform == SERVERLESS && get(conf, DYNAMIC "initialExecutors") == NULL && initial < 3)
        initial = 3;
    if (least > initial)
        initial = least;
    if (instances > initial)
        initial = instances;
    if (most == 0 || least > most || initial > most)
        return "bounds of executors";
    if (platform == SERVERLESS && most < 3)
        return "EMR Serverless begins with 3";
    if (version->at < 300 ? !service : !service && !tracking)
        return "no shuffle";
    return NULL;
}

/* ResourceUtils and ResourceProfile */
static const char *
fault_of_gpus(const struct conf *conf, const struct version *version, enum platform platform)
{
    const char *task_text = get(conf, "spark.task.resource.gpu.amount");
    long has = whole(conf, "spark.executor.resource.gpu.amount", -1);
    double takes = task_text == NULL ? 0 : number_of(task_text);
    if (version->at < 300)
        return NULL;
    if (has == -2 || !(takes >= 0))
        return "amount of GPUs";
    if (takes > (version->at >= 400 ? 1.0 : 0.5) && takes != floor(takes))
        return "fraction of a GPU";
    if (has == -1 && platform == NODES_OF_DATABRICKS)
        return NULL; /* nodes with a GPU set it */
    return takes > 0 && takes > (double)has ? "a task takes more GPUs" : NULL;
}

static const char *fault_of_memory(const struct conf *conf, const struct version *version)
{
    double heap = bytes_of(conf, EXECUTOR "memory", 1, 1073741824);
    double off_heap = bytes_of(conf, "spark.memory.offHeap.size", 1, 0);
    const char *fraction = get(conf, "spark.memory.fraction");
    const char *factor = get(conf, EXECUTOR "memoryOverheadFactor");
    const char *heap_text = get(conf, EXECUTOR "memory");
    if (heap < 0 || (version->at >= 106 && heap < 1.5 * 300 * 1048576))
        return "heap";
    if (version->at >= 106 && heap_text != NULL &&
        strspn(heap_text, "0123456789") == strlen(heap_text))
        return "heap without unit";
    if (bytes_of(conf, EXECUTOR "memoryOverhead", 1048576, 0) < 0 ||
        bytes_of(conf, EXECUTOR "pyspark.memory", 1048576, 0) < 0 || off_heap < 0)
        return "size of memory";
    if (says_true(conf, "spark.memory.offHeap.enabled", false) && off_heap == 0)
        return "no off-heap memory";
    if (version->at >= 303 && factor != NULL && !(number_of(factor) > 0))
        return "overhead factor";
    return fraction != NULL && !(number_of(fraction) > 0 && number_of(fraction) <= 1) ? "fraction"
                                                                                      : NULL;
}

static const char *fault_of_worker(const struct conf *conf)
{
    static const struct {
        long vcpus, least, most, step;
    } workers[] = {{1, 2, 8, 1}, {2, 4, 16, 1}, {4, 8, 30, 1}, {8, 16, 60, 4}, {16, 32, 120, 8}};
    bool off_heap = says_true(conf, "spark.memory.offHeap.enabled", false);
    double gib = (bytes_of(conf, EXECUTOR "memory", 1, -1) +
                  bytes_of(conf, EXECUTOR "memoryOverhead", 1048576, -1) +
                  bytes_of(conf, EXECUTOR "pyspark.memory", 1048576, 0) +
                  (off_heap ? bytes_of(conf, "spark.memory.offHeap.size", 1, 0) : 0)) /
                 1073741824;
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        if (whole(conf, EXECUTOR "cores", 0) == workers[i].vcpus)
            return gib >= (double)workers[i].least && gib <= (double)workers[i].most &&
                           fabs(remainder(gib, (double)workers[i].step)) < 1e-3
                       ? NULL
                       : "memory of a worker";
    return "cores of a worker";
}

/* NULL: Spark starts. */
static const char *fault_of(const struct conf *conf,
                            const struct version *version,
                            enum platform platform,
                            long barrier_tasks)
{
    const char *request = get(conf, "spark.kubernetes.executor.request.cores");
    const char *limit = get(conf, "spark.kubernetes.executor.limit.cores");
    long cores = whole(conf, EXECUTOR "cores", -1), cpus = whole(conf, "spark.task.cpus", 1);
    long instances = whole(conf, EXECUTOR "instances", 2);
    bool dynamic = says_true(conf, DYNAMIC "enabled", platform == SERVERLESS) &&
                   !(version->at < 200 && whole(conf, EXECUTOR "instances", 0) > 0);
    const char *fault = dynamic ? fault_of_allocation(conf, version, platform) : NULL;
    if (fault == NULL && !dynamic && instances < 1)
        fault = "instances";
    if (fault == NULL)
        fault = fault_of_memory(conf, version);
    if (fault == NULL)
        fault = fault_of_gpus(conf, version, platform);
    if (fault != NULL)
        return fault;
    if (cores == 0 || cores == -2 || cpus < 1 || (cores > 0 && cores < cpus))
        return "cores and task cpus";
    if (barrier_tasks > 0 && version->at >= 204 &&
        (dynamic || (cores > 0 && get(conf, EXECUTOR "instances") != NULL &&
                     instances * (cores / cpus) < barrier_tasks)))
        return "barrier stage";
    if (request != NULL && isnan(cpus_of(request)))
        return "request of cores";
    if (limit != NULL && platform != SERVERLESS &&
        !((request != NULL ? cpus_of(request) : (double)(cores > 0 ? cores : 0)) <= cpus_of(limit)))
        return "limit of cores";
    if (platform == KUBERNETES_PODS || platform == SERVERLESS) {
        if (says_true(conf, "spark.shuffle.service.enabled", false))
            return "no shuffle service there";
        if (dynamic && version->at < 300)
            return "no dynamic allocation there";
    }
    return NULL;
}

/* --- a job and a question, by chance --- */

static const struct {
    const char *key;
    const char *values[8];
    const char *wrong[4]; /* that only a caller would enforce */
} choices[] = {
    {DYNAMIC "enabled", {"true", "false", "TRUE", " true "}, {"yes", "1"}},
    {DYNAMIC "minExecutors", {"0", "1", "2", "8", "12"}, {"-1", "x"}},
    {DYNAMIC "initialExecutors", {"1", "3", "8", "15"}, {"1.5"}},
    {DYNAMIC "maxExecutors", {"1", "2", "4", "9", "20", "50"}, {"0"}},
    {DYNAMIC "shuffleTracking.enabled", {"true", "false"}, {"on"}},
    {EXECUTOR "instances", {"1", "2", "5", "10", "15", "007", " +2"}, {"0", "many", "4d", "1_0"}},
    {EXECUTOR "cores",
     {"1", "2", "3", "4", "5", "8", "16", "+4"},
     {"0", "2.5", "0x4", "4294967297"}},
    {EXECUTOR "memory",
     {"512m", "1g", "4g", "14G", "28g", "3000mb", " 4g "},
     {"256m", "2.5g", "4096", "1073741824"}},
    {EXECUTOR "memoryOverhead",
     {"384", "512m", "1g", "3g", " 2g "},
     {"1.5g", "x", "2147483648", "-1"}},
    {EXECUTOR "memoryOverheadFactor", {"0.1", "0.25", "0.4"}, {"0", "-1"}},
    {EXECUTOR "pyspark.memory", {"512m", "1g"}, {"half"}},
    {"spark.executor.resource.gpu.amount", {"1", "2"}, {"0.5"}},
    {"spark.kubernetes.executor.limit.cores",
     {"2", "4", "4000m", "6.5"},
     {"all", " 4 ", "+4", "0x8"}},
    {"spark.kubernetes.executor.request.cores", {"1", "1600m", "3.5"}, {"x"}},
    {"spark.memory.fraction", {"0.6", "0.75", "1"}, {"1.5", "0", "0x1"}},
    {"spark.memory.offHeap.enabled", {"true", "false"}, {"1"}},
    {"spark.memory.offHeap.size", {"1073741824", "2g"}, {"-1", "0"}},
    {"spark.shuffle.service.enabled", {"true", "false"}, {"no"}},
    {"spark.task.cpus", {"1", "2", "4", " 1"}, {"0", "16", "0.5"}},
    {"spark.task.resource.gpu.amount", {"0.25", "0.5", "1"}, {"0.7", "4"}},
};

enum { CHOICES = sizeof choices / sizeof *choices };

static const struct version versions[] = {{NULL, 9999},   {"1.6.3", 106}, {"2.4.8", 204},
                                          {"3.0.3", 300}, {"3.3.2", 303}, {"3.5.1", 305},
                                          {"4.0.0", 400}, {"4.1.0", 401}};

enum { VERSIONS = sizeof versions / sizeof *versions };

struct chance {
    struct rng rng;
};

static size_t below(struct chance *chance, size_t n)
{
    return (size_t)(rng_next(&chance->rng) % n);
}

static bool happens(struct chance *chance, double probability)
{
    return rng_uniform(&chance->rng) < probability;
}

static const char *pick(struct chance *chance, const char *const values[], size_t room)
{
    size_t n = 0;
    while (n < room && values[n] != NULL)
        n++;
    return values[below(chance, n)];
}

static void choose(struct chance *chance, double probability, double wrong, struct conf *conf)
{
    *conf = (struct conf){.n = 0};
    for (size_t i = 0; i < CHOICES; i++)
        if (happens(chance, probability))
            put(conf, choices[i].key,
                happens(chance, wrong) ? pick(chance, choices[i].wrong, 4)
                                       : pick(chance, choices[i].values, 8));
}

struct job {
    struct version version;
    struct conf ran; /* with which Spark started */
    long barrier_tasks;
    bool serverless;
    long cores; /* of an executor, recorded and recommended */
};

static void make_job(struct chance *chance, struct job *job)
{
    *job = (struct job){.version = versions[below(chance, VERSIONS)],
                        .barrier_tasks = happens(chance, 0.05) ? 8 : 0,
                        .serverless = happens(chance, 0.1)};
    job->serverless = job->serverless && job->version.at >= 302; /* that its first release has */
    do
        choose(chance, 0.3, 0, &job->ran);
    while (fault_of(&job->ran, &job->version, OTHER, job->barrier_tasks) != NULL);
    job->cores = whole(&job->ran, EXECUTOR "cores", 4);
    if (happens(chance, 0.3))
        job->cores += (long)below(chance, 5);
}

struct asked {
    char text[4096];
    bool constrains; /* other than by dynamic_allocation and max_executors */
    struct conf current, enforced;
    bool excluded[CHOICES];
};

static size_t write_conf(char *at, size_t room, const char *member, const struct conf *conf)
{
    size_t n = (size_t)snprintf(at, room, ",\"%s\":{", member);
    for (size_t i = 0; i < conf->n; i++)
        n += (size_t)snprintf(at + n, room - n, "%s\"%s\":\"%s\"", i == 0 ? "" : ",", conf->keys[i],
                              conf->values[i]);
    return n + (size_t)snprintf(at + n, room - n, "}");
}

static size_t
write_keys(struct chance *chance, char *at, size_t room, const char *member, bool chosen[])
{
    size_t n = (size_t)snprintf(at, room, ",\"%s\":[", member);
    bool any = false;
    for (size_t i = 0; i < CHOICES; i++)
        if (happens(chance, 0.1)) {
            n += (size_t)snprintf(at + n, room - n, "%s\"%s\"", any ? "," : "", choices[i].key);
            any = chosen[i] = true;
        }
    return n + (size_t)snprintf(at + n, room - n, "]");
}

/* Today's properties, with which Spark starts, too. */
static void choose_current(struct chance *chance, const struct job *job, struct conf *current)
{
    struct conf both;
    do {
        choose(chance, 0.2, 0, current);
        both = job->ran;
        put_all(&both, current);
    } while (fault_of(&both, &job->version, OTHER, job->barrier_tasks) != NULL);
}

static void make_question(struct chance *chance, const struct job *job, struct asked *asked)
{
    bool unused[CHOICES] = {false};
    size_t room = sizeof asked->text, n;
    *asked = (struct asked){.constrains = happens(chance, 0.6)};
    char *text = asked->text;
    n = (size_t)snprintf(text, room, "{\"application\":\"a\",\"constraints\":{\"min_executors\":1");
    if (happens(chance, 0.4))
        n += (size_t)snprintf(text + n, room - n, ",\"dynamic_allocation\":%s",
                              happens(chance, 0.6) ? "true" : "false");
    if (happens(chance, 0.3))
        n += (size_t)snprintf(text + n, room - n, ",\"max_executors\":%zu", 1 + below(chance, 20));
    if (asked->constrains && happens(chance, 0.3)) {
        choose_current(chance, job, &asked->current);
        n += write_conf(text + n, room - n, "current", &asked->current);
    }
    if (asked->constrains && happens(chance, 0.6)) {
        choose(chance, 0.15, 0.1, &asked->enforced);
        n += write_conf(text + n, room - n, "enforced", &asked->enforced);
    }
    if (asked->constrains && happens(chance, 0.3))
        n += write_keys(chance, text + n, room - n, "preserve", unused);
    if (asked->constrains && happens(chance, 0.3))
        n += write_keys(chance, text + n, room - n, "exclude", asked->excluded);
    (void)snprintf(text + n, room - n, "}}");
}

/* --- the advice --- */

static struct arena arena, parsing;

static int label_by_key(const void *left, const void *right)
{
    return strcmp(((const struct run_label *)left)->key.at,
                  ((const struct run_label *)right)->key.at);
}

static bool decode(const struct asked *asked, struct advice_question *question)
{
    const struct codec_bounds bounds = {.depth = 20, .values = 10000};
    const struct codec_advice_limits limits = {.run = {.stages = 10, .tasks = 10, .labels = 10},
                                               .executors = 10000,
                                               .cores = 1000000,
                                               .running = 10,
                                               .clusters = 10};
    struct codec_document body;
    struct pv_error err = {0};
    cr_assert_eq(codec_open(&body, asked->text, strlen(asked->text), &bounds, &arena, &err), PV_OK,
                 "%s: %s", asked->text, err.detail);
    codec_advice_decode(&body.top, &limits, question);
    bool good = codec_close(&body) == PV_OK;
    cr_assert(good || asked->enforced.n > 0, "%s: %s", asked->text, err.faults[0].detail);
    return good;
}

static struct strview make_document(struct chance *chance,
                                    const struct job *job,
                                    const struct advice_question *question,
                                    bool *refused)
{
    struct run_label *ran = arena_array(&arena, CONF_MOST + 1, sizeof *ran);
    struct history_prediction *prediction = arena_calloc(&arena, 1, sizeof *prediction);
    struct advice_answer *answer = arena_calloc(&arena, 1, sizeof *answer);
    struct memory_plan no_plan = {.known = false};
    struct pv_error err = {0};
    size_t n = job->ran.n, length = 0;
    int64_t cores = question->cores_per_executor >= 1 ? question->cores_per_executor : job->cores;
    int64_t most = question->goal.max_executors < 64 ? question->goal.max_executors : 64;
    cr_assert(ran != NULL && prediction != NULL && answer != NULL);
    for (size_t i = 0; i < n; i++)
        ran[i] = (struct run_label){strview_of(job->ran.keys[i]), strview_of(job->ran.values[i])};
    if (job->serverless)
        ran[n++] =
            (struct run_label){strview_of("spark.master"), strview_of("custom:emr-serverless")};
    qsort(ran, n, sizeof *ran, label_by_key);
    prediction->spark = (struct spark_before){.properties = ran,
                                              .n = n,
                                              .version = strview_of(job->version.text),
                                              .executors = 4,
                                              .cores_per_executor = job->cores,
                                              .barrier_tasks = job->barrier_tasks,
                                              .shuffle_bytes = (double)NAN};
    int64_t executors = question->goal.min_executors;
    if (executors < most)
        executors += (int64_t)below(chance, (size_t)(most - executors) + 1);
    /* bound_by_barrier in core/advice/answer.c */
    if (executors * cores < job->barrier_tasks && question->goal.max_executors >= 8)
        executors = 8;
    answer->has_spark = true;
    answer->advice.warnings.arena = &arena;
    answer->advice.recommendation.executors = executors;
    struct spark_constraints constraints = question->spark_constraints;
    constraints.max_executors = question->has_max_executors ? question->goal.max_executors : 0;
    cr_assert_eq(spark_advise(prediction, &constraints, cores, &no_plan, &arena, &answer->advice,
                              &answer->spark, &err),
                 PV_OK);
    *refused = answer->spark.refused != NULL;
    struct writer w;
    writer_init(&w, &arena);
    writer_begin_object(&w);
    writer_member_string(&w, "application", "a");
    writer_member_object(&w, "recommendation");
    writer_member_integer(&w, "cores_per_executor", cores);
    writer_end_object(&w);
    codec_advice_spark_encode(&w, answer);
    codec_findings_encode(&w, "warnings", &answer->advice.warnings);
    writer_end_object(&w);
    const char *json = writer_finish(&w, &length);
    cr_assert_not_null(json);
    return (struct strview){json, length};
}

/* --- the forms, read again --- */

static char *next_word(char **at, const char *between)
{
    char *word = *at + strspn(*at, between);
    size_t n = strcspn(word, between);
    *at = word + n + (word[n] != '\0');
    word[n] = '\0';
    return n == 0 ? NULL : word;
}

static void read_pair(char *pair, char between, struct conf *conf)
{
    char *value = strchr(pair, between);
    cr_assert_not_null(value, "%s", pair);
    *value++ = '\0';
    cr_assert_null(get(conf, pair), "%s twice", pair);
    put(conf, pair, value);
}

static void read_flags(char *text, struct conf *conf)
{
    for (char *word; (word = next_word(&text, " \n")) != NULL;) {
        cr_assert_str_eq(word, "--conf");
        read_pair(next_word(&text, " \n"), '=', conf);
    }
}

static void read_defaults(char *text, struct conf *conf)
{
    for (char *line; (line = next_word(&text, "\n")) != NULL;)
        read_pair(line, ' ', conf);
}

/* "key": "value" or key: value; null removes. */
static void read_entry(char *line, const char *section, struct conf *conf)
{
    static const struct {
        const char *section, *field, *key;
    } fields[] = {
        {"executor", "instances", EXECUTOR "instances"},
        {"executor", "cores", EXECUTOR "cores"},
        {"executor", "coreRequest", "spark.kubernetes.executor.request.cores"},
        {"executor", "coreLimit", "spark.kubernetes.executor.limit.cores"},
        {"executor", "memory", EXECUTOR "memory"},
        {"executor", "memoryOverhead", EXECUTOR "memoryOverhead"},
        {"dynamicAllocation", "enabled", DYNAMIC "enabled"},
        {"dynamicAllocation", "initialExecutors", DYNAMIC "initialExecutors"},
        {"dynamicAllocation", "minExecutors", DYNAMIC "minExecutors"},
        {"dynamicAllocation", "maxExecutors", DYNAMIC "maxExecutors"},
        {"dynamicAllocation", "shuffleTrackingEnabled", DYNAMIC "shuffleTracking.enabled"}};
    char *value = strstr(line, ": ");
    cr_assert_not_null(value, "%s", line);
    *value = '\0';
    value += 2;
    const char *key = line[0] == '"' ? line + 1 : line;
    if (line[0] == '"')
        line[strlen(line) - 1] = '\0';
    bool removes = strcmp(value, "null") == 0;
    if (value[0] == '"') {
        value++;
        value[strlen(value) - 1] = '\0';
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].section, section) == 0 && strcmp(fields[i].field, key) == 0)
            key = fields[i].key;
    cr_assert_eq(strncmp(key, "spark.", 6), 0, "%s.%s", section, key);
    /* A field counts for more than the entry, which is removed. */
    if (removes && strcmp(section, "sparkConf") == 0)
        put(conf, key, NULL);
    else
        put(conf, key, removes ? NULL : value);
}

/* Over what the object has. */
static void read_patch(char *text, struct conf *conf)
{
    const char *section = "";
    cr_assert_str_eq(next_word(&text, "\n"), "spec:");
    for (char *line; (line = next_word(&text, "\n")) != NULL;)
        if (strncmp(line, "    ", 4) == 0) {
            read_entry(line + 4, section, conf);
        } else if (strcmp(line, "  {}") != 0) {
            line[strlen(line) - 1] = '\0';
            section = line + 2;
        }
}

static void keep_members(json_t *object, struct conf *conf)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
        put(conf, arena_strdup(&parsing, key), arena_strdup(&parsing, json_string_value(value)));
}

static void read_databricks(json_t *cluster, struct conf *conf)
{
    json_t *scale = json_object_get(cluster, "autoscale");
    json_t *workers = json_object_get(cluster, "num_workers");
    cr_assert((scale == NULL) != (workers == NULL));
    if (scale == NULL)
        cr_assert_geq(json_integer_value(workers), 1);
    else
        cr_assert(json_integer_value(json_object_get(scale, "min_workers")) >= 1 &&
                  json_integer_value(json_object_get(scale, "min_workers")) <
                      json_integer_value(json_object_get(scale, "max_workers")));
    keep_members(json_object_get(cluster, "spark_conf"), conf);
    for (size_t i = 0; i < conf->n; i++)
        cr_assert(strncmp(conf->keys[i], DYNAMIC, strlen(DYNAMIC)) != 0 &&
                      strcmp(conf->keys[i], EXECUTOR "memory") != 0 &&
                      strcmp(conf->keys[i], EXECUTOR "cores") != 0,
                  "%s", conf->keys[i]);
}

static void read_step(json_t *step, struct conf *conf)
{
    json_t *words = json_object_get(json_object_get(step, "HadoopJarStep"), "Args");
    cr_assert_str_eq(json_string_value(json_array_get(words, 0)), "spark-submit");
    for (size_t i = 1; i < json_array_size(words); i += 2)
        read_pair(arena_strdup(&parsing, json_string_value(json_array_get(words, i + 1))), '=',
                  conf);
}

static void read_json(enum advice_format format, const char *text, struct conf *conf)
{
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(document, "%s", text);
    json_t *submit = json_object_get(json_object_get(document, "jobDriver"), "sparkSubmit");
    if (format == ADVICE_DATABRICKS)
        read_databricks(document, conf);
    else if (format == ADVICE_EMR)
        read_step(document, conf);
    else
        read_flags(arena_strdup(&parsing, json_string_value(
                                              json_object_get(submit, "sparkSubmitParameters"))),
                   conf);
    json_decref(document);
}

/* --- the property --- */

struct count {
    size_t invalid, rendered, refused, refused_needlessly;
};

static enum platform platform_of(enum advice_format format, const struct job *job)
{
    if (format == ADVICE_K8S || format == ADVICE_K8S_APACHE)
        return KUBERNETES_PODS;
    if (format == ADVICE_DATABRICKS)
        return NODES_OF_DATABRICKS;
    return format == ADVICE_EMR_SERVERLESS || job->serverless ? SERVERLESS : OTHER;
}

/* What another place sets, below the form. */
static void elsewhere(const struct job *job,
                      const struct asked *asked,
                      enum platform platform,
                      struct conf *conf)
{
    *conf = (struct conf){.n = 0};
    if (platform == NODES_OF_DATABRICKS)
        return;
    put_all(conf, &job->ran);
    put_all(conf, &asked->current);
    if (platform != OTHER)
        put(conf, "spark.shuffle.service.enabled", NULL);
}

static void read_form(enum advice_format format, const char *text, struct conf *conf)
{
    char *copy = arena_strdup(&parsing, text);
    cr_assert_not_null(copy);
    struct conf form = {.n = 0};
    if (format == ADVICE_K8S || format == ADVICE_K8S_APACHE)
        read_patch(copy, conf);
    else if (format == ADVICE_SPARK_SUBMIT)
        read_flags(copy, &form);
    else if (format == ADVICE_SPARK_DEFAULTS)
        read_defaults(copy, &form);
    else
        read_json(format, text, &form);
    put_all(conf, &form);
}

/* Is a key that begins so excluded? */
static bool excludes(const struct asked *asked, const char *start)
{
    for (size_t i = 0; i < CHOICES; i++)
        if (asked->excluded[i] && strncmp(choices[i].key, start, strlen(start)) == 0)
            return true;
    return false;
}

/* May the platform have no place for the job? */
static bool may_not_fit(enum platform platform, const struct job *job)
{
    return platform == SERVERLESS || (platform == KUBERNETES_PODS && job->version.at < 300) ||
           job->barrier_tasks > 0;
}

static void check_form(const struct job *job,
                       const struct asked *asked,
                       struct strview document,
                       bool refused,
                       enum advice_format format,
                       struct count *count)
{
    enum platform platform = platform_of(format, job);
    struct conf conf;
    struct strview text;
    struct pv_error err = {0};
    enum pv_code code = advice_render(document, format, true, &parsing, &text, &err);
    if (code != PV_OK) {
        cr_assert_eq(code, PV_E_CONFLICT, "%s of %.*s: %s", advice_format_names[format],
                     (int)document.n, document.at, err.detail);
        cr_assert_neq(err.detail[0], '\0');
        bool of_steps = format == ADVICE_EMR && job->serverless;
        cr_assert(asked->constrains || may_not_fit(platform, job) || of_steps, "%s of %.*s: %s",
                  advice_format_names[format], (int)document.n, document.at, err.detail);
        count->refused++;
        return;
    }
    cr_assert_not(refused);
    elsewhere(job, asked, platform, &conf);
    read_form(format, text.at, &conf);
    /* What is excluded is the caller's to fit to another platform than that of the job. */
    if ((platform == SERVERLESS || platform == KUBERNETES_PODS) && excludes(asked, ""))
        return;
    const char *fault = fault_of(&conf, &job->version, platform, job->barrier_tasks);
    if (fault == NULL && platform == SERVERLESS)
        fault = fault_of_worker(&conf);
    cr_assert_null(fault, "%s\n%s of %.*s (Spark %s):\n%s\n%s", fault, advice_format_names[format],
                   (int)document.n, document.at, job->version.text, text.at, asked->text);
    cr_assert_null(strstr(text.at, "adviceId"), "the document has no id");
    count->rendered++;
}

enum { SEEDS = 8, JOBS = 12500 };

ParameterizedTestParameters(startup, spark_starts_with_every_form)
{
    static int seeds[SEEDS] = {1, 2, 3, 4, 5, 6, 7, 8};
    return cr_make_param_array(int, seeds, SEEDS);
}

ParameterizedTest(int *seed, startup, spark_starts_with_every_form, .timeout = 240)
{
    struct chance chance = {rng_make((uint64_t)*seed, 42)};
    struct count count = {0};
    arena_init(&arena, 0);
    arena_init(&parsing, 0);
    for (size_t i = 0; i < JOBS; i++) {
        struct job job;
        struct asked asked;
        struct advice_question question;
        bool refused = false;
        arena_clear(&arena);
        make_job(&chance, &job);
        make_question(&chance, &job, &asked);
        if (!decode(&asked, &question)) {
            count.invalid++;
            continue;
        }
        struct strview document = make_document(&chance, &job, &question, &refused);
        for (int format = 0; format < ADVICE_FORMATS; format++) {
            arena_clear(&parsing);
            if (format != ADVICE_JSON && format != ADVICE_MARKDOWN)
                check_form(&job, &asked, document, refused, (enum advice_format)format, &count);
        }
    }
    arena_fini(&parsing);
    arena_fini(&arena);
    /* Most questions are answered, and each way of refusing occurs. */
    cr_expect(count.rendered > 4 * JOBS && count.refused > JOBS / 10 && count.invalid > JOBS / 100,
              "%zu rendered, %zu refused, %zu invalid", count.rendered, count.refused,
              count.invalid);
}
