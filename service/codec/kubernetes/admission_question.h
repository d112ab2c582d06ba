#ifndef CODEC_KUBERNETES_ADMISSION_QUESTION_H
#define CODEC_KUBERNETES_ADMISSION_QUESTION_H

#include "codec/kubernetes/admission_review.h"

/*
 * The question of a review as the body of POST /v1/advice, so that it is read, bounded and kept like
 * any other.
 *
 * chooses  true: for the best executor count. What the author wants preserved is enforced as the
 *          object has it, and left out where it does not, as is spark.speculation unless the author
 *          allows it; `current` is what the object says.
 *          false: for those that the object asks for.
 */
void codec_admission_question_encode(struct writer *w,
                                     const struct admission_review *review,
                                     bool chooses);

/* What a member of that body is called where it comes from: the annotation, or the field of the
 * object. pointer: into the body, which was written with the same `chooses`. */
const char *codec_admission_origin(const char *pointer, bool chooses);

#endif
