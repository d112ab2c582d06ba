#ifndef API_SHARED_UPLOAD_H
#define API_SHARED_UPLOAD_H

#include "http/message.h"

/* What the streams that take bodies of any length have in common. */

/* "an import may have at most 4294967296 bytes, decompressed (import_bytes_max)" */
struct upload_bound {
    const char *what;    /* "an import" */
    int64_t bytes_most;  /* that it may have */
    const char *counted; /* ", decompressed", " as sent" */
    const char *setting; /* "import_bytes_max" */
};

/* PV_E_TOO_LARGE, which says so. */
enum pv_code api_upload_too_large(const struct upload_bound *bound, struct pv_error *err);

/* PV_E_TOO_LARGE where Content-Length announces more than that. */
enum pv_code api_upload_check_length(const struct upload_bound *bound,
                                     const struct http_request *request,
                                     struct pv_error *err) PV_MUSTCHECK;

/* PV_E_MEDIA_TYPE of a form, whose boundaries would be read as damaged lines. what: "the log". */
enum pv_code api_upload_refuse_form(const struct http_request *request,
                                    const char *what,
                                    struct pv_error *err) PV_MUSTCHECK;

/* What an idempotency key guards: the content, by a digest of 32 bytes, and the query. */
void api_upload_hash(const struct http_request *request,
                     const unsigned char digest[32],
                     unsigned char hash[32]);

#endif
