#ifndef CODEC_KUBERNETES_ANNOTATION_VALUE_H
#define CODEC_KUBERNETES_ANNOTATION_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strview.h"

/* Values of annotations: texts, as Kubernetes has no other. Each reads the whole text, without blanks. */

/* "0.95" */
bool annotation_number(struct strview text, double *value);

/* A whole number of at least 1. */
enum { ANNOTATION_COUNT_MAX = 1000000000 };
bool annotation_count(struct strview text, int64_t *count);

/* A length of time above 0 in seconds: numbers with the units ms, s, m, h or d, as in "1h30m", or a
 * number of seconds without one. */
bool annotation_duration(struct strview text, double *seconds);

/* A problem size above 0: a number of blocks, or bytes with a unit, 128 MiB of which are a block. Units
 * are powers of 1024, as Kubernetes (Ki, Mi, Gi, Ti) and Spark (k, m, g, t, in either case) have them,
 * also with B behind the i; and powers of 1000 where they end in B alone (kB, MB, GB, TB). */
bool annotation_size(struct strview text, double *blocks);

#endif
