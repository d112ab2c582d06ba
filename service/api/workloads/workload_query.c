#include "api/workloads/workload_query.h"

#include <math.h>
#include <stddef.h>

#include "api/shared/query.h"
#include "codec/json/reader.h"
#include "core/workload/workload_record.h"

#define BYTES_MOST 1e15
#define OVERHEAD_MOST_S 1e6

static const struct {
    const char *name;
    size_t at;
    double most;
} rates[] = {
    {"map_bytes", offsetof(struct workload_rates, map_bytes), BYTES_MOST},
    {"reduce_bytes", offsetof(struct workload_rates, reduce_bytes), BYTES_MOST},
    {"map_bytes_per_s", offsetof(struct workload_rates, map_bytes_per_s), BYTES_MOST},
    {"shuffle_bytes_per_s", offsetof(struct workload_rates, shuffle_bytes_per_s), BYTES_MOST},
    {"output_bytes_per_s", offsetof(struct workload_rates, output_bytes_per_s), BYTES_MOST},
    {"task_overhead_s", offsetof(struct workload_rates, task_overhead_s), OVERHEAD_MOST_S},
};

static enum pv_code
read_rates(const struct http_request *request, struct workload_terms *terms, struct pv_error *err)
{
    terms->rates = workload_rates_default;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        double given;
        if (http_query(request, rates[i].name) == NULL)
            continue;
        if (terms->format != WORKLOAD_SWIM)
            return pv_fault(err, PV_PLACE_PARAMETER, rates[i].name, "conflict",
                            "is allowed only with format=swim");
        PV_TRY(api_query_number(request, rates[i].name, 0, rates[i].most, &given, err));
        *(double *)((char *)&terms->rates + rates[i].at) = given;
    }
    return PV_OK;
}

static enum pv_code
read_format(const struct http_request *request, enum workload_format *format, struct pv_error *err)
{
    const char *words[WORKLOAD_FORMATS + 1] = {NULL};
    size_t at = 0;
    for (size_t i = 0; i < WORKLOAD_FORMATS; i++)
        words[i] = workload_origin_words[i];
    if (http_query(request, "format") == NULL)
        return pv_fault(err, PV_PLACE_PARAMETER, "format", "required",
                        "is required with a trace; a body of another kind is application/json");
    PV_TRY(api_query_word(request, "format", words, &at, err));
    *format = (enum workload_format)at;
    return PV_OK;
}

enum pv_code workload_query_read(const struct http_request *request,
                                 struct workload_query *query,
                                 struct pv_error *err)
{
    static const char *const allowed[] = {"format",
                                          "name",
                                          "map_bytes",
                                          "reduce_bytes",
                                          "map_bytes_per_s",
                                          "shuffle_bytes_per_s",
                                          "output_bytes_per_s",
                                          "task_overhead_s",
                                          NULL};
    const char *name = http_query(request, "name");
    *query = (struct workload_query){.name = {NULL, 0}};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(read_format(request, &query->terms.format, err));
    if (name != NULL)
        query->name = strview_of(name);
    if (name != NULL && !codec_is_name(query->name))
        return pv_fault(err, PV_PLACE_PARAMETER, "name", "invalid_name",
                        "must be 1 to 255 characters without control characters");
    return read_rates(request, &query->terms, err);
}
