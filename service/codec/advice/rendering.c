#include "codec/advice/rendering.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json/parse.h"
#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/advice/form_properties.h"
#include "codec/advice/operator_fields.h"
#include "core/spark/property_value.h"
#include "core/spark/startup_rules.h"

const char *const advice_format_names[] = {
    [ADVICE_JSON] = "json",
    [ADVICE_SPARK_SUBMIT] = "spark-submit",
    [ADVICE_SPARK_DEFAULTS] = "spark-defaults",
    [ADVICE_K8S] = "k8s",
    [ADVICE_K8S_APACHE] = "k8s-apache",
    [ADVICE_DATABRICKS] = "databricks",
    [ADVICE_EMR] = "emr",
    [ADVICE_EMR_SERVERLESS] = "emr-serverless",
    [ADVICE_MARKDOWN] = "markdown",
    [ADVICE_FORMATS] = NULL,
};

const char *const advice_format_types[] = {
    [ADVICE_JSON] = "application/json",
    [ADVICE_SPARK_SUBMIT] = "text/plain; charset=utf-8",
    [ADVICE_SPARK_DEFAULTS] = "text/plain; charset=utf-8",
    [ADVICE_K8S] = "application/yaml",
    [ADVICE_K8S_APACHE] = "application/yaml",
    [ADVICE_DATABRICKS] = "application/vnd.provisor.databricks-cluster+json",
    [ADVICE_EMR] = "application/vnd.provisor.emr-step+json",
    [ADVICE_EMR_SERVERLESS] = "application/vnd.provisor.emr-serverless-job+json",
    [ADVICE_MARKDOWN] = "text/markdown; charset=utf-8",
    [ADVICE_FORMATS] = NULL,
};

#define DYNAMIC "spark.dynamicAllocation."

/* --- text that grows --- */

struct text {
    struct arena *arena;
    char *at;
    size_t n;
    size_t capacity;
    bool failed;
};

static void append_bytes(struct text *text, const char *bytes, size_t n)
{
    if (text->at == NULL || text->n + n + 1 > text->capacity) {
        size_t capacity = 2 * (text->n + n) + 1024;
        char *at = arena_alloc(text->arena, capacity);
        text->failed = text->failed || at == NULL;
        if (at == NULL)
            return;
        if (text->at != NULL)
            memcpy(at, text->at, text->n);
        text->at = at;
        text->capacity = capacity;
    }
    memcpy(text->at + text->n, bytes, n);
    text->n += n;
    text->at[text->n] = '\0';
}

static void append(struct text *text, const char *words)
{
    append_bytes(text, words, strlen(words));
}

static void append_format(struct text *text, const char *format, ...) PV_PRINTF(2, 3);
static void append_format(struct text *text, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    append(text, line);
}

/* --- the advice --- */

static const char *text_of(const struct json_value *object, const char *key)
{
    const char *value = json_value_text(json_value_member(object, key));
    return value == NULL ? "" : value;
}

static const struct json_value *properties_of(const struct json_value *advice)
{
    return json_value_member(json_value_member(advice, "spark"), "properties");
}

static const struct json_value *changes_of(const struct json_value *advice)
{
    return json_value_member(json_value_member(advice, "spark"), "changes");
}

/* --- for the shell and for files of properties --- */

/* In single quotes, and quotes in them as '\''. */
static void append_quoted(struct text *text, const char *value)
{
    append(text, "'");
    for (const char *c = value; *c != '\0'; c++)
        append_bytes(text, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    append(text, "'");
}

static bool is_plain(const char *value)
{
    return value[0] != '\0' &&
           strspn(value,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/:=,") ==
               strlen(value);
}

static void append_flag(struct text *text, const char *key, const char *value)
{
    append(text, "--conf ");
    if (is_plain(value)) {
        append(text, key);
        append(text, "=");
        append(text, value);
    } else {
        append(text, key); /* of letters, digits, '.', '_' and '-' */
        append(text, "=");
        append_quoted(text, value);
    }
}

/* between: what separates two flags. */
static void append_flags(const struct form_properties *form, const char *between, struct text *text)
{
    for (size_t i = 0; i < form->n; i++) {
        append(text, i == 0 ? "" : between);
        append_flag(text, form->items[i].key, form->items[i].value);
    }
}

static void render_submit(const struct form_properties *form, struct text *text)
{
    append_flags(form, "\n", text);
    append(text, "\n");
}

/* A line of java.util.Properties: a backslash escapes, so it is doubled; keys need none. */
static void append_line(struct text *text, const char *key, const char *value)
{
    append(text, key);
    append(text, " ");
    for (const char *c = value; *c != '\0'; c++)
        append_bytes(text, *c == '\\' ? "\\\\" : c, *c == '\\' ? 2 : 1);
    append(text, "\n");
}

static void render_defaults(const struct form_properties *form, struct text *text)
{
    for (size_t i = 0; i < form->n; i++)
        append_line(text, form->items[i].key, form->items[i].value);
}

/* --- SparkApplication --- */

/* A string of YAML as one of JSON, which it is. */
static void append_string(struct text *text, const char *value)
{
    struct writer w;
    size_t n = 0;
    writer_init(&w, text->arena);
    writer_string(&w, value);
    const char *json = writer_finish(&w, &n);
    text->failed = text->failed || json == NULL;
    if (json != NULL)
        append_bytes(text, json, n);
}

static bool is_whole(const char *value)
{
    return value[0] != '\0' && strspn(value, "0123456789") == strlen(value);
}

/* Is it a change that takes the property away? */
static bool removes(const struct json_value *change)
{
    return json_value_is_null(json_value_member(change, "new"));
}

/* A member that is null is removed by a merge patch (RFC 7396). */
static void
render_section(const struct form_properties *form, const char *section, struct text *text)
{
    bool begun = false;
    for (size_t i = 0; i < OPERATOR_FIELDS; i++) {
        const char *value = form_property_find(form, operator_fields[i].key);
        bool removed = value == NULL && form_property_is_removed(form, operator_fields[i].key);
        if ((value == NULL && !removed) || strcmp(operator_fields[i].section, section) != 0)
            continue;
        if (!begun)
            append_format(text, "  %s:\n", section);
        begun = true;
        append_format(text, "    %s: ", operator_fields[i].field);
        if (removed)
            append(text, "null");
        else if (operator_field_is_scalar(&operator_fields[i], value))
            append(text, value);
        else
            append_string(text, value);
        append(text, "\n");
    }
}

/* value NULL: the entry is removed. An empty section would be null, and remove all entries. */
static void append_conf(struct text *text, bool *begun, const char *key, const char *value)
{
    append(text, *begun ? "    " : "  sparkConf:\n    ");
    *begun = true;
    append_string(text, key);
    append(text, ": ");
    if (value == NULL)
        append(text, "null");
    else
        append_string(text, value);
    append(text, "\n");
}

/* Whether it was set in the operator's field or here is not known. */
static void render_removals(const struct form_properties *form, bool *begun, struct text *text)
{
    const struct json_value *properties = properties_of(form->advice);
    const struct json_value *changes = changes_of(form->advice);
    for (size_t i = 0; i < json_value_items(changes); i++)
        if (removes(json_value_item(changes, i)))
            append_conf(text, begun, text_of(json_value_item(changes, i), "key"), NULL);
    for (size_t i = 0; i < json_value_members(properties); i++)
        if (form_property_find(form, json_value_key(properties, i)) == NULL)
            append_conf(text, begun, json_value_key(properties, i), NULL);
}

/* has_fields: of the operator of sparkoperator.k8s.io. That of spark.apache.org has sparkConf alone. */
static void render_k8s(const struct form_properties *form, bool has_fields, struct text *text)
{
    bool begun = false;
    append(text, "spec:\n");
    size_t before = text->n;
    if (has_fields) {
        render_section(form, "executor", text);
        render_section(form, "dynamicAllocation", text);
    }
    for (size_t i = 0; i < form->n; i++)
        if (!has_fields || operator_field_find(strview_of(form->items[i].key)) == OPERATOR_FIELDS)
            append_conf(text, &begun, form->items[i].key, form->items[i].value);
    render_removals(form, &begun, text);
    if (text->n == before)
        append(text, "  {}\n");
}

/* --- JSON of others --- */

/* Left out where the advice does not have the property as a number. */
static void write_whole(struct writer *w, const char *key, const char *digits)
{
    if (digits == NULL || !is_whole(digits))
        return;
    writer_key(w, key);
    writer_raw(w, strview_of(digits));
}

/* There is one executor on each worker, and workers come by autoscaling, not by Spark. The type of the
 * nodes decides on the cores and the memory of executors: one that asks for more does not start. */
static bool is_of_workers(const char *key)
{
    static const char *const starts[] = {DYNAMIC,
                                         "spark.kubernetes.",
                                         "spark.memory.offHeap.",
                                         "spark.shuffle.service.enabled",
                                         "spark.executor.instances",
                                         "spark.executor.cores",
                                         "spark.executor.memory",
                                         "spark.executor.pyspark.memory"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(key, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* The least and the most workers of a cluster that scales; false: it has one number of workers, as
 * autoscale must have more at most than at least. */
static bool scales(const struct form_properties *form, int64_t *least, int64_t *most)
{
    *most = property_count(strview_of(form_property_find(form, DYNAMIC "maxExecutors")));
    *least = property_count(strview_of(form_property_find(form, DYNAMIC "minExecutors")));
    *least = larger_int64(*least, 1);
    return *most > *least;
}

static void render_databricks(const struct form_properties *form, struct writer *w)
{
    int64_t least, most;
    writer_begin_object(w);
    if (scales(form, &least, &most)) {
        writer_member_object(w, "autoscale");
        writer_member_integer(w, "min_workers", least);
        writer_member_integer(w, "max_workers", most);
        writer_end_object(w);
    } else {
        const char *all = form_property_find(form, DYNAMIC "maxExecutors");
        write_whole(w, "num_workers",
                    all != NULL ? all : form_property_find(form, "spark.executor.instances"));
    }
    writer_member_object(w, "spark_conf");
    for (size_t i = 0; i < form->n; i++)
        if (!is_of_workers(form->items[i].key))
            writer_member_string(w, form->items[i].key, form->items[i].value);
    writer_end_object(w);
    writer_end_object(w);
}

static void write_argument(struct writer *w, const char *key, const char *value)
{
    const char *argument = arena_printf(w->arena, "%s=%s", key, value);
    writer_string(w, "--conf");
    writer_string(w, argument == NULL ? "" : argument);
    w->failed = w->failed || argument == NULL;
}

/* The caller adds the program and its arguments to Args. */
static void render_emr(const struct form_properties *form, struct writer *w)
{
    writer_begin_object(w);
    writer_member_string(w, "Name", text_of(form->advice, "application"));
    writer_member_string(w, "ActionOnFailure", "CONTINUE");
    writer_member_object(w, "HadoopJarStep");
    writer_member_string(w, "Jar", "command-runner.jar");
    writer_member_array(w, "Args");
    writer_string(w, "spark-submit");
    for (size_t i = 0; i < form->n; i++)
        write_argument(w, form->items[i].key, form->items[i].value);
    writer_end_array(w);
    writer_end_object(w);
    writer_end_object(w);
}

/* Members of StartJobRun. The caller adds the application's id, the role and the entry point. */
static void render_serverless(const struct form_properties *form, struct writer *w)
{
    struct text flags = {.arena = w->arena};
    const char *name = text_of(form->advice, "application");
    append_flags(form, " ", &flags);
    w->failed = w->failed || flags.failed;
    writer_begin_object(w);
    if (name[0] != '\0')
        writer_member_string(w, "name", name);
    writer_member_object(w, "jobDriver");
    writer_member_object(w, "sparkSubmit");
    writer_member_string(w, "sparkSubmitParameters", flags.at);
    writer_end_object(w);
    writer_end_object(w);
    writer_end_object(w);
}

/* --- Markdown --- */

/* Nothing of it is markup: names are callers' own. */
static void append_escaped(struct text *text, const char *words)
{
    for (const char *c = words; *c != '\0'; c++) {
        if (strchr("\\`*_{}[]<>()#|~!&@$", *c) != NULL)
            append(text, "\\");
        append_bytes(text, *c == '\n' || *c == '\r' ? " " : c, 1);
    }
}

static void append_row(struct text *text,
                       const char *name,
                       struct quantity_text last,
                       struct quantity_text advised)
{
    append_format(text, "| %s | %s | %s |\n", name, last.text, advised.text);
}

typedef struct quantity_text written(double value);

/* A member that is a number; "" if it is not. */
static struct quantity_text
number_text(const struct json_value *object, const char *key, written *write)
{
    const struct json_value *value = json_value_member(object, key);
    return json_value_is_number(value) ? write(json_value_number(value))
                                       : (struct quantity_text){""};
}

/* The size of the last run, if the advice is for another one. */
static void render_sizes(const struct json_value *advice, struct text *text)
{
    const struct json_value *asked = json_value_member(advice, "problem_size");
    const struct json_value *last =
        json_value_member(json_value_member(advice, "last_run"), "problem_size");
    const char *measure = json_value_text(json_value_member(advice, "problem_size_measured_by"));
    if (json_value_is_number(asked) && json_value_is_number(last) &&
        json_value_number(asked) != json_value_number(last))
        append_row(text, "problem size", quantity_problem_size(json_value_number(last), measure),
                   quantity_problem_size(json_value_number(asked), measure));
}

static void render_interval(const struct json_value *advice, struct text *text)
{
    const struct json_value *best = json_value_member(advice, "recommendation");
    const struct json_value *ends = json_value_member(best, "interval_s");
    const struct json_value *low = json_value_item(ends, 0), *high = json_value_item(ends, 1);
    const struct quantity_text none = {""};
    char name[64];
    if (!json_value_is_number(low))
        return;
    (void)snprintf(name, sizeof name, "%s interval",
                   number_text(advice, "confidence", quantity_share).text);
    append_row(text, name, none,
               quantity_interval(json_value_number(low), json_value_is_number(high)
                                                             ? json_value_number(high)
                                                             : (double)NAN));
    if (json_value_is_number(json_value_member(best, "deadline_probability")))
        append_row(text, "probability", none,
                   number_text(best, "deadline_probability", quantity_probability));
}

static struct quantity_text cost_text(const struct json_value *object, const char *currency)
{
    const struct json_value *cost = json_value_member(object, "cost");
    return json_value_is_number(cost) ? quantity_cost(json_value_number(cost), currency)
                                      : (struct quantity_text){""};
}

/* The row of the prediction for the executors of the last run. */
#define BY_MODEL "by model, this size"

static void
render_durations(const struct json_value *last, const struct json_value *best, struct text *text)
{
    struct quantity_text advised = number_text(best, "predicted_duration_s", quantity_duration);
    append_format(text, "| duration | %s | %s predicted |\n",
                  number_text(last, "duration_s", quantity_duration).text, advised.text);
    if (json_value_is_object(last))
        append_row(text, BY_MODEL, number_text(last, "predicted_duration_s", quantity_duration),
                   (struct quantity_text){""});
}

/* Limits of the request that, if they were wider, would let the deadline be met. */
static void render_remedies(const struct json_value *advice, struct text *text)
{
    static const struct {
        const char *member;
        const char *words;
        struct quantity_text (*write)(double value);
    } remedies[] = {{"deadline_s", "a deadline of ", quantity_duration_at_least},
                    {"max_executors", "executors up to ", quantity_count},
                    {"min_total_cores", "cores in all: ", quantity_count},
                    {"max_cost", "a cost of up to ", quantity_number}};
    const struct json_value *all = json_value_member(advice, "remedies");
    const char *before = "To meet the deadline, allow one of these:\n\n";
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (!json_value_is_number(json_value_member(all, remedies[i].member)))
            continue;
        append(text, before);
        append_format(text, "- %s%s\n", remedies[i].words,
                      number_text(all, remedies[i].member, remedies[i].write).text);
        before = "";
    }
    append(text, before[0] == '\0' ? "\n" : "");
}

/* Which runs would make an answer. */
static void render_needed(const struct json_value *advice, struct text *text)
{
    const struct json_value *needed = json_value_member(advice, "data_needed");
    if (!json_value_is_object(needed))
        return;
    append_format(text, "More runs needed: %s. ", number_text(needed, "runs", quantity_count).text);
    append_escaped(text, text_of(needed, "why"));
    append(text, "\n\n");
}

static void render_table(const struct json_value *advice, struct text *text)
{
    const struct json_value *last = json_value_member(advice, "last_run");
    const struct json_value *best = json_value_member(advice, "recommendation");
    const char *currency =
        json_value_text(json_value_member(json_value_member(advice, "pricing"), "currency"));
    if (!json_value_is_object(best))
        return;
    append_format(text, "| | last run | %s |\n|---|--:|--:|\n",
                  strcmp(text_of(advice, "verdict"), "missed") == 0 ? "closest allowed"
                                                                    : "advised");
    render_sizes(advice, text);
    append_row(text, "executors", number_text(last, "executors", quantity_count),
               number_text(best, "executors", quantity_count));
    append_row(text, "cores per executor", number_text(last, "cores_per_executor", quantity_count),
               number_text(best, "cores_per_executor", quantity_count));
    render_durations(last, best, text);
    render_interval(advice, text);
    if (json_value_is_number(json_value_member(best, "cost")))
        append_row(text, currency == NULL ? "cost, unit of price" : "predicted cost",
                   (struct quantity_text){""}, cost_text(best, currency));
    if (json_value_is_number(json_value_member(last, "cost")))
        append_row(text, BY_MODEL, cost_text(last, currency), (struct quantity_text){""});
    append(text, "\n");
}

static void render_changes(const struct json_value *advice, struct text *text)
{
    const struct json_value *changes = changes_of(advice);
    if (json_value_items(changes) == 0)
        return;
    append(text, "| property | old | new | why |\n|---|---|---|---|\n");
    for (size_t i = 0; i < json_value_items(changes); i++) {
        static const char *const cells[] = {"key", "old", "new", "reason"};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            append(text, "| ");
            append_escaped(text, text_of(json_value_item(changes, i), cells[k]));
            append(text, " ");
        }
        append(text, "|\n");
    }
    append(text, "\n");
}

/* Shown, and set by no form. */
static void render_proposals(const struct json_value *advice, struct text *text)
{
    const struct json_value *proposals =
        json_value_member(json_value_member(advice, "spark"), "proposals");
    if (json_value_items(proposals) == 0)
        return;
    append(text, "Proposed, not applied:\n\n");
    for (size_t i = 0; i < json_value_items(proposals); i++) {
        const struct json_value *proposal = json_value_item(proposals, i);
        append(text, "- ");
        append_escaped(text, text_of(proposal, "key"));
        append(text, " = ");
        append_escaped(text, text_of(proposal, "new"));
        append(text, " (");
        append_escaped(text, text_of(proposal, "reason"));
        append_format(text, "): `--apply %s`\n", text_of(proposal, "kind"));
    }
    append(text, "\n");
}

/* Findings from the first one to that before the last. */
static void append_findings(const struct json_value *findings,
                            const char *before,
                            size_t first,
                            size_t last,
                            struct text *text)
{
    for (size_t i = first; i < last; i++) {
        append(text, before);
        append_escaped(text, text_of(json_value_item(findings, i), "message"));
        append(text, "\n");
    }
}

/* GitHub and GitLab fold <details>; both want blank lines around the list in it. */
static void render_findings(const struct json_value *advice, struct text *text)
{
    enum { FIRST = 3 };
    const struct json_value *reasons = json_value_member(advice, "reasons");
    const struct json_value *warnings = json_value_member(advice, "warnings");
    /* The line of the deadline says it. */
    size_t first = strcmp(text_of(json_value_item(reasons, 0), "code"), "deadline_met") == 0;
    size_t n = json_value_items(reasons), shown = n < first + FIRST ? n : first + FIRST;
    append_findings(reasons, "- ", first, shown, text);
    append_findings(warnings, "- **Warning**: ", 0, json_value_items(warnings), text);
    if (n == shown)
        return;
    append_format(text, "\n<details><summary>%zu more reason%s</summary>\n\n", n - shown,
                  PLURAL(n - shown));
    append_findings(reasons, "- ", shown, n, text);
    append(text, "\n</details>\n");
}

static void render_deadline(const struct json_value *advice, struct text *text)
{
    const struct json_value *best = json_value_member(advice, "recommendation");
    if (!json_value_is_number(json_value_member(advice, "deadline_s")))
        return;
    append_format(text, "Deadline %s", number_text(advice, "deadline_s", quantity_duration).text);
    if (json_value_is_number(json_value_member(best, "deadline_probability")))
        append_format(text, "; probability to meet it: %s (asked: %s)",
                      number_text(best, "deadline_probability", quantity_probability).text,
                      number_text(advice, "confidence", quantity_share).text);
    append(text, ".\n\n");
}

static void render_markdown(const struct json_value *advice, struct text *text)
{
    append(text, "### ");
    append_escaped(text, json_value_is_text(json_value_member(advice, "application"))
                             ? text_of(advice, "application")
                             : "profile");
    append_format(text, ": %s", text_of(advice, "verdict")[0] == '\0' ? "advice" : "");
    append_escaped(text, text_of(advice, "verdict"));
    append(text, "\n\n");
    render_deadline(advice, text);
    render_table(advice, text);
    render_remedies(advice, text);
    render_needed(advice, text);
    render_changes(advice, text);
    render_proposals(advice, text);
    render_findings(advice, text);
}

/* --- all --- */

static void
render_json(const struct form_properties *form, enum advice_format format, struct text *text)
{
    struct writer w;
    size_t n = 0;
    writer_init(&w, text->arena);
    if (format == ADVICE_DATABRICKS)
        render_databricks(form, &w);
    else if (format == ADVICE_EMR)
        render_emr(form, &w);
    else
        render_serverless(form, &w);
    const char *json = writer_finish(&w, &n);
    text->failed = json == NULL;
    if (json != NULL)
        append_bytes(text, json, n);
}

/* The platform of each form, and whether the form can remove a property that is set elsewhere. */
static const struct {
    unsigned place;
    bool unsets;
} kinds[ADVICE_FORMATS] = {
    [ADVICE_K8S] = {STARTUP_KUBERNETES, true},
    [ADVICE_K8S_APACHE] = {STARTUP_KUBERNETES, true},
    [ADVICE_DATABRICKS] = {STARTUP_DATABRICKS, true},
    [ADVICE_EMR_SERVERLESS] = {STARTUP_SERVERLESS, false},
};

/* Which properties the form has. A job of EMR Serverless passes the flags of spark-submit, and lines of
 * spark-defaults.conf, to that platform. */
static enum pv_code
prepare(struct form_properties *form, enum advice_format format, struct pv_error *err)
{
    unsigned places = kinds[format].place;
    const char *id = json_value_text(json_value_member(form->advice, "id"));
    bool of_serverless = form_is_of_platform(form, "emr_serverless");
    if (form_is_of_platform(form, "local"))
        return pv_fail(err, PV_E_CONFLICT,
                       "the job runs in local mode, which has no executors to configure: set "
                       "max_executors or name a cluster");
    if (format == ADVICE_EMR && of_serverless)
        return pv_fail(err, PV_E_CONFLICT,
                       "the job runs on EMR Serverless, which has no steps: ask with format "
                       "emr-serverless");
    if (of_serverless && !kinds[format].unsets)
        places |= STARTUP_SERVERLESS;
    if (!kinds[format].unsets)
        form_set_instances(form);
    if (places & STARTUP_KUBERNETES)
        form_replace_shuffle_service(form);
    if (places & STARTUP_SERVERLESS)
        PV_TRY(form_fit_serverless(form, err));
    PV_TRY(form_check_start(form, places, err));
    /* A dry run has no id: no run can follow advice that is not stored. */
    if (id != NULL)
        form_property_set(form, "spark.provisor.adviceId", id);
    return PV_OK;
}

static enum pv_code render_configuration(const struct json_value *advice,
                                         enum advice_format format,
                                         bool force,
                                         struct text *text,
                                         struct pv_error *err)
{
    struct form_properties form;
    const char *verdict = text_of(advice, "verdict");
    if (strcmp(verdict, "unknown") == 0)
        return pv_fail(err, PV_E_CONFLICT,
                       "the verdict is unknown, so the advice has no Spark properties to render");
    if (strcmp(verdict, "missed") == 0 && !force)
        return pv_fail(err, PV_E_CONFLICT,
                       "the verdict is missed: no allowed number of executors is predicted to meet "
                       "the deadline, so no configuration is rendered. Send force=true to render "
                       "that of the closest one");
    if (!json_value_is_object(properties_of(advice)))
        return pv_fail(err, PV_E_CONFLICT,
                       "the advice has no Spark properties to render: it was asked for without "
                       "`spark` in `include`");
    form_properties_read(&form, advice, text->arena);
    PV_TRY(prepare(&form, format, err));
    if (format == ADVICE_SPARK_SUBMIT)
        render_submit(&form, text);
    else if (format == ADVICE_SPARK_DEFAULTS)
        render_defaults(&form, text);
    else if (format == ADVICE_K8S || format == ADVICE_K8S_APACHE)
        render_k8s(&form, format == ADVICE_K8S, text);
    else
        render_json(&form, format, text);
    text->failed = text->failed || form.failed;
    return PV_OK;
}

enum pv_code advice_render(struct strview document,
                           enum advice_format format,
                           bool force,
                           struct arena *arena,
                           struct strview *text,
                           struct pv_error *err)
{
    struct text made = {.arena = arena};
    const struct json_value *advice;
    enum pv_code code = json_parse_own(document, arena, &advice, NULL);
    if (code != PV_OK)
        return code == PV_E_MEMORY ? pv_no_memory(err)
                                   : pv_fail(err, PV_E_INTERNAL, "the stored advice is not JSON");
    append(&made, ""); /* there may be no property */
    if (format == ADVICE_MARKDOWN)
        render_markdown(advice, &made);
    else
        PV_TRY(render_configuration(advice, format, force, &made, err));
    *text = (struct strview){made.at, made.n};
    return made.failed || made.at == NULL ? pv_no_memory(err) : PV_OK;
}
