#include "cli/commands/question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "threads/clock.h"

static const struct option_spec job[] = {
    {"size", 's', OPTION_SIZE, NULL,
     "Problem size: blocks of input (128 MiB each), or bytes with a unit; without it, that of the "
     "latest run.",
     false},
    {"deadline", 'd', OPTION_DURATION, NULL,
     "How long the job may take, such as 90s, 15m or 1h30m.", false},
    {"confidence", 'c', OPTION_SHARE, NULL, "How sure the deadline has to be met (0.95).", false},
    {"objective", 0, OPTION_CHOICE, "min_executors|min_cost|min_time|max_speedup|efficiency",
     "What decides among the executor counts that meet the deadline.", false},
    {"min-executors", 0, OPTION_COUNT, NULL, "Recommend no fewer.", false},
    {"max-executors", 0, OPTION_COUNT, NULL, "Recommend no more.", false},
    {"cores", 0, OPTION_COUNT, NULL, "Cores of an executor; without it, as the last run had.",
     false},
    {"cluster", 0, OPTION_TEXT, "NAME",
     "A registered cluster, which bounds the executors and has prices.", false},
    {"market", 0, OPTION_CHOICE, "on_demand|spot|cheapest", "Where executors are bought.", false},
    {"price", 0, OPTION_NUMBER, NULL, "Price of an executor for an hour.", false},
    {"max-cost", 0, OPTION_NUMBER, NULL, "The run may cost no more; needs a price.", false},
    {"label", 'l', OPTION_TEXT, "KEY:VALUE", "Learn from runs with this label; may be repeated.",
     true},
    {"include", 0, OPTION_TEXT, "MEMBER",
     "A further part of the answer, such as memory or autoscaling. no-MEMBER leaves a part out, "
     "such as no-stages; none leaves all parts out that are named before it. May be repeated.",
     true},
    {"request", 0, OPTION_FILE, NULL,
     "A request of POST /v1/advice as JSON or YAML, which options add to.", false},
    {"tolerance", 0, OPTION_SHARE, NULL,
     "Propose nothing that changes duration and cost by no more than this share, as long as the "
     "executors of the last "
     "run meet the deadline, too.",
     false},
    {"idempotency-key", 0, OPTION_TEXT, "KEY",
     "A text that is the same when a build is repeated: it gets the same advice.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
const struct option_group question_options = {"The job", job};

static const struct option_spec spark[] = {
    {"enforce", 0, OPTION_TEXT, "KEY=VALUE",
     "A Spark property that is to be as given; may be repeated.", true},
    {"current", 0, OPTION_TEXT, "KEY=VALUE",
     "A Spark property that the job has today, where the last run had another; may be repeated.",
     true},
    {"preserve", 0, OPTION_TEXT, "KEY", "A Spark property to leave as it is; may be repeated.",
     true},
    {"exclude", 0, OPTION_TEXT, "KEY", "A Spark property not to propose; may be repeated.", true},
    {"apply", 0, OPTION_TEXT, "KINDS",
     "Kinds of proposals to apply, with commas between them: memory, speculation, partitions; may "
     "be "
     "repeated. Other proposals are shown and not set.",
     true},
    {"dynamic-allocation", 0, OPTION_CHOICE, "true|false", "With dynamic allocation or without.",
     false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
const struct option_group spark_options = {"Spark properties", spark};

/* --- the request --- */

static bool set(struct invocation *invocation, json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0 || fail_memory(&invocation->failure);
}

/* The member of that name, made if it is not there; false where it is of another type. */
static bool
member(struct invocation *invocation, json_t *object, const char *key, bool list, json_t **found)
{
    *found = json_object_get(object, key);
    if (*found == NULL || json_is_null(*found)) {
        if (!set(invocation, object, key, list ? json_array() : json_object()))
            return false;
        *found = json_object_get(object, key);
    }
    return (list ? json_is_array(*found) : json_is_object(*found)) ||
           fail(&invocation->failure, EXIT_USAGE, "the request's member %s must be %s", key,
                list ? "a list" : "an object");
}

static json_t *number_value(double value)
{
    return floor(value) == value && fabs(value) < 9e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

/* Options that are members of the same meaning. */
struct mapped {
    const char *option;
    const char *name;
};

static bool
set_numbers(struct invocation *invocation, json_t *object, const struct mapped mapped[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (argument_given(invocation->arguments, mapped[i].option) &&
            !set(invocation, object, mapped[i].name,
                 number_value(argument_number(invocation->arguments, mapped[i].option, 0))))
            return false;
    return true;
}

static bool
set_texts(struct invocation *invocation, json_t *object, const struct mapped mapped[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = argument_text(invocation->arguments, mapped[i].option);
        if (text != NULL && !set(invocation, object, mapped[i].name, json_string(text)))
            return false;
    }
    return true;
}

/* "key:value" or "key=value" of a repeated option into an object. */
static bool set_pairs(struct invocation *invocation,
                      json_t *parent,
                      const char *option,
                      const char *key,
                      char separator)
{
    json_t *object = NULL;
    size_t at = 0;
    for (const char *text; (text = argument_next(invocation->arguments, option, &at)) != NULL;) {
        const char *end = strchr(text, separator);
        char name[1024];
        if (end == NULL || end == text || (size_t)(end - text) >= sizeof name)
            return fail(&invocation->failure, EXIT_USAGE, "--%s: '%.100s' is not KEY%cVALUE",
                        option, text, separator);
        (void)snprintf(name, sizeof name, "%.*s", (int)(end - text), text);
        if (!member(invocation, parent, key, false, &object) ||
            !set(invocation, object, name, json_string(end + 1)))
            return false;
    }
    return true;
}

static bool
add_words(struct invocation *invocation, json_t *parent, const char *option, const char *key)
{
    json_t *list = NULL;
    size_t at = 0;
    for (const char *text; (text = argument_next(invocation->arguments, option, &at)) != NULL;) {
        if (!member(invocation, parent, key, true, &list))
            return false;
        if (json_array_append_new(list, json_string(text)) != 0)
            return fail_memory(&invocation->failure);
    }
    return true;
}

static size_t index_of(const json_t *list, const char *word)
{
    size_t i = 0;
    for (const char *here; i < json_array_size(list); i++) {
        here = json_string_value(json_array_get(list, i));
        if (here != NULL && strcmp(here, word) == 0)
            break;
    }
    return i;
}

/* "memory,speculation" of a repeated option into a list, each word once. */
static bool set_apply(struct invocation *invocation, json_t *body)
{
    json_t *list = NULL;
    size_t at = 0;
    for (const char *text; (text = argument_next(invocation->arguments, "apply", &at)) != NULL;) {
        if (!member(invocation, body, "apply", true, &list))
            return false;
        for (const char *from = text; *(from += strspn(from, ", ")) != '\0';
             from += strcspn(from, ", ")) {
            char word[64];
            (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(from, ", "), from);
            if (index_of(list, word) == json_array_size(list) &&
                json_array_append_new(list, json_string(word)) != 0)
                return fail_memory(&invocation->failure);
        }
    }
    return true;
}

/* A member is added once, no-MEMBER removed, and none removes all. */
static bool change_include(json_t *list, const char *word)
{
    static const char no[] = "no-";
    const bool removes = strncmp(word, no, sizeof no - 1) == 0;
    if (strcmp(word, "none") == 0)
        return json_array_clear(list) == 0;
    const size_t at = index_of(list, removes ? word + sizeof no - 1 : word);
    const bool there = at < json_array_size(list);
    if (removes)
        return !there || json_array_remove(list, at) == 0;
    return there || json_array_append_new(list, json_string(word)) == 0;
}

/* A list replaces the default of the service, so the request names the default, changed. */
static bool set_include(struct invocation *invocation, json_t *body)
{
    static const char *const usual[] = {"alternatives", "stages", "spark"};
    const bool is_new = json_object_get(body, "include") == NULL;
    json_t *list = NULL;
    size_t at = 0;
    if (!argument_given(invocation->arguments, "include"))
        return true;
    if (!member(invocation, body, "include", true, &list))
        return false;
    bool good = true;
    for (size_t i = 0; is_new && i < sizeof usual / sizeof *usual; i++)
        good = good && change_include(list, usual[i]);
    if (is_new && json_object_get(body, "copy_plan") != NULL)
        good = good && change_include(list, "copy_plan");
    for (const char *word; (word = argument_next(invocation->arguments, "include", &at)) != NULL;)
        good = good && change_include(list, word);
    return good || fail_memory(&invocation->failure);
}

static bool set_constraints(struct invocation *invocation, json_t *body)
{
    static const struct mapped numbers[] = {{"min-executors", "min_executors"},
                                            {"max-executors", "max_executors"},
                                            {"cores", "cores_per_executor"},
                                            {"price", "price_per_executor_hour"},
                                            {"max-cost", "max_cost"}};
    static const struct mapped texts[] = {{"cluster", "cluster"}};
    const char *dynamic = argument_text(invocation->arguments, "dynamic-allocation");
    json_t *constraints;
    if (!member(invocation, body, "constraints", false, &constraints) ||
        !set_numbers(invocation, constraints, numbers, sizeof numbers / sizeof *numbers) ||
        !set_texts(invocation, constraints, texts, 1) ||
        !set_pairs(invocation, constraints, "enforce", "enforced", '=') ||
        !set_pairs(invocation, constraints, "current", "current", '=') ||
        !add_words(invocation, constraints, "preserve", "preserve") ||
        !add_words(invocation, constraints, "exclude", "exclude"))
        return false;
    return dynamic == NULL || set(invocation, constraints, "dynamic_allocation",
                                  json_boolean(strcmp(dynamic, "true") == 0));
}

static bool read_request(struct invocation *invocation, struct question *question)
{
    const char *file = argument_text(invocation->arguments, "request");
    if (file == NULL) {
        question->body = json_object();
        return question->body != NULL || fail_memory(&invocation->failure);
    }
    question->body = invocation_read_document(invocation, file);
    if (question->body == NULL)
        return false;
    return json_is_object(question->body) ||
           fail(&invocation->failure, EXIT_USAGE, "%s: the request must be an object", file);
}

static bool set_application(struct invocation *invocation, const char *application, json_t *body)
{
    if (application == NULL && invocation->arguments->n_positional > 0)
        application = invocation_word(invocation, 0);
    if (application != NULL)
        return set(invocation, body, "application", json_string(application));
    if (json_object_get(body, "application") != NULL || json_object_get(body, "profile") != NULL)
        return true;
    (void)fail(&invocation->failure, EXIT_USAGE, "the application is missing");
    return fail_next(&invocation->failure, "name it after the command; `provisor apps` lists them");
}

static void set_key(struct invocation *invocation, struct question *question)
{
    const char *key = argument_text(invocation->arguments, "idempotency-key");
    char made[37];
    clock_uuid7(made);
    (void)snprintf(question->idempotency_key, sizeof question->idempotency_key, "\"%.250s\"",
                   key == NULL ? made : key);
}

bool question_read(struct invocation *invocation,
                   const char *application,
                   struct question *question)
{
    static const struct mapped numbers[] = {
        {"size", "problem_size"}, {"deadline", "deadline_s"}, {"confidence", "confidence"}};
    static const struct mapped texts[] = {{"objective", "objective"}, {"market", "market"}};
    const char *key = argument_text(invocation->arguments, "idempotency-key");
    *question = (struct question){.dry_run = argument_given(invocation->arguments, "dry-run"),
                                  .force = argument_given(invocation->arguments, "force")};
    if (key != NULL && (strlen(key) > 250 || strpbrk(key, "\"\\\r\n") != NULL))
        return fail(
            &invocation->failure, EXIT_USAGE,
            "--idempotency-key must be at most 250 characters without quotes and backslashes");
    set_key(invocation, question);
    if (!read_request(invocation, question) ||
        !set_application(invocation, application, question->body) ||
        !set_numbers(invocation, question->body, numbers, sizeof numbers / sizeof *numbers) ||
        !set_texts(invocation, question->body, texts, sizeof texts / sizeof *texts) ||
        !set_pairs(invocation, question->body, "label", "labels", ':') ||
        !set_include(invocation, question->body) || !set_apply(invocation, question->body))
        return false;
    return set_constraints(invocation, question->body);
}

void question_clear(struct question *question)
{
    json_decref(question->body);
    question->body = NULL;
}

/* --- asking --- */

/* The application is not known yet: there is no history, which is no mistake of the caller's. */
static void explain_unknown(struct failure *failure, const json_t *problem)
{
    if (strcmp(json_text_at(problem, "errors.0.code", ""), "unknown_application") != 0)
        return;
    failure->status = EXIT_TOO_LITTLE_HISTORY;
    failure->next[0] = '\0';
    (void)fail_next(failure, "`provisor ingest` sends the event logs of its runs; `provisor apps` "
                             "lists the applications");
}

/* The request is right, and no number of executors satisfies it. */
static void explain_unsatisfiable(struct failure *failure, const json_t *problem)
{
    if (strcmp(json_text_at(problem, "errors.0.code", ""), "unsatisfiable") == 0)
        failure->status = EXIT_GATE_FAILED;
}

static void explain_422(struct failure *failure, const json_t *problem)
{
    explain_unknown(failure, problem);
    explain_unsatisfiable(failure, problem);
}

static bool post(struct invocation *invocation,
                 const json_t *body,
                 bool dry_run,
                 const char *key,
                 const char *format,
                 bool force,
                 struct remote_reply *reply)
{
    const struct remote_parameter query[] = {{"dry_run", dry_run ? "true" : NULL},
                                             {"format", format},
                                             {"force", force ? "true" : NULL},
                                             {NULL, NULL}};
    char *text = json_dumps(body, JSON_COMPACT);
    if (text == NULL)
        return fail_memory(&invocation->failure);
    struct remote_request request = {.method = "POST",
                                     .path = "/v1/advice",
                                     .query = query,
                                     .text = text,
                                     .n_text = strlen(text),
                                     .accept = format == NULL ? NULL : "*/*",
                                     .idempotency_key = dry_run ? NULL : key};
    bool good = remote_call(invocation->remote, &request, reply, &invocation->failure);
    free(text);
    if (!good && reply->status == 403 && !dry_run) {
        invocation->failure.next[0] = '\0';
        (void)fail_next(&invocation->failure,
                        "advice is stored, which needs the scope write; --dry-run "
                        "stores nothing and needs only read");
    }
    if (!good && reply->status == 422)
        explain_422(&invocation->failure, reply->json);
    return good;
}

static json_t *ask(struct invocation *invocation, const json_t *body, bool dry_run, const char *key)
{
    struct remote_reply reply = {.status = 0};
    json_t *advice = NULL;
    if (post(invocation, body, dry_run, key, NULL, false, &reply))
        advice = json_incref(reply.json);
    remote_reply_clear(&reply);
    return advice;
}

/* The question about exactly the executors of the last run; NULL: no memory. */
static json_t *body_of_last_run(const json_t *body, const json_t *advice)
{
    json_t *copy = json_deep_copy(body);
    json_t *constraints = json_object_get(copy, "constraints");
    if (constraints == NULL)
        return copy;
    const json_t *executors = json_at(advice, "last_run.executors");
    const json_t *cores = json_at(advice, "last_run.cores_per_executor");
    (void)json_object_set_new(constraints, "min_executors",
                              json_copy((json_t *)(uintptr_t)executors));
    (void)json_object_set_new(constraints, "max_executors",
                              json_copy((json_t *)(uintptr_t)executors));
    (void)json_object_set_new(constraints, "cores_per_executor",
                              json_copy((json_t *)(uintptr_t)cores));
    return copy;
}

/* Does the recommendation change duration and cost, and by no more than the tolerance? */
static bool is_within_tolerance(const json_t *advice, double tolerance)
{
    const json_t *last = json_object_get(advice, "last_run");
    if (!json_is_object(last) || question_status(advice) != EXIT_DONE)
        return false;
    double duration = json_number_at(last, "duration_change_percent", 1e9) / 100;
    double cost = json_number_at(last, "cost_change_percent", 1e9) / 100;
    bool same = json_number_at(last, "executors", -1) ==
                    json_number_at(advice, "recommendation.executors", -2) &&
                json_number_at(last, "cores_per_executor", -1) ==
                    json_number_at(advice, "recommendation.cores_per_executor", -2);
    return !same && fabs(duration) <= tolerance && fabs(cost) <= tolerance;
}

/* The executors of the last run in answer->advice, if those would do. */
static bool ask_last_run(struct invocation *invocation,
                         const struct question *question,
                         const json_t *proposed,
                         struct answer *answer)
{
    json_t *body = body_of_last_run(question->body, proposed);
    json_t *advice = body == NULL ? NULL : ask(invocation, body, true, NULL);
    bool would_do = advice != NULL && question_status(advice) == EXIT_DONE;
    if (would_do && !question->dry_run) {
        char key[270];
        (void)snprintf(key, sizeof key, "%.*s/last-run\"",
                       (int)strlen(question->idempotency_key) - 1, question->idempotency_key);
        json_decref(advice);
        advice = ask(invocation, body, false, key);
    }
    bool good = body != NULL && advice != NULL;
    if (body == NULL)
        (void)fail_memory(&invocation->failure);
    if (would_do && good) {
        answer->stands = true;
        answer->body = json_incref(body);
        answer->kept_duration_change =
            json_number_at(proposed, "last_run.duration_change_percent", 0) / 100;
        answer->kept_cost_change =
            json_number_at(proposed, "last_run.cost_change_percent", 0) / 100;
        answer->advice = advice;
    } else {
        json_decref(advice);
    }
    json_decref(body);
    return good;
}

/* A size in bytes is answered in bytes, unless the application counts something else. */
static void note_bytes_asked(struct invocation *invocation, struct answer *answer)
{
    const char *size = argument_text(invocation->arguments, "size");
    const char *measure = json_text_at(answer->advice, "problem_size_measured_by", "input_blocks");
    if (size == NULL || size[0] == '\0' || strchr("bB", size[strlen(size) - 1]) == NULL)
        return;
    if (strcmp(measure, "input_blocks") == 0) {
        answer->bytes_asked = size;
        return;
    }
    warn(
        "the problem sizes of this application are not measured in bytes: --size %.40s is taken as "
        "%s",
        size,
        quantity_problem_size(json_number_at(answer->advice, "problem_size", 0), measure).text);
}

bool question_ask(struct invocation *invocation,
                  const struct question *question,
                  struct answer *answer)
{
    double tolerance = invocation->settings.tolerance;
    *answer = (struct answer){.advice = NULL};
    if (tolerance > 0) {
        json_t *proposed = ask(invocation, question->body, true, NULL);
        bool good = proposed != NULL && (!is_within_tolerance(proposed, tolerance) ||
                                         ask_last_run(invocation, question, proposed, answer));
        if (good && question->dry_run && answer->advice == NULL)
            answer->advice = json_incref(proposed);
        json_decref(proposed);
        if (!good)
            return false;
    }
    if (answer->advice == NULL)
        answer->advice =
            ask(invocation, question->body, question->dry_run, question->idempotency_key);
    if (answer->body == NULL)
        answer->body = json_incref(question->body);
    if (answer->advice != NULL)
        note_bytes_asked(invocation, answer);
    return answer->advice != NULL;
}

void answer_clear(struct answer *answer)
{
    json_decref(answer->advice);
    json_decref(answer->body);
    answer->advice = answer->body = NULL;
}

static char *take_text(struct remote_reply *reply)
{
    char *text = reply->text;
    reply->text = NULL;
    return text;
}

char *question_render(struct invocation *invocation,
                      const struct question *question,
                      const struct answer *answer,
                      const char *format)
{
    const json_t *advice = answer->advice;
    char path[128];
    char *text = NULL;
    struct remote_reply reply = {.status = 0};
    const struct remote_parameter query[] = {
        {"format", format}, {"force", question->force ? "true" : NULL}, {NULL, NULL}};
    (void)snprintf(path, sizeof path, "/v1/advice/%.64s", json_text_at(advice, "id", ""));
    struct remote_request request = {
        .method = "GET", .path = path, .query = query, .accept = "*/*"};
    bool good = question->dry_run
                    ? post(invocation, answer->body, true, NULL, format, question->force, &reply)
                    : remote_call(invocation->remote, &request, &reply, &invocation->failure);
    if (good)
        text = take_text(&reply);
    remote_reply_clear(&reply);
    return text;
}

enum exit_status question_status(const json_t *advice)
{
    const char *verdict = json_text_at(advice, "verdict", "unknown");
    if (strcmp(verdict, "met") == 0)
        return EXIT_DONE;
    if (strcmp(verdict, "at_risk") == 0)
        return EXIT_LOW_CONFIDENCE;
    return strcmp(verdict, "missed") == 0 ? EXIT_GATE_FAILED : EXIT_TOO_LITTLE_HISTORY;
}
