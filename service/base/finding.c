#include "base/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

static bool finding_make_room(struct findings *findings)
{
    if (findings->n < findings->capacity)
        return true;
    size_t capacity = findings->capacity == 0 ? FIRST_CAPACITY : 2 * findings->capacity;
    struct finding *items = arena_array(findings->arena, capacity, sizeof *items);
    if (items == NULL)
        return false;
    if (findings->n > 0)
        memcpy(items, findings->items, findings->n * sizeof *items);
    findings->items = items;
    findings->capacity = capacity;
    return true;
}

struct finding *finding_add(struct findings *findings, const char *code, const char *format, ...)
{
    if (findings->arena == NULL)
        return NULL;
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *message = n < 0 ? NULL : arena_alloc(findings->arena, (size_t)n + 1);
    if (message != NULL)
        (void)vsnprintf(message, (size_t)n + 1, format, again);
    va_end(again);
    if (message == NULL || !finding_make_room(findings)) {
        findings->failed = true;
        return NULL;
    }
    struct finding *finding = &findings->items[findings->n++];
    finding->code = code;
    finding->message = message;
    finding->n_evidence = 0;
    return finding;
}

static void add_evidence(struct finding *finding, struct finding_evidence evidence)
{
    if (finding->n_evidence < FINDING_EVIDENCE_MAX)
        finding->evidence[finding->n_evidence++] = evidence;
}

void finding_number(struct finding *finding, const char *name, double value)
{
    if (finding != NULL && isfinite(value))
        add_evidence(finding, (struct finding_evidence){name, value, NULL});
}

void finding_text(struct finding *finding, const char *name, const char *text)
{
    if (finding != NULL && text != NULL && text[0] != '\0')
        add_evidence(finding, (struct finding_evidence){name, (double)NAN, text});
}

void finding_count(struct finding *finding, size_t count)
{
    finding_number(finding, "count", (double)count);
}

void findings_lead(struct findings *findings)
{
    if (findings->n < 2 || findings->failed)
        return;
    const struct finding last = findings->items[findings->n - 1];
    memmove(findings->items + 1, findings->items, (findings->n - 1) * sizeof last);
    findings->items[0] = last;
}

double finding_value(const struct finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->n_evidence; i++)
        if (strcmp(finding->evidence[i].name, name) == 0)
            return finding->evidence[i].value;
    return (double)NAN;
}

const struct finding *finding_find(const struct findings *findings, const char *code)
{
    for (size_t i = 0; i < findings->n; i++)
        if (strcmp(findings->items[i].code, code) == 0)
            return &findings->items[i];
    return NULL;
}

enum pv_code findings_check(const struct findings *findings, struct pv_error *err)
{
    return findings->failed ? pv_no_memory(err) : PV_OK;
}
