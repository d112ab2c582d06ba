#include "ingest/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/vector.h"

void members_init(struct members *members,
                  size_t entries_max,
                  size_t name_bytes_max,
                  struct ledger_account *account)
{
    *members = (struct members){.entries_max = entries_max, .name_bytes_max = name_bytes_max};
    arena_init(&members->arena, 0);
    members->arena.account = account;
}

void members_fini(struct members *members)
{
    arena_fini(&members->arena);
    *members = (struct members){.n = 0};
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
static bool read_rolling(const char *base, struct member *member)
{
    if (!take_prefix(&base, "events_") || !take_number(&base, &member->number) || *base != '_')
        return false;
    base++;
    member->layout = MEMBER_ROLLING;
    member->log = (struct strview){base, strcspn(base, ".")};
    member->compact = ends_with(base, ".compact");
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

static bool read_timed(const char *base, struct member *member)
{
    if (!take_prefix(&base, "eventlog"))
        return false;
    member->number = UINT64_MAX;
    if (*base == '-' && (base++, !take_time(&base, &member->number)))
        return false;
    if (*base != '\0' && *base != '.')
        return false;
    member->layout = MEMBER_TIMED;
    member->log = (struct strview){base, 0};
    return true;
}

/* false: no part of any log. */
static bool read_name(const char *name, struct member *member)
{
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    const char *slash = strrchr(name, '/');
    const char *base = slash == NULL ? name : slash + 1;
    member->folder = (struct strview){name, (size_t)(base - name)};
    if (base[0] == '\0' || base[0] == '.' || strncmp(base, "appstatus_", 10) == 0)
        return false;
    if (read_rolling(base, member) || read_timed(base, member))
        return true;
    member->layout = MEMBER_SINGLE;
    member->number = 0;
    member->log = (struct strview){base, strlen(base)};
    return true;
}

enum pv_code
members_add(struct members *members, const char *name, uint64_t where, struct pv_error *err)
{
    if (members->entries == members->entries_max)
        return pv_fail(err, PV_E_LIMIT, "there are more than %zu files (archive_entries_max)",
                       members->entries_max);
    if (strlen(name) > members->name_bytes_max)
        return pv_fail(err, PV_E_LIMIT,
                       "a name of a file in it is longer than %zu bytes (archive_name_bytes_max)",
                       members->name_bytes_max);
    members->entries++;
    char *copy =
        vector_reserve(&members->arena, members->members, members->capacity, members->n + 1)
            ? arena_strdup(&members->arena, name)
            : NULL;
    if (copy == NULL)
        return pv_no_memory(err);
    struct member *member = &members->members[members->n];
    *member = (struct member){.name = copy, .where = where, .added = members->n};
    if (read_name(copy, member))
        members->n++;
    return PV_OK;
}

/* --- order --- */

static int compare_logs(const struct member *a, const struct member *b)
{
    int order = compare_strview(a->folder, b->folder);
    if (order == 0)
        order = (a->layout > b->layout) - (a->layout < b->layout);
    return order != 0 ? order : compare_strview(a->log, b->log);
}

static int compare_places(const struct member *a, const struct member *b)
{
    int order = (a->number > b->number) - (a->number < b->number);
    return order != 0 ? order : (int)a->compact - (int)b->compact;
}

static int compare_parts(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    int order = compare_logs(a, b);
    if (order == 0)
        order = compare_places(a, b);
    if (order == 0)
        order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->added > b->added) - (a->added < b->added);
}

void members_show(struct strview name, char out[MEMBERS_SHOWN])
{
    size_t skip = name.n < MEMBERS_SHOWN ? 0 : name.n - (MEMBERS_SHOWN - 1);
    size_t n = name.n - skip;
    for (size_t i = 0; i < n; i++) {
        char c = name.at[skip + i];
        out[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    out[n] = '\0';
}

static enum pv_code
contradict(const struct member *one, const struct member *other, struct pv_error *err)
{
    char names[2][MEMBERS_SHOWN];
    members_show(strview_of(one->name), names[0]);
    members_show(strview_of(other->name), names[1]);
    return pv_fail(err, PV_E_INVALID, "\"%s\" and \"%s\" are both the same part of a log", names[0],
                   names[1]);
}

/* Of the same path twice the later one stays; another path at the same place is a contradiction. */
static enum pv_code drop_repeats(struct members *members, struct pv_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < members->n; i++) {
        struct member *member = &members->members[i];
        struct member *before = kept == 0 ? NULL : &members->members[kept - 1];
        bool same = before != NULL && compare_logs(before, member) == 0 &&
                    compare_places(before, member) == 0;
        if (same && strcmp(before->name, member->name) != 0)
            return contradict(before, member, err);
        members->members[same ? kept - 1 : kept] = *member;
        kept += same ? 0 : 1;
    }
    members->n = kept;
    return PV_OK;
}

static uint64_t count_missing(const struct member_log *log)
{
    const struct member *first = log->members;
    if (first->layout != MEMBER_ROLLING)
        return 0;
    uint64_t missing = first->compact || first->number == 0 ? 0 : first->number - 1;
    for (size_t i = 1; i < log->n; i++)
        missing += log->members[i].number - log->members[i - 1].number - 1;
    return missing;
}

/* From the last compacted part on, which stands for all before it. */
static struct member_log make_log(const struct member *members, size_t n)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++)
        if (members[i].compact)
            first = i;
    struct member_log log = {.members = members + first, .n = n - first};
    log.missing = count_missing(&log);
    return log;
}

enum pv_code members_arrange(struct members *members, struct pv_error *err)
{
    if (members->n == 0)
        return PV_OK;
    qsort(members->members, members->n, sizeof *members->members, compare_parts);
    enum pv_code code = drop_repeats(members, err);
    if (code != PV_OK)
        return code;
    members->logs = arena_calloc(&members->arena, members->n, sizeof *members->logs);
    if (members->logs == NULL)
        return pv_no_memory(err);
    size_t first = 0;
    for (size_t i = 1; i <= members->n; i++) {
        if (i < members->n && compare_logs(&members->members[first], &members->members[i]) == 0)
            continue;
        members->logs[members->n_logs++] = make_log(&members->members[first], i - first);
        first = i;
    }
    return PV_OK;
}

/* What a log of several is called in a message. */
static void show_log(const struct member_log *log, char out[MEMBERS_SHOWN])
{
    const struct member *member = log->members;
    struct strview name = member->layout == MEMBER_TIMED ? member->folder : member->log;
    members_show(name.n == 0 ? strview_of("eventlog") : name, out);
}

enum pv_code
members_one_log(const struct members *members, const struct member_log **log, struct pv_error *err)
{
    if (members->n_logs == 0)
        return pv_fail(err, PV_E_INVALID, "there is no event log in it: it holds %zu file%s",
                       members->entries, PLURAL(members->entries));
    if (members->n_logs > 1) {
        char names[2][MEMBERS_SHOWN];
        show_log(&members->logs[0], names[0]);
        show_log(&members->logs[1], names[1]);
        return pv_fail(err, PV_E_INVALID,
                       "it holds %zu logs where one is expected: \"%s\", \"%s\"%s; send each by "
                       "itself",
                       members->n_logs, names[0], names[1], members->n_logs > 2 ? ", ..." : "");
    }
    *log = &members->logs[0];
    return PV_OK;
}
