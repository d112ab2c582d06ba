#ifndef HTTP_REPLY_FIELDS_H
#define HTTP_REPLY_FIELDS_H

#include "base/json_projection.h"
#include "http/reply_members.h"

/*
 * ?fields=verdict,recommendation.executors: a reply with these members alone. Names are separated
 * by commas, members of members by dots; lists are mapped over. Of a page the names are those of an
 * item, and what stands beside the items stays. Behind a map of texts or numbers the rest of the
 * name, its dots included, is one key: spark.properties.spark.executor.cores.
 */
enum { HTTP_FIELDS_BYTES_MAX = 2048, HTTP_FIELDS_DEPTH_MAX = 16 };

/* The row of the call, or NULL: its replies cannot be selected from. */
const struct http_reply_members *http_reply_members_find(const struct http_reply_members *table,
                                                         const struct http_request *request);

/*
 * text       the value of the parameter
 * most       names that it may list (fields_max)
 * selection  in the request's arena
 *
 * PV_E_INVALID: a name that the reply can never have (unknown_field, with the nearest one), none at
 * all, or more or longer than allowed; each fault names the parameter.
 */
enum pv_code http_reply_fields_parse(const char *text,
                                     const struct http_reply_members *row,
                                     size_t most,
                                     struct arena *arena,
                                     const struct json_selection **selection,
                                     struct pv_error *err) PV_MUSTCHECK;

/*
 * Leave of a finished reply what was selected; a reply without a body (304) stays as it is.
 * PV_E_INVALID: the body is not JSON.
 */
enum pv_code http_reply_fields_apply(const struct json_selection *selection,
                                     struct arena *arena,
                                     struct http_response *response,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
