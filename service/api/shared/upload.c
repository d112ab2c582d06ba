#include "api/shared/upload.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/shared/write.h"

enum { DIGEST_BYTES = 32 };

enum pv_code api_upload_too_large(const struct upload_bound *bound, struct pv_error *err)
{
    return pv_fail(err, PV_E_TOO_LARGE, "%s may have at most %lld bytes%s (%s)", bound->what,
                   (long long)bound->bytes_most, bound->counted, bound->setting);
}

enum pv_code api_upload_check_length(const struct upload_bound *bound,
                                     const struct http_request *request,
                                     struct pv_error *err)
{
    const char *length = http_header(request, "Content-Length");
    if (length == NULL || strtoull(length, NULL, 10) <= (uint64_t)bound->bytes_most)
        return PV_OK;
    return api_upload_too_large(bound, err);
}

enum pv_code
api_upload_refuse_form(const struct http_request *request, const char *what, struct pv_error *err)
{
    const char *type = http_header(request, "Content-Type");
    if (type == NULL || strncasecmp(type, "multipart/", strlen("multipart/")) != 0)
        return PV_OK;
    return pv_fail(err, PV_E_MEDIA_TYPE,
                   "a form is not taken: send %s itself as the body, with curl by "
                   "--data-binary @FILE instead of -F",
                   what);
}

void api_upload_hash(const struct http_request *request,
                     const unsigned char digest[32],
                     unsigned char hash[32])
{
    struct http_request whole = *request;
    whole.body = (const char *)digest;
    whole.body_n = DIGEST_BYTES;
    api_body_hash(&whole, hash);
}
