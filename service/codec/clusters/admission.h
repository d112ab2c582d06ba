#ifndef CODEC_CLUSTERS_ADMISSION_H
#define CODEC_CLUSTERS_ADMISSION_H

#include "codec/json/shape.h"
#include "core/cluster/admission.h"

struct codec_admission_limits {
    int64_t cores;
    int64_t length_s; /* for which an admission may hold cores */
};

extern const struct shape codec_admission_question_shape;
extern const struct shape codec_admission_shape;
extern const struct shape codec_admission_extension_shape;

/* POST. Faults: unknown members, types, ranges, cores that are no whole quanta, cores_min above cores;
 * without advice_id, what would be taken from the advice is required. */
void codec_admission_decode(const struct codec_node *node,
                            const struct codec_admission_limits *limits,
                            struct admission_question *question);

/* PATCH: {expires_at}. */
struct codec_admission_extension {
    int64_t expires_us;
};
void codec_admission_decode_extension(const struct codec_node *node,
                                      struct codec_admission_extension *extension);

void codec_admission_encode(struct writer *w, const struct admission *admission);

#endif
