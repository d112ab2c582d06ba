#include "api/shared/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/cursor_seal.h"
#include "core/history/run.h"

static enum pv_code read_limit(const struct config *config,
                               const struct http_request *request,
                               size_t *limit,
                               struct pv_error *err)
{
    const char *text = http_query(request, "limit");
    *limit = (size_t)config->page_default;
    if (text == NULL)
        return PV_OK;
    size_t digits = strspn(text, "0123456789");
    long long value =
        digits > 0 && digits < 10 && text[digits] == '\0' ? strtoll(text, NULL, 10) : 0;
    if (value < 1 || value > config->page_max)
        return pv_fault(err, PV_PLACE_PARAMETER, "limit", "out_of_range",
                        "must be an integer from 1 to %lld", (long long)config->page_max);
    *limit = (size_t)value;
    return PV_OK;
}

enum pv_code cursor_read(struct api *api,
                         struct http_request *request,
                         const char *scope,
                         size_t *limit,
                         struct cursor *cursor,
                         bool *has,
                         struct pv_error *err)
{
    *has = false;
    *cursor = (struct cursor){.instant_us = RUN_NO_INSTANT};
    enum pv_code code = read_limit(api->config, request, limit, err);
    const char *text = http_query(request, "cursor");
    if (code != PV_OK || text == NULL)
        return code;
    unsigned char key[32];
    code = api_service_key(api, key, err);
    if (code != PV_OK)
        return code;
    if (!cursor_unseal(key, request->principal.team_id, scope, text, cursor)) {
        code = pv_fail(err, PV_E_SYNTAX,
                       "the cursor is not one that this collection with these filters gave out");
        (void)pv_fault(err, PV_PLACE_PARAMETER, "cursor", "invalid_cursor",
                       "start again without a cursor, or keep the filters of the first page");
        return code;
    }
    *has = true;
    return PV_OK;
}

enum pv_code cursor_write(struct api *api,
                          struct http_request *request,
                          const char *scope,
                          const struct cursor *last,
                          const char **text,
                          struct pv_error *err)
{
    unsigned char key[32];
    PV_TRY(api_service_key(api, key, err));
    char *sealed = cursor_seal(key, request->principal.team_id, scope, last, request->arena);
    if (sealed == NULL)
        return pv_no_memory(err);
    *text = sealed;
    return PV_OK;
}
