#ifndef BASE_FINDING_H
#define BASE_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/code.h"
#include "base/error.h"

/*
 * What is worth knowing about a result: a reason for it, something to be careful about, or what was
 * wrong with the input. Every reason and every warning of the service is one of these.
 */
enum { FINDING_EVIDENCE_MAX = 12 };

struct finding_evidence {
    const char *name; /* static */
    double value;     /* finite; NAN where `text` has it */
    const char *text; /* NULL where `value` has it */
};

struct finding {
    const char *code;    /* stable word, such as "few_runs" */
    const char *message; /* one sentence or more */
    struct finding_evidence evidence[FINDING_EVIDENCE_MAX];
    size_t n_evidence;
};

/* A list that grows. Start with {.arena = ...}; items and messages live there. A list without an
 * arena takes nothing: nobody asks for its findings. */
struct findings {
    struct arena *arena;
    struct finding *items;
    size_t n;
    size_t capacity;
    bool failed; /* memory ran out: a finding is missing */
};

/* Append a finding with a printed message. code is borrowed. NULL: the list has no arena, or memory
 * ran out; the functions below accept that. */
struct finding *finding_add(struct findings *findings, const char *code, const char *format, ...)
    PV_PRINTF(3, 4);

/* Add a number to the evidence; one that is not finite, which is unknown, is left out. name is
 * static. */
void finding_number(struct finding *finding, const char *name, double value);

/* Add a text, which must live as long as the finding; NULL and "" are left out. */
void finding_text(struct finding *finding, const char *name, const char *text);

/* Add "count", of the things concerned. */
void finding_count(struct finding *finding, size_t count);

/* Move the last finding to the front. */
void findings_lead(struct findings *findings);

/* The number of that name among the evidence, NAN where there is none. */
double finding_value(const struct finding *finding, const char *name);

/* The first with that code; NULL: there is none. */
const struct finding *finding_find(const struct findings *findings, const char *code);

/* PV_E_MEMORY where a finding is missing. */
enum pv_code findings_check(const struct findings *findings, struct pv_error *err) PV_MUSTCHECK;

#endif
