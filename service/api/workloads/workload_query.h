#ifndef API_WORKLOADS_WORKLOAD_QUERY_H
#define API_WORKLOADS_WORKLOAD_QUERY_H

#include "core/workload/workload_import.h"
#include "http/message.h"

/* What the query of POST /v1/workloads says of a trace. */
struct workload_query {
    struct workload_terms terms;
    struct strview name; /* of the workload, borrowed; at == NULL: none */
};

/* PV_E_INVALID that names the parameter: format is missing or none, a name that is none, a rate that
 * is out of range or belongs to another format. */
enum pv_code workload_query_read(const struct http_request *request,
                                 struct workload_query *query,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
