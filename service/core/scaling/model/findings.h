#ifndef CORE_SCALING_MODEL_FINDINGS_H
#define CORE_SCALING_MODEL_FINDINGS_H

#include "core/scaling/model/law.h"

enum { MODEL_FINDINGS_MAX = 8, MODEL_EVIDENCE_MAX = 4 };

/* One statement: a stable word, a sentence, and the numbers in it. */
struct model_finding {
    char code[32];
    char message[280];
    struct {
        const char *name; /* static */
        double value;     /* NAN: unknown */
    } evidence[MODEL_EVIDENCE_MAX];
    size_t n_evidence;
};

struct model_account {
    struct model_finding findings[MODEL_FINDINGS_MAX];
    size_t n;
};

/* Add a statement, printf-like; NULL when there is no room. */
struct model_finding *
model_tell(struct model_account *account, const char *code, const char *format, ...)
    PV_PRINTF(3, 4);
/* Add a number to it; finding may be NULL. */
void model_add_evidence(struct model_finding *finding, const char *name, double value);

/* What the law says of the application, in plain words: what bounds the speedup, where it peaks,
 * which part of the time is which. Empty for a kind without describe. */
void model_describe(const struct model *model, struct model_account *account);

/* Statements that several laws make of an application (struct model_account). Each says nothing
 * where the model does not know the range that was observed, or gives no time there. */

/* However many executors, the speedup stays below `limit`, and half of it is there at `half_at`;
 * an infinite limit: none of the work is serial. `what`: of which problem. */
void account_tell_limit(struct model_account *account,
                        const char *what,
                        double limit,
                        double half_at);

/* At the largest problem size observed: the executors beyond which more make it slower, or that
 * there are none among those it can use. */
void account_tell_peak(const struct model *model, struct model_account *account);

/* What doubling the most executors observed would save, at the largest problem size observed. */
void account_tell_doubling(const struct model *model, struct model_account *account);

/* A part of the time at the largest configuration observed. */
struct account_part {
    const char *name; /* of the evidence, static */
    const char *what; /* a noun phrase */
    double seconds;
};

/* Which of the parts is the largest there, and by how much. n > 0. */
void account_tell_parts(struct model_account *account, const struct account_part parts[], size_t n);

/* The largest problem size and the most executors observed. False: not known. */
bool account_find_corner(const struct model *model, double *problem_size, double *executors);

#endif
