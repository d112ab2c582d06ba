#ifndef CORE_WORKLOAD_CHUNK_ENCODER_H
#define CORE_WORKLOAD_CHUNK_ENCODER_H

#include "base/arena.h"
#include "base/error.h"
#include "core/workload/chunk_format.h"
#include "core/workload/workload_chunk.h"

/*
 * From jobs to chunks. A chunk is gathered column by column and written when the next job might not
 * fit any more; only then is it known which encoding of its times takes least.
 */
struct chunk_encoder {
    struct workload_sink sink;
    unsigned char *columns[CHUNK_COLUMNS]; /* but of times, as they will be written */
    size_t bytes[CHUNK_COLUMNS];
    bool given[CHUNK_COLUMNS]; /* holds more than the default */
    double *arrivals;
    size_t n_arrivals;
    double *durations;
    size_t n_durations;
    bool continues;
    struct {
        char text[WORKLOAD_NAME_MAX];
        size_t n;
    } last_name;
    uint64_t tasks[WORKLOAD_LISTS]; /* of this chunk */
    uint64_t runs[WORKLOAD_LISTS];
    unsigned char *out;
    /* Of all chunks. */
    uint64_t chunks;
    uint64_t encoded_bytes;
    uint64_t rounded_tasks;
    uint64_t all_runs[WORKLOAD_LISTS];
};

/* An encoder that is all zeros; it takes 4 MB of the arena. PV_E_MEMORY. */
enum pv_code chunk_encoder_init(struct chunk_encoder *encoder,
                                const struct workload_sink *sink,
                                struct arena *arena,
                                struct pv_error *err) PV_MUSTCHECK;

/* A valid job, borrowed for the call. What the sink returns. O(runs). */
enum pv_code chunk_encoder_add(struct chunk_encoder *encoder,
                               const struct workload_job *job,
                               struct pv_error *err) PV_MUSTCHECK;

/* Write what is left. */
enum pv_code chunk_encoder_finish(struct chunk_encoder *encoder, struct pv_error *err) PV_MUSTCHECK;

#endif
