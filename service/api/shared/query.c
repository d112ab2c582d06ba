#include "api/shared/query.h"
#include "base/order.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/instant.h"
#include "base/quantity_text.h"
#include "codec/history/run.h"

/* Enough for every bound, too few to overflow. */
enum { DIGITS_MAX = 15 };
enum { LABEL_VALUE_BYTES_MAX = 1024 };

static enum pv_code label_fault(struct pv_error *err, const char *code, const char *detail)
{
    return pv_fault(err, PV_PLACE_PARAMETER, "label", code, "%s", detail);
}

static enum pv_code
parse_label(struct arena *arena, const char *text, struct run_label *label, struct pv_error *err)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return label_fault(err, "invalid_label", "must read key:value");
    label->key = arena_copy(arena, (struct strview){text, (size_t)(colon - text)});
    label->value = strview_of(colon + 1);
    if (label->key.at == NULL)
        return pv_no_memory(err);
    if (!codec_is_name(label->key))
        return label_fault(err, "invalid_name",
                           "the key must be 1 to 255 characters without control characters");
    if (label->value.n > LABEL_VALUE_BYTES_MAX)
        return label_fault(err, "out_of_range", "the value must be at most 1024 bytes long");
    return PV_OK;
}

static size_t count_named(const struct http_request *request, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < request->n_query; i++)
        n += strcmp(request->query[i].name, name) == 0;
    return n;
}

enum pv_code api_query_labels(struct api *api,
                              struct http_request *request,
                              struct run_label **labels,
                              size_t *n,
                              struct pv_error *err)
{
    size_t most = count_named(request, "label");
    if (most > (size_t)api->config->labels_max)
        return pv_fault(err, PV_PLACE_PARAMETER, "label", "too_many_items",
                        "may be given at most %lld time%s", (long long)api->config->labels_max,
                        PLURAL(api->config->labels_max));
    struct run_label *all = arena_calloc(request->arena, most, sizeof *all);
    if (all == NULL)
        return pv_no_memory(err);
    size_t found = 0;
    for (size_t i = 0; i < request->n_query; i++) {
        if (strcmp(request->query[i].name, "label") != 0)
            continue;
        enum pv_code code =
            parse_label(request->arena, request->query[i].value, &all[found++], err);
        if (code != PV_OK)
            return code;
    }
    qsort(all, found, sizeof *all, run_label_compare);
    for (size_t i = 1; i < found; i++)
        if (strview_equal(all[i].key, all[i - 1].key))
            return label_fault(err, "duplicate", "the same key is given twice");
    *labels = all;
    *n = found;
    return PV_OK;
}

enum pv_code api_query_boolean(const struct http_request *request,
                               const char *name,
                               bool otherwise,
                               bool *value,
                               struct pv_error *err)
{
    const char *text = http_query(request, name);
    *value = otherwise;
    if (text == NULL)
        return PV_OK;
    *value = strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!*value && strcasecmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return pv_fault(err, PV_PLACE_PARAMETER, name, "wrong_type", "must be true or false");
    return PV_OK;
}

enum pv_code api_query_instant(const struct http_request *request,
                               const char *name,
                               int64_t *us,
                               struct pv_error *err)
{
    const char *text = http_query(request, name);
    *us = RUN_NO_INSTANT;
    if (text == NULL || instant_parse(text, us))
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, name, "invalid_instant",
                    "must be an RFC 3339 instant such as 2026-01-05T10:00:00Z");
}

static enum pv_code read_whole(const struct http_request *request,
                               const char *name,
                               int64_t largest,
                               int64_t *value,
                               struct pv_error *err)
{
    const char *text = http_query(request, name);
    *value = RUN_UNKNOWN;
    if (text == NULL)
        return PV_OK;
    size_t digits = strspn(text, "0123456789");
    bool number = digits > 0 && digits <= DIGITS_MAX && text[digits] == '\0';
    long long parsed = number ? strtoll(text, NULL, 10) : 0;
    if (parsed < 1 || parsed > largest)
        return pv_fault(err, PV_PLACE_PARAMETER, name, "out_of_range",
                        "must be a whole number from 1 to %lld", (long long)largest);
    *value = parsed;
    return PV_OK;
}

enum pv_code api_query_count(const struct http_request *request,
                             const char *name,
                             int64_t *value,
                             struct pv_error *err)
{
    return read_whole(request, name, API_QUERY_COUNT_MAX, value, err);
}

/* NAN: it is none. */
static double parse_number(struct strview text)
{
    char copy[64], *end = NULL;
    /* Digits first: strtod also takes spaces, hexadecimal and words. */
    if (text.n == 0 || text.n >= sizeof copy || text.at[0] < '0' || text.at[0] > '9')
        return (double)NAN;
    memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    if (strspn(copy, "0123456789.eE+-") != text.n)
        return (double)NAN;
    double parsed = strtod(copy, &end);
    return *end == '\0' ? parsed : (double)NAN;
}

enum pv_code api_query_number(const struct http_request *request,
                              const char *name,
                              double low,
                              double high,
                              double *value,
                              struct pv_error *err)
{
    const char *text = http_query(request, name);
    *value = (double)NAN;
    if (text == NULL)
        return PV_OK;
    double parsed = parse_number(strview_of(text));
    if (!(parsed > low) || !(parsed <= high))
        return pv_fault(err, PV_PLACE_PARAMETER, name, "out_of_range",
                        "must be a number above %s, at most %s", quantity_digits(low, 6).text,
                        quantity_digits(high, 6).text);
    *value = parsed;
    return PV_OK;
}

enum pv_code api_query_word(const struct http_request *request,
                            const char *name,
                            const char *const words[],
                            size_t *at,
                            struct pv_error *err)
{
    const char *text = http_query(request, name);
    char known[128] = "";
    size_t used = 0;
    *at = 0;
    for (size_t i = 0; words[i] != NULL && text != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *at = i;
            return PV_OK;
        }
        int n = snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", words[i]);
        used += n > 0 && (size_t)n < sizeof known - used ? (size_t)n : 0;
    }
    return text == NULL ? PV_OK
                        : pv_fault(err, PV_PLACE_PARAMETER, name, "not_allowed",
                                   "must be one of: %s", known);
}

enum pv_code
api_query_problem_size(const struct http_request *request, double *value, struct pv_error *err)
{
    PV_TRY(api_query_number(request, "problem_size", 0, CODEC_PROBLEM_SIZE_MAX, value, err));
    if (*value < CODEC_PROBLEM_SIZE_MIN)
        return pv_fault(err, PV_PLACE_PARAMETER, "problem_size", "out_of_range",
                        "must be at least %s", quantity_digits(CODEC_PROBLEM_SIZE_MIN, 6).text);
    return PV_OK;
}

/* One item of a list; 0: it is none. */
static int64_t parse_count(struct strview text, int64_t largest)
{
    int64_t value = 0;
    if (text.n == 0 || text.n > DIGITS_MAX)
        return 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return 0;
        value = 10 * value + (text.at[i] - '0');
    }
    return value <= largest ? value : 0;
}

static enum pv_code refuse_repetition(
    struct arena *arena, const char *name, const double values[], size_t n, struct pv_error *err)
{
    double *sorted = arena_array(arena, n, sizeof *sorted);
    if (sorted == NULL)
        return pv_no_memory(err);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, order_by_double);
    for (size_t i = 1; i < n; i++)
        if (sorted[i] <= sorted[i - 1])
            return pv_fault(err, PV_PLACE_PARAMETER, name, "duplicate", "names %s twice",
                            quantity_digits(sorted[i], 7).text);
    return PV_OK;
}

/* What a list may hold. */
struct list_bounds {
    bool whole;
    double least, largest;
    size_t most; /* items */
};

static double parse_item(struct strview text, const struct list_bounds *bounds)
{
    double value =
        bounds->whole ? (double)parse_count(text, (int64_t)bounds->largest) : parse_number(text);
    return value >= bounds->least && value <= bounds->largest ? value : (double)NAN;
}

static enum pv_code read_list(const struct http_request *request,
                              const char *name,
                              const struct list_bounds *bounds,
                              double **values,
                              size_t *n,
                              struct pv_error *err)
{
    const char *at = http_query(request, name);
    size_t count = 1;
    *values = NULL;
    *n = 0;
    if (at == NULL)
        return PV_OK;
    for (const char *c = at; *c != '\0'; c++)
        count += *c == ',';
    if (count > bounds->most)
        return pv_fault(err, PV_PLACE_PARAMETER, name, "too_many_items",
                        "may list at most %zu numbers, lists %zu", bounds->most, count);
    double *list = arena_array(request->arena, count, sizeof *list);
    if (list == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(at, ",");
        list[i] = parse_item((struct strview){at, length}, bounds);
        if (isnan(list[i]))
            return pv_fault(err, PV_PLACE_PARAMETER, name, "out_of_range",
                            "must list %s from %s to %s, such as 1,2,4",
                            bounds->whole ? "whole numbers" : "numbers",
                            quantity_digits(bounds->least, 6).text,
                            quantity_digits(bounds->largest, 16).text);
        at += length + 1;
    }
    *values = list;
    *n = count;
    return refuse_repetition(request->arena, name, list, count, err);
}

enum pv_code api_query_counts(const struct http_request *request,
                              const char *name,
                              int64_t largest,
                              size_t most,
                              double **values,
                              size_t *n,
                              struct pv_error *err)
{
    const struct list_bounds bounds = {true, 1, (double)largest, most};
    return read_list(request, name, &bounds, values, n, err);
}

enum pv_code api_query_problem_sizes(const struct http_request *request,
                                     size_t most,
                                     double **values,
                                     size_t *n,
                                     struct pv_error *err)
{
    const struct list_bounds bounds = {false, CODEC_PROBLEM_SIZE_MIN, CODEC_PROBLEM_SIZE_MAX, most};
    return read_list(request, "problem_sizes", &bounds, values, n, err);
}

static const char *join_words(struct arena *arena, const char *const words[])
{
    char *joined = arena_strdup(arena, words[0]);
    for (size_t i = 1; joined != NULL && words[i] != NULL; i++)
        joined = arena_printf(arena, "%s, %s", joined, words[i]);
    return joined;
}

enum pv_code api_query_words(const struct http_request *request,
                             const char *name,
                             const char *const words[],
                             unsigned *listed,
                             struct pv_error *err)
{
    *listed = 0;
    const char *at = http_query(request, name);
    while (at != NULL) {
        size_t n = strcspn(at, ",");
        unsigned i = 0;
        while (words[i] != NULL && !strview_is((struct strview){at, n}, words[i]))
            i++;
        if (words[i] == NULL) {
            const char *all = join_words(request->arena, words);
            return pv_fault(err, PV_PLACE_PARAMETER, name, "not_allowed",
                            "must list words out of: %s", all == NULL ? "" : all);
        }
        *listed |= 1u << i;
        at = at[n] == '\0' ? NULL : at + n + 1;
    }
    return PV_OK;
}

enum pv_code
api_query_run_include(const struct http_request *request, unsigned *include, struct pv_error *err)
{
    static const char *const words[] = {"stages", "tasks", NULL};
    unsigned listed;
    PV_TRY(api_query_words(request, "include", words, &listed, err));
    *include =
        ((listed & 1u) != 0 ? CODEC_RUN_STAGES : 0) | ((listed & 2u) != 0 ? CODEC_RUN_TASKS : 0);
    return PV_OK;
}

enum pv_code
api_query_name(const struct http_request *request, const char **name, struct pv_error *err)
{
    *name = http_path_parameter(request, "name");
    if (codec_is_name(strview_of(*name)))
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, "name", "invalid_name",
                    "must be 1 to 255 characters without control characters");
}
