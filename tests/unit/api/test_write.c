/* api/shared/write.c over a store of three variables: what is claimed, kept, committed and undone.
 */
#include "api/shared/write.h"

#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "store/sql/idempotency.h"

struct store_tx {
    int unused;
};
static struct store_tx only_tx;
static int begun;
static enum store_mode begun_mode;
static int committed;
static int rolled_back;
static enum pv_code claim_code;
static enum idempotency_state claim_state;
static char claimed[600];
static char found[600];
static struct idempotency_reply kept;

enum pv_code store_begin(struct store *store,
                         const struct principal *who,
                         const char *request_id,
                         enum store_mode mode,
                         struct store_tx **tx,
                         struct pv_error *err)
{
    (void)store, (void)who, (void)request_id, (void)err;
    begun_mode = mode;
    begun++;
    *tx = &only_tx;
    return PV_OK;
}

enum pv_code store_commit(struct store_tx **tx, struct pv_error *err)
{
    (void)err;
    committed++;
    *tx = NULL;
    return PV_OK;
}

void store_rollback(struct store_tx **tx)
{
    rolled_back += *tx != NULL;
    *tx = NULL;
}

enum pv_code store_idempotency_claim(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *method,
                                     const char *path,
                                     const char *key,
                                     const unsigned char body_hash[32],
                                     enum idempotency_state *state,
                                     struct idempotency_reply *reply,
                                     struct pv_error *err)
{
    (void)arena, (void)body_hash;
    cr_assert_eq(tx, &only_tx);
    (void)snprintf(claimed, sizeof claimed, "%s %s %s", method, path, key);
    *state = claim_state;
    *reply = kept;
    return claim_code == PV_OK ? PV_OK : pv_fail(err, claim_code, "refused");
}

enum pv_code store_idempotency_find(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *method,
                                    const char *path,
                                    const char *key,
                                    const unsigned char body_hash[32],
                                    enum idempotency_state *state,
                                    struct idempotency_reply *reply,
                                    struct pv_error *err)
{
    (void)arena, (void)body_hash, (void)err;
    cr_assert_eq(tx, &only_tx);
    (void)snprintf(found, sizeof found, "%s %s %s", method, path, key);
    *state = claim_state;
    *reply = kept;
    return PV_OK;
}

enum pv_code store_idempotency_keep(struct store_tx *tx,
                                    const char *method,
                                    const char *path,
                                    const char *key,
                                    const struct idempotency_reply *reply,
                                    struct pv_error *err)
{
    (void)tx, (void)method, (void)path, (void)key, (void)err;
    kept = *reply;
    return PV_OK;
}

static struct api api;
static struct arena arena;
static struct http_header header;
static struct http_request request;
static struct http_response response;
static struct pv_error err;

static void set_up(void)
{
    cr_assert_geq(sodium_init(), 0);
    arena_init(&arena, 0);
    request = (struct http_request){
        .arena = &arena, .method = HTTP_POST, .path = "/v1/x", .place = HTTP_IO};
    pv_error_clear(&err);
}
static void tear_down(void)
{
    arena_fini(&arena);
}
TestSuite(write, .init = set_up, .fini = tear_down, .timeout = 20);

static enum pv_code begin_with(const char *key, struct api_write *write, bool *replayed)
{
    static const unsigned char hash[32];
    header = (struct http_header){"idempotency-key", key};
    request.headers = &header;
    request.n_headers = key != NULL;
    pv_error_clear(&err);
    return api_write_begin(&api, &request, &response, hash, write, replayed, &err);
}

Test(write, without_a_key_nothing_is_claimed_or_kept)
{
    struct api_write write;
    bool replayed;
    cr_assert_eq(begin_with(NULL, &write, &replayed), PV_OK);
    cr_assert_eq(api_write_commit(&request, &response, &write, &err), PV_OK);
    api_write_end(&write);
    cr_assert_eq(begun_mode, STORE_WRITE);
    cr_assert_str_empty(claimed);
    cr_assert_eq(kept.status, 0);
    cr_assert_eq(committed, 1);
    cr_assert_eq(rolled_back, 0, "the end after a commit undoes nothing");
}

Test(write, a_fresh_key_keeps_the_reply_before_the_commit)
{
    struct api_write write;
    bool replayed;
    cr_assert_eq(begin_with("\"a \\\"b\\\\\"", &write, &replayed), PV_OK);
    cr_assert_not(replayed);
    cr_assert_str_eq(claimed, "POST /v1/x a \"b\\");
    response = (struct http_response){.status = 201, .body = "{}", .body_n = 2};
    http_response_header(&request, &response, "Location", "/v1/x/1");
    cr_assert_eq(api_write_commit(&request, &response, &write, &err), PV_OK);
    cr_assert_eq(kept.status, 201);
    cr_assert(strview_is(kept.content_type, "application/json"));
    cr_assert(strview_is(kept.location, "/v1/x/1"));
    cr_assert(strview_is(kept.body, "{}"));
}

Test(write, a_used_key_answers_again_and_leaves_nothing_open)
{
    struct api_write write;
    bool replayed;
    claim_state = IDEMPOTENCY_REPLAY;
    kept = (struct idempotency_reply){.status = 201,
                                      .content_type = strview_of("application/json"),
                                      .location = strview_of("/v1/x/1"),
                                      .body = strview_of("{\"id\":1}")};
    cr_assert_eq(begin_with("k1", &write, &replayed), PV_OK);
    cr_assert(replayed);
    cr_assert_eq(response.status, 201);
    cr_assert_str_eq(response.body, "{\"id\":1}");
    cr_assert_str_eq(response.content_type, "application/json");
    cr_assert_eq(response.n_headers, 2);
    cr_assert_str_eq(response.headers[1].value, "/v1/x/1");
    cr_assert_eq(rolled_back, 1);
    cr_assert_null(write.tx);
}

Test(write, a_look_for_a_used_key_leaves_nothing_open_and_claims_nothing)
{
    bool replayed = true;
    cr_assert_eq(api_write_replay(&api, &request, &response, &replayed, &err), PV_OK);
    cr_assert_not(replayed);
    cr_assert_eq(begun, 0, "without a key there is nothing to look for");

    header = (struct http_header){"Idempotency-Key", "k1"};
    request.headers = &header;
    request.n_headers = 1;
    request.place = HTTP_COMPUTE;
    cr_assert_eq(api_write_replay(&api, &request, &response, &replayed, &err), PV_E_RETRY);
    cr_assert_eq(request.move_to, HTTP_IO);
    cr_assert_eq(begun, 0);
    request.place = HTTP_IO;
    cr_assert_eq(api_write_replay(&api, &request, &response, &replayed, &err), PV_OK);
    cr_assert_not(replayed);
    cr_assert_str_eq(found, "POST /v1/x k1");
    cr_assert_eq(begun_mode, STORE_READ);
    cr_assert_eq(rolled_back, 1);

    claim_state = IDEMPOTENCY_REPLAY;
    kept = (struct idempotency_reply){.status = 201,
                                      .content_type = strview_of("application/json"),
                                      .body = strview_of("{\"id\":1}")};
    cr_assert_eq(api_write_replay(&api, &request, &response, &replayed, &err), PV_OK);
    cr_assert(replayed);
    cr_assert_eq(response.status, 201);
    cr_assert_str_eq(response.body, "{\"id\":1}");
    cr_assert_eq(rolled_back, 2);
    cr_assert_str_empty(claimed);
}

/* Half a reply would not be the first one. */
Test(write, a_reply_that_does_not_fit_into_memory_is_not_sent)
{
    static char location[200000];
    struct api_write write;
    bool replayed = true;
    memset(location, 'x', sizeof location - 1);
    arena_fini(&arena);
    arena_init(&arena, 100000);
    claim_state = IDEMPOTENCY_REPLAY;
    kept = (struct idempotency_reply){.status = 201,
                                      .content_type = strview_of("application/json"),
                                      .location = strview_of(location),
                                      .body = strview_of("{\"id\":1}")};
    cr_expect_eq(begin_with("k1", &write, &replayed), PV_E_MEMORY);
    cr_expect_not(replayed);
    cr_expect_eq(rolled_back, 1);
    pv_error_clear(&err);
    cr_expect_eq(api_write_replay(&api, &request, &response, &replayed, &err), PV_E_MEMORY);
    cr_expect_not(replayed);
    cr_expect_eq(response.status, 0);
    cr_expect_eq(response.n_headers, 0);
}

Test(write, a_refused_claim_is_undone)
{
    struct api_write write;
    bool replayed;
    claim_code = PV_E_CONFLICT;
    cr_assert_eq(begin_with("k1", &write, &replayed), PV_E_CONFLICT);
    cr_assert_eq(rolled_back, 1);
    api_write_end(&write);
    cr_assert_eq(rolled_back, 1, "once");
}

Test(write, malformed_keys_are_400_before_anything_opens)
{
    static char long_key[300];
    memset(long_key, 'k', sizeof long_key - 1);
    const char *bad[] = {"",         "\"\"",     "\"open",     "a b",      "a\"b",
                         "\"a\"b\"", "\"a\\x\"", "\"tail\\\"", "\xc3\xa9", long_key};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct api_write write;
        bool replayed;
        cr_expect_eq(begin_with(bad[i], &write, &replayed), PV_E_SYNTAX, "%s", bad[i]);
        cr_expect_eq(err.faults[0].place, PV_PLACE_HEADER);
    }
    cr_assert_eq(begun, 0);
    long_key[255] = '\0';
    struct api_write write;
    bool replayed;
    cr_assert_eq(begin_with(long_key, &write, &replayed), PV_OK, "255 is allowed");
}

Test(write, a_key_sent_twice_is_refused)
{
    struct http_header two[] = {{"Idempotency-Key", "a"}, {"idempotency-key", "a"}};
    static const unsigned char hash[32];
    struct api_write write;
    bool replayed;
    request.headers = two;
    request.n_headers = 2;
    cr_assert_eq(api_write_begin(&api, &request, &response, hash, &write, &replayed, &err),
                 PV_E_SYNTAX);
}

Test(write, body_hash_tells_body_and_query_apart)
{
    struct http_parameter query[] = {{"a", "bc"}};
    unsigned char hashes[4][32];
    request.body = "abc";
    request.body_n = 3;
    api_body_hash(&request, hashes[0]);
    request.query = query;
    request.n_query = 1;
    api_body_hash(&request, hashes[1]);
    query[0] = (struct http_parameter){"ab", "c"};
    api_body_hash(&request, hashes[2]);
    request.body = "abd";
    api_body_hash(&request, hashes[3]);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            cr_assert_neq(memcmp(hashes[i], hashes[k], 32), 0, "%zu %zu", i, k);
    request.body = "abc";
    unsigned char again[32];
    api_body_hash(&request, again);
    cr_assert_eq(memcmp(again, hashes[2], 32), 0);
}
