#ifndef API_WORKLOADS_WORKLOAD_TRACE_H
#define API_WORKLOADS_WORKLOAD_TRACE_H

#include <sodium.h>

#include "api/api.h"
#include "compression/compression.h"
#include "core/workload/workload_import.h"

/* A trace as it arrives: decompressed, digested and read, in pieces of any size, on compute workers. */
struct workload_trace {
    const struct config *config;
    struct workload_import *import; /* borrowed */
    struct decompressor *framing;
    uint64_t plain_bytes;
    crypto_generichash_state digest_state;
};

/* Of an empty struct, which may not move afterwards. account: of the request's memory.
 * PV_E_TOO_LARGE: Content-Length says more than a trace may have; PV_E_MEMORY. */
enum pv_code workload_trace_open(struct workload_trace *trace,
                                 const struct config *config,
                                 const struct http_request *request,
                                 struct workload_import *import,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Also of one never opened. */
void workload_trace_close(struct workload_trace *trace);

/* As decompressor_feed and workload_import_feed; PV_E_TOO_LARGE. */
enum pv_code workload_trace_feed(struct workload_trace *trace,
                                 const char *bytes,
                                 size_t n,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The body is whole. digest: of the plain text. PV_E_SYNTAX: the compressed stream is cut. The import
 * is the caller's to finish. */
enum pv_code workload_trace_finish(struct workload_trace *trace,
                                   unsigned char digest[32],
                                   struct pv_error *err) PV_MUSTCHECK;

#endif
