#ifndef CORE_WORKLOAD_WORKLOAD_IMPORT_H
#define CORE_WORKLOAD_WORKLOAD_IMPORT_H

#include "base/arena.h"
#include "base/error.h"
#include "core/workload/workload.h"
#include "core/workload/workload_chunk.h"

/*
 * From a trace, as it arrives, to chunks of the compact form and a summary. Memory does not grow
 * with the trace (docs/workloads.md, "Limits"): 4 MB for the encoder, 16 MB for statistics, a line,
 * and, of Google's traces, the tasks of jobs that have not ended.
 *
 * A fault of the trace is PV_E_INVALID with a message that names the line, from 1, or, of jobs that
 * the caller gives, the job: "line 17: 3 durations are stated, there are 2". Chunks written before
 * it are worth nothing: the caller drops them. An import that failed is only to be ended.
 */

/* How durations follow from the bytes of a trace of SWIM (docs/workloads.md, "swim"). */
struct workload_rates {
    double map_bytes;           /* of input for each map; the last one takes what is left */
    double reduce_bytes;        /* of shuffle for each reduce */
    double map_bytes_per_s;     /* that a map reads */
    double shuffle_bytes_per_s; /* that a reduce fetches */
    double output_bytes_per_s;  /* that a reduce writes */
    double task_overhead_s;     /* of every task; > 0 */
};
/* 64e6, 256e6, 10e6, 10e6, 20e6, 1. */
extern const struct workload_rates workload_rates_default;

struct workload_terms {
    enum workload_format format;
    struct workload_rates rates; /* of WORKLOAD_SWIM */
};

struct workload_import;

/*
 * terms, sink  copied; limits may be NULL: the default ones
 * arena        holds the import; what grows is counted to its account and given back by
 *              workload_import_end
 * *import      written on PV_OK
 *
 * PV_E_DOMAIN: rates that are not positive and finite. PV_E_MEMORY.
 */
enum pv_code workload_import_begin(const struct workload_terms *terms,
                                   const struct workload_limits *limits,
                                   const struct workload_sink *sink,
                                   struct arena *arena,
                                   struct workload_import **import,
                                   struct pv_error *err) PV_MUSTCHECK;

/* More of the text: pieces of any size, cut anywhere. PV_E_INVALID: a fault of the trace.
 * PV_E_LIMIT: more than `limits` allow. PV_E_MEMORY, and what the sink returns. O(bytes). */
enum pv_code workload_import_feed(struct workload_import *import,
                                  struct strview bytes,
                                  struct pv_error *err) PV_MUSTCHECK;

/* A job that does not come from text, instead of feeding; borrowed for the call. Jobs may come in
 * any order of arrival. As workload_import_feed. */
enum pv_code workload_import_job(struct workload_import *import,
                                 const struct workload_job *job,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Lines begun so far, or jobs given: the place a message names. */
uint64_t workload_import_lines(const struct workload_import *import);

/* The trace ends. The summary's warnings live in `arena`. PV_E_INVALID: there is no job, or the
 * last line is cut. As workload_import_feed. Called once. */
enum pv_code workload_import_finish(struct workload_import *import,
                                    struct arena *arena,
                                    struct workload_summary *summary,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Give back what it holds beside the arena. NULL is fine. */
void workload_import_end(struct workload_import *import);

#endif
