#include "ingest/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/vector.h"

void parts_init(struct parts *parts, size_t entries_max, size_t name_bytes_max)
{
    *parts = (struct parts){.entries_max = entries_max, .name_bytes_max = name_bytes_max};
    arena_init(&parts->names, 0);
}

void parts_fini(struct parts *parts)
{
    arena_fini(&parts->names);
    free(parts->parts);
    free(parts->logs);
    *parts = (struct parts){.n = 0};
}

/* --- names --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_prefix(const char **text, const char *prefix)
{
    size_t n = strlen(prefix);
    if (strncmp(*text, prefix, n) != 0)
        return false;
    *text += n;
    return true;
}

/* At most 18 digits, which always fit. */
static bool take_number(const char **text, uint64_t *number)
{
    size_t n = 0;
    for (*number = 0; n < 18 && is_digit((*text)[n]); n++)
        *number = *number * 10 + (uint64_t)((*text)[n] - '0');
    bool whole = n > 0 && !is_digit((*text)[n]);
    *text += n;
    return whole;
}

static bool ends_with(const char *text, const char *suffix)
{
    size_t n = strlen(text);
    size_t m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

/* Spark allows no dot in <log>: what follows one is the codec, or the word compact. */
static bool read_rolling(const char *base, struct part *part)
{
    if (!take_prefix(&base, "events_") || !take_number(&base, &part->number) || *base != '_')
        return false;
    base++;
    part->layout = PART_ROLLING;
    part->log = (struct strview){base, strcspn(base, ".")};
    part->compact = ends_with(base, ".compact");
    return true;
}

/* 2021-06-14--20-00 as 202106142000 */
static bool take_time(const char **text, uint64_t *number)
{
    static const char shape[] = "dddd-dd-dd--dd-dd";
    *number = 0;
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        char c = (*text)[i];
        if (shape[i] == 'd' ? !is_digit(c) : c != shape[i])
            return false;
        if (shape[i] == 'd')
            *number = *number * 10 + (uint64_t)(c - '0');
    }
    *text += sizeof shape - 1;
    return true;
}

static bool read_timed(const char *base, struct part *part)
{
    if (!take_prefix(&base, "eventlog"))
        return false;
    part->number = UINT64_MAX;
    if (*base == '-' && (base++, !take_time(&base, &part->number)))
        return false;
    if (*base != '\0' && *base != '.')
        return false;
    part->layout = PART_TIMED;
    part->log = (struct strview){base, 0};
    return true;
}

/* false: no part of any log. */
static bool read_name(const char *name, struct part *part)
{
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    const char *slash = strrchr(name, '/');
    const char *base = slash == NULL ? name : slash + 1;
    part->folder = (struct strview){name, (size_t)(base - name)};
    if (base[0] == '\0' || base[0] == '.' || strncmp(base, "appstatus_", 10) == 0)
        return false;
    if (read_rolling(base, part) || read_timed(base, part))
        return true;
    part->layout = PART_SINGLE;
    part->number = 0;
    part->log = (struct strview){base, strlen(base)};
    return true;
}

enum pv_code parts_add(struct parts *parts, const char *name, uint64_t where, struct pv_error *err)
{
    if (parts->entries == parts->entries_max)
        return pv_fail(err, PV_E_LIMIT, "there are more than %zu files (archive_entries_max)",
                       parts->entries_max);
    if (strlen(name) > parts->name_bytes_max)
        return pv_fail(err, PV_E_LIMIT,
                       "a name of a file in it is longer than %zu bytes (archive_name_bytes_max)",
                       parts->name_bytes_max);
    parts->entries++;
    char *copy = vector_reserve(NULL, parts->parts, parts->capacity, parts->n + 1)
                     ? arena_strdup(&parts->names, name)
                     : NULL;
    if (copy == NULL)
        return pv_no_memory(err);
    struct part *part = &parts->parts[parts->n];
    *part = (struct part){.name = copy, .where = where, .added = parts->n};
    if (read_name(copy, part))
        parts->n++;
    return PV_OK;
}

/* --- order --- */

static int compare_logs(const struct part *a, const struct part *b)
{
    int order = compare_strview(a->folder, b->folder);
    if (order == 0)
        order = (a->layout > b->layout) - (a->layout < b->layout);
    return order != 0 ? order : compare_strview(a->log, b->log);
}

static int compare_places(const struct part *a, const struct part *b)
{
    int order = (a->number > b->number) - (a->number < b->number);
    return order != 0 ? order : (int)a->compact - (int)b->compact;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left;
    const struct part *b = right;
    int order = compare_logs(a, b);
    if (order == 0)
        order = compare_places(a, b);
    if (order == 0)
        order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->added > b->added) - (a->added < b->added);
}

void parts_show(struct strview name, char out[PARTS_SHOWN])
{
    size_t skip = name.n < PARTS_SHOWN ? 0 : name.n - (PARTS_SHOWN - 1);
    size_t n = name.n - skip;
    for (size_t i = 0; i < n; i++) {
        char c = name.at[skip + i];
        out[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    out[n] = '\0';
}

static enum pv_code
contradict(const struct part *one, const struct part *other, struct pv_error *err)
{
    char names[2][PARTS_SHOWN];
    parts_show(strview_of(one->name), names[0]);
    parts_show(strview_of(other->name), names[1]);
    return pv_fail(err, PV_E_INVALID, "\"%s\" and \"%s\" are both the same part of a log", names[0],
                   names[1]);
}

/* Of the same path twice the later one stays; another path at the same place is a contradiction. */
static enum pv_code drop_repeats(struct parts *parts, struct pv_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < parts->n; i++) {
        struct part *part = &parts->parts[i];
        struct part *before = kept == 0 ? NULL : &parts->parts[kept - 1];
        bool same =
            before != NULL && compare_logs(before, part) == 0 && compare_places(before, part) == 0;
        if (same && strcmp(before->name, part->name) != 0)
            return contradict(before, part, err);
        parts->parts[same ? kept - 1 : kept] = *part;
        kept += same ? 0 : 1;
    }
    parts->n = kept;
    return PV_OK;
}

static uint64_t count_missing(const struct part_log *log)
{
    const struct part *first = log->parts;
    if (first->layout != PART_ROLLING)
        return 0;
    uint64_t missing = first->compact || first->number == 0 ? 0 : first->number - 1;
    for (size_t i = 1; i < log->n; i++)
        missing += log->parts[i].number - log->parts[i - 1].number - 1;
    return missing;
}

/* From the last compacted part on, which stands for all before it. */
static struct part_log make_log(const struct part *parts, size_t n)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++)
        if (parts[i].compact)
            first = i;
    struct part_log log = {.parts = parts + first, .n = n - first};
    log.missing = count_missing(&log);
    return log;
}

enum pv_code parts_arrange(struct parts *parts, struct pv_error *err)
{
    if (parts->n == 0)
        return PV_OK;
    qsort(parts->parts, parts->n, sizeof *parts->parts, compare_parts);
    enum pv_code code = drop_repeats(parts, err);
    if (code != PV_OK)
        return code;
    parts->logs = calloc(parts->n, sizeof *parts->logs);
    if (parts->logs == NULL)
        return pv_no_memory(err);
    size_t first = 0;
    for (size_t i = 1; i <= parts->n; i++) {
        if (i < parts->n && compare_logs(&parts->parts[first], &parts->parts[i]) == 0)
            continue;
        parts->logs[parts->n_logs++] = make_log(&parts->parts[first], i - first);
        first = i;
    }
    return PV_OK;
}

/* What a log of several is called in a message. */
static void show_log(const struct part_log *log, char out[PARTS_SHOWN])
{
    const struct part *part = log->parts;
    struct strview name = part->layout == PART_TIMED ? part->folder : part->log;
    parts_show(name.n == 0 ? strview_of("eventlog") : name, out);
}

enum pv_code
parts_one_log(const struct parts *parts, const struct part_log **log, struct pv_error *err)
{
    if (parts->n_logs == 0)
        return pv_fail(err, PV_E_INVALID, "there is no event log in it: it holds %zu files",
                       parts->entries);
    if (parts->n_logs > 1) {
        char names[2][PARTS_SHOWN];
        show_log(&parts->logs[0], names[0]);
        show_log(&parts->logs[1], names[1]);
        return pv_fail(err, PV_E_INVALID,
                       "it holds %zu logs where one is expected: \"%s\", \"%s\"%s; send each by "
                       "itself",
                       parts->n_logs, names[0], names[1], parts->n_logs > 2 ? ", ..." : "");
    }
    *log = &parts->logs[0];
    return PV_OK;
}
