#ifndef API_KUBERNETES_ADMISSION_VERDICT_H
#define API_KUBERNETES_ADMISSION_VERDICT_H

#include "api/advice/advice_made.h"
#include "codec/kubernetes/admission_review.h"

/* What a review comes to, in words for who runs kubectl. */

struct admission_rules {
    bool validates; /* false: it mutates */
    bool denies[ADVISE_VERDICTS];
    bool closed; /* nothing is admitted without an answer of provisor's */
};

/* The verdict of the advice: denied, allowed with a warning, or allowed without a word. */
void admission_judge(const struct admission_rules *rules,
                     const struct admission_review *review,
                     const struct advice_made *made,
                     struct arena *arena,
                     struct admission_answer *answer);

/* Advice that could not be made: the history lacks what it takes, what was asked cannot be, or the uid
 * was another review's.
 * False: it is the service that fails, see admission_fail. */
bool admission_judge_fault(const struct admission_rules *rules,
                           const struct admission_review *review,
                           enum pv_code code,
                           const struct pv_error *err,
                           struct arena *arena,
                           struct admission_answer *answer);

/* A review without a question: admitted, with a warning where annotations are incomplete; refused
 * by the validating webhook where one cannot be read. */
void admission_pass(const struct admission_rules *rules,
                    const struct admission_review *review,
                    struct admission_answer *answer);

void admission_fail(const struct admission_rules *rules, struct admission_answer *answer);

/* Whether the object is to have what was advised. */
bool admission_applies(const struct admission_rules *rules,
                       const struct admission_review *review,
                       const struct advice_made *made);

#endif
