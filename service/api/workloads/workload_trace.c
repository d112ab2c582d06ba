#include "api/workloads/workload_trace.h"

#include "api/shared/upload.h"

enum { DIGEST_BYTES = 32 };

static struct upload_bound bound_of(const struct config *config)
{
    return (struct upload_bound){"a trace", config->workload_trace_bytes_max, ", decompressed",
                                 "workload_trace_bytes_max"};
}

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct workload_trace *trace = context;
    const struct upload_bound bound = bound_of(trace->config);
    trace->plain_bytes += n;
    if (trace->plain_bytes > (uint64_t)bound.bytes_most)
        return api_upload_too_large(&bound, err);
    (void)crypto_generichash_update(&trace->digest_state, (const unsigned char *)bytes, n);
    return workload_import_feed(trace->import, (struct strview){bytes, n}, err);
}

enum pv_code workload_trace_open(struct workload_trace *trace,
                                 const struct config *config,
                                 const struct http_request *request,
                                 struct workload_import *import,
                                 struct pv_error *err)
{
    const struct upload_bound bound = bound_of(config);
    const struct compression_limits limits = {
        .total_bytes = UINT64_MAX, /* take_plain counts them */
        .ratio = (double)config->eventlog_ratio_max,
        .window_log_max = (unsigned)config->zstd_window_log_max,
        .account = request->arena->account};
    PV_TRY(api_upload_check_length(&bound, request, err));
    trace->config = config;
    trace->import = import;
    (void)crypto_generichash_init(&trace->digest_state, NULL, 0, DIGEST_BYTES);
    trace->framing = decompressor_create(&limits, take_plain, trace);
    return trace->framing != NULL ? PV_OK : pv_no_memory(err);
}

void workload_trace_close(struct workload_trace *trace)
{
    decompressor_destroy(trace->framing);
}

enum pv_code
workload_trace_feed(struct workload_trace *trace, const char *bytes, size_t n, struct pv_error *err)
{
    return decompressor_feed(trace->framing, bytes, n, err);
}

enum pv_code
workload_trace_finish(struct workload_trace *trace, unsigned char digest[32], struct pv_error *err)
{
    bool truncated = false;
    PV_TRY(decompressor_finish(trace->framing, &truncated, err));
    if (truncated)
        return pv_fail(err, PV_E_SYNTAX, "the compressed body ends before its end");
    (void)crypto_generichash_final(&trace->digest_state, digest, DIGEST_BYTES);
    return PV_OK;
}
