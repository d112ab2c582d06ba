#ifndef CODEC_KUBERNETES_ANNOTATION_VALUE_H
#define CODEC_KUBERNETES_ANNOTATION_VALUE_H

#include <stdbool.h>

#include "base/strview.h"

/* Values of annotations: texts, as Kubernetes has no other. Each reads the whole text, without blanks. */

/* "0.95" */
bool annotation_number(struct strview text, double *value);

/* A length of time above 0 in seconds: numbers with the units ms, s, m, h or d, as in "1h30m", or a
 * number of seconds without one. */
bool annotation_duration(struct strview text, double *seconds);

/* A problem size above 0: a number of blocks, or bytes with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB,
 * TiB), 128 MiB of which are a block. */
bool annotation_size(struct strview text, double *blocks);

#endif
