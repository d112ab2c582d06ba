#ifndef API_SCHEDULING_DECISION_SUMMARY_H
#define API_SCHEDULING_DECISION_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_writer.h"

struct decision_made {
    const char *kind;   /* the words by which decisions are counted; static */
    const char *choice; /* what was decided */
    const char *rule;   /* on what grounds; NULL: there are no rules */
    bool recorded;      /* the line says what was really done */
    bool differs;       /* from that */
};

/* What the decisions of a log come to; {0} has none yet. */
enum { DECISION_GROUPS_MAX = 64 };

struct decision_group {
    struct decision_made made; /* kind, choice and rule alone */
    uint64_t count;
    uint64_t different;
};

struct decision_summary {
    uint64_t lines;
    uint64_t refused;
    uint64_t recorded; /* lines that say what was done */
    uint64_t different;
    uint64_t contradicting;                            /* lines that contradict the one before */
    struct decision_group groups[DECISION_GROUPS_MAX]; /* in the order in which they came up */
    size_t n;
};

/* One more decision. Words are few: a kind has fewer than DECISION_GROUPS_MAX combinations of them. */
void decision_summary_add(struct decision_summary *summary, const struct decision_made *made);

/* The member `summary`. */
void decision_summary_write(struct writer *w, const struct decision_summary *summary);

#endif
