#include <stdio.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/put_resource.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/fault_text.h"
#include "codec/clusters/price_book.h"
#include "codec/clusters/price_csv.h"
#include "http/accept.h"
#include "http/fields.h"
#include "store/clusters/price_book.h"
#include "store/name_hint.h"

/* /v1/price-books: what machines cost, as JSON or as CSV. */

enum form { FORM_JSON, FORM_CSV, FORMS };

/* Each form is a representation of its own and has a tag of its own; a writer may name any. */
static void make_etag(const struct price_book *book, enum form form, char out[HTTP_ETAG_TEXT])
{
    put_resource_etag(book->id, book->version, out);
    if (form == FORM_CSV)
        (void)snprintf(out + strlen(out) - 1, 8, ".csv\"");
}

static enum pv_code write_csv(struct http_request *request,
                              struct http_response *response,
                              const struct price_book *book,
                              struct pv_error *err)
{
    response->body = codec_price_csv_encode(book, request->arena, &response->body_n);
    response->content_type = "text/csv; charset=utf-8; header=present";
    return response->body == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code price_books_reply(struct http_request *request,
                                      struct http_response *response,
                                      unsigned status,
                                      const struct price_book *book,
                                      enum form form,
                                      struct pv_error *err)
{
    char etag[HTTP_ETAG_TEXT];
    make_etag(book, form, etag);
    http_response_header(request, response, "ETag", etag);
    http_response_header(request, response, "Vary", "Accept");
    if (form == FORM_CSV) {
        response->status = status;
        PV_TRY(write_csv(request, response, book, err));
    } else {
        struct writer w;
        writer_init(&w, request->arena);
        codec_price_book_encode(&w, book, true);
        PV_TRY(api_reply(response, status, &w, err));
    }
    if (request->method == HTTP_GET && http_none_match_holds(request, etag))
        http_reply_not_modified(response);
    return PV_OK;
}

/* --- reading --- */

/* ?format= decides, else Accept. */
static enum pv_code
read_form(const struct http_request *request, enum form *form, struct pv_error *err)
{
    const char *asked = http_query(request, "format");
    *form = http_accept_prefers(request, "text/csv", "application/json") ? FORM_CSV : FORM_JSON;
    if (asked == NULL)
        return PV_OK;
    *form = strcmp(asked, "csv") == 0 ? FORM_CSV : FORM_JSON;
    return *form == FORM_CSV || strcmp(asked, "json") == 0
               ? PV_OK
               : pv_fault(err, PV_PLACE_PARAMETER, "format", "not_allowed", "must be json or csv");
}

static enum pv_code price_books_find(struct store_tx *tx,
                                     struct http_request *request,
                                     bool with_rows,
                                     struct price_book *book,
                                     struct pv_error *err)
{
    bool found = false;
    const char *name = http_path_parameter(request, "name");
    PV_TRY(store_price_book_look(tx, request->arena, name, with_rows, book, &found, err));
    return found
               ? PV_OK
               : pv_fail(err, PV_E_NOT_FOUND, "there is no price book %s%s", fault_quote(name).text,
                         store_name_hint(tx, request->arena, STORE_NAMES_PRICE_BOOKS, name));
}

enum pv_code price_books_get(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    static const char *const allowed[] = {"format", NULL};
    store_tx_auto_t *tx = NULL;
    struct price_book book;
    enum form form = FORM_JSON;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(read_form(request, &form, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(price_books_find(tx, request, true, &book, err));
    store_rollback(&tx);
    return price_books_reply(request, response, 200, &book, form, err);
}

static enum pv_code
read_currency(const struct http_request *request, const char **currency, struct pv_error *err)
{
    *currency = http_query(request, "currency");
    if (*currency == NULL || codec_is_currency(strview_of(*currency)))
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, "currency", "invalid_currency",
                    "must be three capital letters as in ISO 4217, such as EUR");
}

enum pv_code price_books_list(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", "currency", NULL};
    struct price_book_list page;
    api_list_auto_t list = {0};
    const char *currency = NULL;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(read_currency(request, &currency, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_price_book_list(list.tx, request->arena, currency, list.after.text, list.limit,
                                 &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_price_book_encode(&list.w, &page.items[i], false);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].name.at : NULL, RUN_NO_INSTANT, err);
}

/* --- writing --- */

static enum pv_code price_books_decode(struct api *api,
                                       struct http_request *request,
                                       struct price_book *sent,
                                       struct pv_error *err)
{
    static const char *const allowed[] = {"currency", NULL};
    const struct codec_price_book_limits limits = {.rows = api->config->prices_max};
    const char *currency = NULL;
    struct codec_document body;
    bool csv = http_fields_are_csv(request);
    PV_TRY(http_check_query(request, csv ? allowed : allowed + 1, err));
    if (csv) {
        PV_TRY(read_currency(request, &currency, err));
        api_body_keep_hash(request);
        return codec_price_csv_decode((struct strview){request->body, request->body_n}, currency,
                                      (size_t)api->config->prices_max, request->arena, sent, err);
    }
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_price_book_decode(&body.top, &limits, sent);
    return codec_close(&body);
}

static enum pv_code price_books_check(const struct http_request *request,
                                      const struct price_book *book,
                                      bool found,
                                      struct pv_error *err)
{
    char tags[FORMS][HTTP_ETAG_TEXT];
    const char *const etags[] = {found ? tags[FORM_JSON] : NULL, tags[FORM_CSV], NULL};
    for (enum form form = 0; found && form < FORMS; form++)
        make_etag(book, form, tags[form]);
    return put_resource_check(request, etags, "the price book", err);
}

/* The transaction of a PUT, up to its commit. */
static enum pv_code api_price_books_put(struct api *api,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct store_tx *tx,
                                        const char *name,
                                        struct price_book *book,
                                        struct pv_error *err)
{
    struct price_book there = {.id = ""};
    bool found = false;
    PV_TRY(store_registry_lock(tx, err));
    PV_TRY(store_price_book_look(tx, request->arena, name, false, &there, &found, err));
    PV_TRY(price_books_check(request, &there, found, err));
    book->name = strview_of(name);
    memcpy(book->id, there.id, sizeof book->id);
    PV_TRY(found ? store_price_book_update(tx, request->arena, book, err)
                 : store_price_book_insert(tx, request->arena, api->config->price_books_max, book,
                                           err));
    if (!found)
        PV_TRY(api_reply_location(request, response, "/v1/price-books", name, err));
    return price_books_reply(request, response, found ? 200 : 201, book, FORM_JSON, err);
}

static enum pv_code price_books_put_decode(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    const char *name = NULL;
    (void)response;
    PV_TRY(api_query_name(request, &name, err));
    return price_books_decode(context, request, request->state, err);
}

static enum pv_code price_books_put_store(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct price_book sent = *(const struct price_book *)request->state;
    const char *name = http_path_parameter(request, "name");
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(api_price_books_put(context, request, response, write.tx, name, &sent, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call price_books_put = {
    .state_bytes = sizeof(struct price_book),
    .steps = {{HTTP_BODY, price_books_put_decode}, {HTTP_IO, price_books_put_store}},
};

enum pv_code price_books_delete(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct price_book book;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_registry_lock(write.tx, err));
    PV_TRY(price_books_find(write.tx, request, false, &book, err));
    PV_TRY(price_books_check(request, &book, true, err));
    PV_TRY(put_resource_refuse_referenced(write.tx, request->arena, REFERENCE_TO_PRICE_BOOK,
                                          book.id, err));
    PV_TRY(store_price_book_delete(write.tx, &book, err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}
