#ifndef UNIT_CODEC_CODEC_MEMORY_H
#define UNIT_CODEC_CODEC_MEMORY_H

#include <stdbool.h>

#include "base/json_writer.h"
#include "codec/json/reader.h"

/*
 * The k-th allocation fails, for k = 1, 2, ... until a request is decoded, its answer computed and
 * encoded. Requests are the seeds of the fuzz targets (CORPUS) and a few of what has no target.
 */

/* A run with stages. */
#define CODEC_MEMORY_RUN                                                                           \
    "{\"problem_size\":8,\"executors\":2,\"cores_per_executor\":2,\"duration_s\":20,"              \
    "\"labels\":{\"k\":\"v\"},\"stages\":[{\"id\":0,\"name\":\"s\",\"task_durations_s\":[1,2,3]}," \
    "{\"id\":1,\"parents\":[0],\"tasks\":4,\"task_duration_s\":2}]}"

/* What is done with a decoded body: PV_OK, or as err says. */
typedef enum pv_code (*codec_memory_handler)(const struct codec_node *top, struct pv_error *err);

/* For what follows, until it is set back. */
extern struct codec_memory_how {
    bool may_do_without; /* memory that only saves time */
    long step;           /* from one allocation that fails to the next; 1 */
} codec_memory_how;

/* `init` of the suites. */
void codec_memory_set_up(void);

/* A request that is answered, or has a fault. Returns how many allocations it takes. */
long codec_memory_one(const char *text, codec_memory_handler handle);
long codec_memory_faulty(const char *text, codec_memory_handler handle);

/* Every seed of a fuzz target; one at least must have an answer. */
void codec_memory_seeds(const char *target, codec_memory_handler handle);

/* The reply is complete: it has to be the same whenever all allocations succeed. */
enum pv_code codec_memory_finish(struct writer *w, struct pv_error *err);

#endif
