#ifndef CODEC_ADVICE_ADVICE_SPARK_H
#define CODEC_ADVICE_ADVICE_SPARK_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/advice/answer.h"

/* Spark properties in a request for advice and in its reply. */

/* Of each map and list of properties, and of a property's key, in bytes. */
enum { CODEC_SPARK_PROPERTIES_MAX = 100, CODEC_SPARK_KEY_MAX = 128 };

/*
 * The members current, enforced, preserve, exclude and dynamic_allocation of `constraints`. Faults:
 * what is no property of Spark; enforced properties that contradict each other, the executors or
 * the cores that the other constraints allow. An enforced number of executors or cores bounds the
 * request, so the bounds have to be decoded before.
 */
void codec_advice_spark_decode(const struct codec_node *constraints,
                               struct advice_question *request);

/* The member `spark`; null where there is no configuration. */
void codec_advice_spark_encode(struct writer *w, const struct advice_answer *answer);

#endif
