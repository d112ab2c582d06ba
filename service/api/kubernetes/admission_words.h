#ifndef API_KUBERNETES_ADMISSION_WORDS_H
#define API_KUBERNETES_ADMISSION_WORDS_H

#include "api/advice/advice_made.h"
#include "codec/kubernetes/admission_review.h"

/*
 * What advice means for an object, in complete sentences for who runs kubectl. Each text is in the
 * arena, and fits into a warning behind admission_subject; NULL: there is no memory.
 */

/* "provisor: nightly-etl: ", which all that is said begins with. */
const char *admission_subject(const struct advice_made *made, struct arena *arena);

/* How long the executors in question take, and how likely that is in time. */
const char *admission_describe_prediction(const struct advice_made *made, struct arena *arena);

/* The fewest executors that would meet the deadline with the confidence asked for, and the shortest
 * deadline that would be met. */
const char *admission_describe_remedy(const struct admission_review *review,
                                      const struct advice_made *made,
                                      struct arena *arena);

/* Of an object that gets no patch: what it asks for, and which executors were considered instead. */
const char *admission_describe_considered(const struct admission_review *review,
                                          const struct advice_made *made,
                                          struct arena *arena);

/* That nothing can be predicted, and why. */
const char *admission_describe_unknown(const struct advice_made *made, struct arena *arena);

/* That the object's executors have other memory than the recorded runs had, although neither the
 * advice changes it nor measurements say that it is enough. *differs: false where there is nothing to
 * say. */
const char *admission_describe_memory(const struct admission_review *review,
                                      const struct advice_made *made,
                                      struct arena *arena,
                                      bool *differs);

/* Says that the patch changes memory that the object specifies, and why. *changes: false if it does
 * not. */
const char *admission_describe_memory_change(const struct admission_review *review,
                                             const struct advice_made *made,
                                             struct arena *arena,
                                             bool *changes);

/* A change of memory that is proposed, and how to apply it. *has: false if there is none. */
const char *
admission_describe_memory_proposal(const struct advice_made *made, struct arena *arena, bool *has);

#endif
