#include "api/shared/put_resource.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REFERRERS_TOLD = PV_FAULTS_MAX, NAME_TOLD = 120 };

void put_resource_etag(const char id[37], int64_t version, char out[HTTP_ETAG_TEXT])
{
    /* The last group of a UUIDv7 is random. */
    (void)snprintf(out, HTTP_ETAG_TEXT, "\"v%" PRId64 "-%s\"", version, id + 24);
}

static bool holds_any(const struct http_request *request,
                      const char *const etags[],
                      bool (*holds)(const struct http_request *, const char *))
{
    for (size_t i = 0; etags[i] != NULL; i++)
        if (holds(request, etags[i]))
            return true;
    return false;
}

static bool put_resource_matches(const struct http_request *request, const char *etag)
{
    return http_if_match(request, etag) == HTTP_MATCH_YES;
}

enum pv_code put_resource_check(const struct http_request *request,
                                const char *const etags[],
                                const char *what,
                                struct pv_error *err)
{
    bool conditional = http_if_match(request, NULL) != HTTP_MATCH_ABSENT;
    if (conditional && etags[0] == NULL)
        return pv_fail(err, PV_E_PRECONDITION, "%s does not exist", what);
    if (conditional && !holds_any(request, etags, put_resource_matches))
        return pv_fail(err, PV_E_PRECONDITION, "%s is now at version %s", what, etags[0]);
    if (holds_any(request, etags, http_none_match_holds))
        return pv_fail(err, PV_E_PRECONDITION, "%s exists already, at version %s", what, etags[0]);
    return PV_OK;
}

enum pv_code put_resource_refuse_referenced(struct store_tx *tx,
                                            struct arena *arena,
                                            enum reference_kind kind,
                                            const char *id,
                                            struct pv_error *err)
{
    struct reference_list list;
    char name[NAME_TOLD];
    enum pv_code code = store_reference_list(tx, arena, kind, id, REFERRERS_TOLD, &list, err);
    if (code != PV_OK || list.n == 0)
        return code;
    strview_shorten(list.items[0].name, name, sizeof name);
    code = pv_fail(err, PV_E_CONFLICT, "it is still referred to by the %s \"%s\"%s",
                   list.items[0].kind.at, name, list.n > 1 ? " and others" : "");
    for (size_t i = 0; i < list.n; i++) {
        strview_shorten(list.items[i].name, name, sizeof name);
        (void)pv_fault(err, PV_PLACE_PARAMETER, "name", "referenced", "by the %s \"%s\"",
                       list.items[i].kind.at, name);
    }
    return code;
}
