#ifndef TESTS_WORKLOAD_CASES_H
#define TESTS_WORKLOAD_CASES_H

#include "core/workload/workload_import.h"
#include "core/workload/workload_load.h"

/* Traces for tests, and what becomes of them. */
enum { CASE_CHUNKS_MAX = 256 };

struct workload_case {
    struct arena arena;
    struct workload_limits limits;
    struct workload_rates rates;
    struct workload_import *import;
    struct strview chunks[CASE_CHUNKS_MAX]; /* in the arena */
    size_t n_chunks;
    enum pv_code code; /* of the import */
    struct pv_error err;
    struct workload_summary summary;
};

/* Nothing read yet; limits and rates as by default. */
void workload_case_init(struct workload_case *one);
void workload_case_fini(struct workload_case *one);

/* Read a text whose length is known, in pieces of so many bytes; the outcome is in `code` and
 * `err`. */
void workload_case_feed(struct workload_case *one,
                        enum workload_format format,
                        struct strview text,
                        size_t piece);

/* A text at once; it succeeds. */
void workload_case_read(struct workload_case *one, enum workload_format format, const char *text);

/* An import for jobs that are given, and its end, which succeeds. */
void workload_case_begin(struct workload_case *one);
void workload_case_finish(struct workload_case *one);

/* All jobs as the chunks have them, a line each: name, arrival, tasks as duration*count, reduces
 * behind a bar, and what else is given. In the arena. */
const char *workload_case_text(struct workload_case *one);

/* Jobs as loaded, in the arena. */
struct workload_jobs workload_case_load(struct workload_case *one,
                                        const struct workload_load_terms *terms);

/* The value of a warning's evidence "count", or of another name; NAN: there is no such warning. */
double workload_case_warning(const struct workload_case *one, const char *code, const char *name);

#endif
