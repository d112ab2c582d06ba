#ifndef CODEC_KUBERNETES_SPARK_PATCH_H
#define CODEC_KUBERNETES_SPARK_PATCH_H

#include "base/json_writer.h"
#include "codec/kubernetes/spark_object.h"
#include "core/spark/configuration.h"

/*
 * A JSON Patch (RFC 6902) that gives an object the properties of an advice, each where the rendering
 * `k8s` of advice has it: in the operator's field, else in sparkConf. What is there already is not
 * written again. A property with a field loses its entry in sparkConf, which would say otherwise; one
 * that the advice removes goes from both.
 *
 * keep       keys that are left as they are, whatever the advice has
 * advice_id  becomes spark.provisor.adviceId; NULL: there is none
 *
 * Returns the number of operations that the array has.
 */
size_t spark_patch_encode(struct writer *w,
                          const struct spark_object *object,
                          const struct spark_configuration *advised,
                          const struct strview keep[],
                          size_t n_keep,
                          const char *advice_id);

/*
 * What that patch would change, without the id of an advice, in words for people: as many texts as are
 * needed of at most `room` - 1 bytes each, such as "would set executor.instances from 4 to 6".
 *
 * texts  has room for `most`; in the arena. What does not fit is counted in the last one.
 * Returns how many there are; 0: it would change nothing. *memory: there was not enough.
 */
size_t spark_patch_describe(const struct spark_object *object,
                            const struct spark_configuration *advised,
                            const struct strview keep[],
                            size_t n_keep,
                            size_t room,
                            struct arena *arena,
                            const char *texts[],
                            size_t most,
                            bool *memory);

/* The bytes in base64 with padding (RFC 4648, section 4) into the arena; NULL: there is no memory. */
const char *spark_patch_base64(struct arena *arena, struct strview bytes);

#endif
