#include "codec/advice/rendering.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json/parse.h"
#include "base/order.h"
#include "codec/advice/form_properties.h"
#include "codec/advice/operator_fields.h"
#include "core/spark/property_value.h"

const char *const advice_format_names[] = {
    [ADVICE_JSON] = "json",
    [ADVICE_SPARK_SUBMIT] = "spark-submit",
    [ADVICE_SPARK_DEFAULTS] = "spark-defaults",
    [ADVICE_K8S] = "k8s",
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

static const char *id_of(const struct form_properties *form)
{
    return text_of(form->advice, "id");
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
        append_flag(text, form->items[i].key, form->items[i].value);
        append(text, between);
    }
    append_flag(text, "spark.provisor.adviceId", id_of(form));
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
    append_line(text, "spark.provisor.adviceId", id_of(form));
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

static void append_conf(struct text *text, const char *key, const char *value)
{
    append(text, "    ");
    append_string(text, key);
    append(text, ": ");
    append_string(text, value);
    append(text, "\n");
}

static void append_removal(struct text *text, const char *key)
{
    append(text, "    ");
    append_string(text, key);
    append(text, ": null\n");
}

/* Whether it was set in the operator's field or here is not known. */
static void render_removals(const struct form_properties *form, struct text *text)
{
    const struct json_value *properties = properties_of(form->advice);
    const struct json_value *changes = changes_of(form->advice);
    for (size_t i = 0; i < json_value_items(changes); i++)
        if (removes(json_value_item(changes, i)))
            append_removal(text, text_of(json_value_item(changes, i), "key"));
    for (size_t i = 0; i < json_value_members(properties); i++)
        if (form_property_find(form, json_value_key(properties, i)) == NULL)
            append_removal(text, json_value_key(properties, i));
}

static void render_k8s(const struct form_properties *form, struct text *text)
{
    append(text, "spec:\n");
    render_section(form, "executor", text);
    render_section(form, "dynamicAllocation", text);
    append(text, "  sparkConf:\n");
    for (size_t i = 0; i < form->n; i++)
        if (operator_field_find(strview_of(form->items[i].key)) == OPERATOR_FIELDS)
            append_conf(text, form->items[i].key, form->items[i].value);
    render_removals(form, text);
    append_conf(text, "spark.provisor.adviceId", id_of(form));
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

/* There is one executor on each worker, and workers come by autoscaling, not by Spark. */
static bool is_of_workers(const char *key)
{
    return strcmp(key, "spark.executor.instances") == 0 ||
           strncmp(key, DYNAMIC, strlen(DYNAMIC)) == 0 ||
           strcmp(key, "spark.shuffle.service.enabled") == 0;
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
    writer_member_string(w, "spark.provisor.adviceId", id_of(form));
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
    write_argument(w, "spark.provisor.adviceId", id_of(form));
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

static void append_number(struct text *text, const struct json_value *value, const char *unit)
{
    if (json_value_is_number(value))
        append_format(text, "%.4g%s", json_value_number(value), unit);
    else
        append(text, "unknown");
}

static void append_row(struct text *text,
                       const char *name,
                       const struct json_value *now,
                       const struct json_value *advised,
                       const char *unit)
{
    append_format(text, "| %s | ", name);
    append_number(text, now, unit);
    append(text, " | ");
    append_number(text, advised, unit);
    append(text, " |\n");
}

static void render_table(const struct json_value *advice, struct text *text)
{
    const struct json_value *last = json_value_member(advice, "last_run");
    const struct json_value *best = json_value_member(advice, "recommendation");
    if (!json_value_is_object(best))
        return;
    append_format(text, "| | last run | %s |\n|---|---|---|\n",
                  strcmp(text_of(advice, "verdict"), "missed") == 0 ? "closest allowed"
                                                                    : "advised");
    append_row(text, "executors", json_value_member(last, "executors"),
               json_value_member(best, "executors"), "");
    append_row(text, "cores per executor", json_value_member(last, "cores_per_executor"),
               json_value_member(best, "cores_per_executor"), "");
    append_row(text, "predicted duration", json_value_member(last, "predicted_duration_s"),
               json_value_member(best, "predicted_duration_s"), " s");
    if (json_value_is_number(json_value_member(best, "cost")))
        append_row(text, "cost", json_value_member(last, "cost"), json_value_member(best, "cost"),
                   "");
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

static void render_findings(const struct json_value *advice, const char *member, struct text *text)
{
    const struct json_value *findings = json_value_member(advice, member);
    for (size_t i = 0; i < json_value_items(findings); i++) {
        append(text, strcmp(member, "warnings") == 0 ? "- **Warning**: " : "- ");
        append_escaped(text, text_of(json_value_item(findings, i), "message"));
        append(text, "\n");
    }
}

static void render_markdown(const struct json_value *advice, struct text *text)
{
    const struct json_value *deadline = json_value_member(advice, "deadline_s");
    const struct json_value *probability =
        json_value_member(json_value_member(advice, "recommendation"), "deadline_probability");
    append(text, "### ");
    append_escaped(text, json_value_is_text(json_value_member(advice, "application"))
                             ? text_of(advice, "application")
                             : "profile");
    append_format(text, ": %s", text_of(advice, "verdict")[0] == '\0' ? "advice" : "");
    append_escaped(text, text_of(advice, "verdict"));
    append(text, "\n\n");
    if (json_value_is_number(deadline)) {
        append_format(text, "Deadline %.6g s", json_value_number(deadline));
        if (json_value_is_number(probability))
            append_format(text, ", met with probability %.3g (asked: %.6g)",
                          json_value_number(probability),
                          json_value_number(json_value_member(advice, "confidence")));
        append(text, ".\n\n");
    }
    render_table(advice, text);
    render_changes(advice, text);
    render_proposals(advice, text);
    render_findings(advice, "reasons", text);
    render_findings(advice, "warnings", text);
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

/* Which properties the form has. A job of EMR Serverless passes the flags of spark-submit, and lines of
 * spark-defaults.conf, to that platform. */
static enum pv_code
prepare(struct form_properties *form, enum advice_format format, struct pv_error *err)
{
    bool unsets = format == ADVICE_K8S || format == ADVICE_DATABRICKS;
    bool of_serverless = form_is_of_serverless(form);
    if (format == ADVICE_EMR && of_serverless)
        return pv_fail(err, PV_E_CONFLICT,
                       "the job runs on EMR Serverless, which has no steps: ask with format "
                       "emr-serverless");
    if (!unsets)
        form_set_instances(form);
    if (format == ADVICE_K8S)
        form_replace_shuffle_service(form);
    if (format == ADVICE_EMR_SERVERLESS || (of_serverless && !unsets))
        return form_fit_serverless(form, err);
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
    else if (format == ADVICE_K8S)
        render_k8s(&form, text);
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
                                   : pv_fail(err, PV_E_INTERNAL, "stored advice is no JSON");
    if (format == ADVICE_MARKDOWN)
        render_markdown(advice, &made);
    else
        PV_TRY(render_configuration(advice, format, force, &made, err));
    *text = (struct strview){made.at, made.n};
    return made.failed || made.at == NULL ? pv_no_memory(err) : PV_OK;
}
