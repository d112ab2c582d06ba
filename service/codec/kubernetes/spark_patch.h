#ifndef CODEC_KUBERNETES_SPARK_PATCH_H
#define CODEC_KUBERNETES_SPARK_PATCH_H

#include "base/json_writer.h"
#include "codec/kubernetes/spark_object.h"
#include "core/spark/configuration.h"

/*
 * A JSON Patch (RFC 6902) that sets the recommended properties in an object, each in the place that
 * `format=k8s` gives it: the operator's field if there is one, else an entry of sparkConf. A value that
 * is there already is not written again. If a property has a field, its entry in sparkConf is removed,
 * because the operator ignores it; a property that the recommendation removes goes from both places.
 *
 * keep       keys that are left as they are, whatever is recommended
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
 * What that patch would change (the advice id aside), for an author to read: texts of at most `room` - 1
 * bytes each, such as "would set executor.instances from 4 to 6".
 *
 * texts  has room for `most` texts, which are in the arena. Changes that do not fit are counted in the
 *        last one.
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
