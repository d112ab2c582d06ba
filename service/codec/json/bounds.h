#ifndef CODEC_JSON_BOUNDS_H
#define CODEC_JSON_BOUNDS_H

#include <stdint.h>

#include "core/history/problem_size.h"

/*
 * What quantities of one kind may be, wherever they are sent: far above anything real, and low
 * enough that sums and products stay far from overflow. The contract (openapi/) names the same
 * figures.
 */
#define CODEC_NAME_MAX 255
#define CODEC_DESCRIPTION_BYTES_MAX 4096
#define CODEC_SECONDS_MAX 1e12     /* one duration: 30,000 years */
#define CODEC_ORIGIN_S_MAX 1e18    /* an instant, from an origin that the caller chose */
#define CODEC_SECONDS_MIN 1e-9     /* of those that are divided by: less makes quotients overflow */
#define CODEC_SECONDS_SUM_MAX 1e19 /* durations added up over tasks, or times cores */
#define CODEC_SLOT_S_MAX 1e9       /* a slot of time */
#define CODEC_OUTAGE_S_MAX 1e9     /* an outage, and what simulations count in slots */
#define CODEC_OVERSCALE_MAX 1e6    /* of stage plans */
#define CODEC_RATE_MAX 1e18        /* records or bytes, also a second */
#define CODEC_RATE_MIN 1e-9        /* of those that are divided by */
#define CODEC_BYTES_MAX INT64_C(1000000000000000000)
#define CODEC_COUNT_MAX INT64_C(1000000000)      /* executors, cores, slots, runs */
#define CODEC_COST_MAX 1e15                      /* money for a run */
#define CODEC_PRICE_MAX 1e12                     /* money an hour */
#define CODEC_INTERRUPTIONS_MAX 3600.0           /* an hour: one a second */
#define CODEC_SEED_MAX INT64_C(9007199254740991) /* what every number of JSON holds exactly */
#define CODEC_DAYS_MAX INT64_C(36500)
#define CODEC_ID_MAX INT64_C(1000000000000) /* numbers of stages and attempts */
#define CODEC_PROBLEM_SIZE_MIN PROBLEM_SIZE_MIN
#define CODEC_PROBLEM_SIZE_MAX PROBLEM_SIZE_MAX

#endif
