#ifndef API_SCHEDULING_DECISION_LOG_H
#define API_SCHEDULING_DECISION_LOG_H

#include "api/api.h"
#include "api/scheduling/decision_summary.h"
#include "base/finding.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "http/route.h"

/*
 * A log of recorded states, replayed: the body of a call for decisions as NDJSON, each line a state
 * in which one was made. Lines are decided on while they arrive; the reply has a line for each in the
 * same order, what was decided or what is wrong with it, and a last one that sums up. So a line at
 * fault does not end the replay; what ends it is a log that is too large, or not enough memory for
 * the reply, which is held until the body is whole.
 *
 * A kind of decisions is a row: what a line holds, and how it is decided on. Each has a stream of its
 * own, which differs in `begin` alone.
 */
struct decision_log_row {
    size_t line_bytes; /* of what a line becomes */
    /* Faults are the reader's. */
    void (*decode)(const struct codec_node *line, const struct config *config, void *decoded);
    /* Writes the member `action` and, with `figures`, the member `decision`, the reply that the state
     * alone would get. PV_E_MEMORY. */
    enum pv_code (*decide)(const void *decoded,
                           bool figures,
                           struct arena *scratch,
                           struct writer *w,
                           struct decision_made *made,
                           struct pv_error *err);
    /* What in a line contradicts the line before that was not at fault: warnings of the line. `memory`,
     * all zeros at first, keeps what is needed of a line, and is given back by `forget`. PV_E_MEMORY.
     * NULL: each line is by itself. */
    size_t memory_bytes;
    enum pv_code (*follow)(const void *decoded,
                           void *memory,
                           struct arena *scratch,
                           struct findings *warnings,
                           struct pv_error *err);
    void (*forget)(void *memory);
};

/* `begin` of a stream, with its row; the others are as they are. */
enum pv_code decision_log_begin(const struct decision_log_row *row,
                                void *context,
                                struct http_request *request,
                                void **state,
                                struct pv_error *err) PV_MUSTCHECK;
enum pv_code decision_log_piece(
    void *context, void *state, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;
enum pv_code decision_log_finish(void *context,
                                 struct http_request *request,
                                 void *state,
                                 struct http_response *response,
                                 struct pv_error *err) PV_MUSTCHECK;
void decision_log_end(void *context, void *state);

#endif
