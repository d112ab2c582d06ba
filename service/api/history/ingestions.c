#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "codec/history/ingestion.h"
#include "store/history/ingestion.h"

/* GET /v1/ingestions: who sent which log and what became of it, the latest first. */

enum pv_code ingestions_list(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", "application", "outcome",
                                          "open",  "since",  NULL};
    struct ingestion_filter filter = {.application = http_query(request, "application"),
                                      .outcome = http_query(request, "outcome"),
                                      .since_us = RUN_NO_INSTANT};
    struct ingestion_list page;
    api_list_auto_t list = {0};
    size_t at;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_word(request, "outcome", ingestion_outcome_words, &at, err));
    PV_TRY(api_query_boolean(request, "open", false, &filter.open, err));
    PV_TRY(api_query_instant(request, "since", &filter.since_us, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_ingestion_list(list.tx, request->arena, &filter, list.after.text, list.limit,
                                &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_ingestion_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}
