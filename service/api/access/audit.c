#include "api/routes.h"
#include "api/shared/list.h"
#include "codec/access/access.h"
#include "store/access/access.h"

/* GET /v1/audit: who changed what, newest first. */

enum pv_code audit_list(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct audit_list page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_audit_list(list.tx, request->arena, list.after.text, list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_audit_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}
