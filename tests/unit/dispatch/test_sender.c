#include "dispatch/sender.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "endpoint.h"
#include "metrics/registry.h"
#include "names.h"
#include "threads/clock.h"

/* The sender against a real endpoint. */

enum { MANY = 64 };

static struct endpoint endpoint;
static struct target_policy policy;
static struct sender *sender;
static atomic_int readies;
static struct signing_secret secret;

static void ready(void *context)
{
    (void)context;
    atomic_fetch_add(&readies, 1);
}

static void begin_with(const char *networks, int64_t connections, int64_t timeout_ms)
{
    struct pv_error err = {.code = PV_OK};
    cr_assert(sodium_init() >= 0 && sender_init_library());
    cr_assert(endpoint_start(&endpoint));
    cr_assert_eq(target_policy_parse(networks, true, &policy, &err), PV_OK);
    const struct sender_options options = {.policy = &policy,
                                           .connections_max = connections,
                                           .timeout_ms = timeout_ms,
                                           .connect_timeout_ms = 500,
                                           .ready = ready};
    cr_assert_eq(sender_create(&options, &sender, &err), PV_OK);
    signing_secret_make(&secret);
}

/* What hangs does so for longer than the test lasts, and what answers may take its time. */
static void begin(const char *networks, int64_t connections)
{
    begin_with(networks, connections, 20000);
}

/* For what is to be given up: what answers has to do so within this time, too. */
static void begin_impatiently(int64_t connections)
{
    begin_with("127.0.0.0/8", connections, 600);
}

static void submit(struct sender_lane *lane, const char *host, const char *path, void *flight)
{
    char url[128];
    struct pv_error err = {.code = PV_OK};
    (void)snprintf(url, sizeof url, "http://%s:%d%s", host, endpoint.port, path);
    const struct sender_delivery delivery = {.lane = lane,
                                             .flight = flight,
                                             .url = strview_of(url),
                                             .authorization = strview_of("Bearer b"),
                                             .secrets = &secret,
                                             .n_secrets = 1,
                                             .id = "evt_1",
                                             .content_type = "application/json",
                                             .body = strview_of("{\"a\": 1}")};
    cr_assert_eq(sender_submit(sender, &delivery, &err), PV_OK);
}

/* So many outcomes, in the order in which they came. */
static struct sender_outcome *await(size_t n)
{
    struct sender_outcome *first = NULL;
    struct sender_outcome **end = &first;
    for (int i = 0; n > 0 && i < 10000; i++) {
        *end = sender_take_outcomes(sender);
        while (*end != NULL) {
            end = &(*end)->next;
            n--;
        }
        clock_sleep_ms(1);
    }
    cr_assert_eq(n, 0, "%zu outcomes did not come", n);
    return first;
}

static struct sender_outcome ask(const char *path)
{
    struct sender_lane lane;
    sender_lane_open(&lane, "team", 1);
    submit(&lane, "127.0.0.1", path, &lane);
    struct sender_outcome *outcomes = await(1);
    struct sender_outcome outcome = *outcomes;
    cr_assert_eq(outcome.flight, &lane);
    sender_outcomes_free(outcomes);
    return outcome;
}

Test(sender, statuses, .timeout = 30)
{
    static const struct {
        const char *path;
        long status;
        bool succeeded;
    } cases[] = {{"/200", 200, true},  {"/204", 204, true},  {"/301", 301, false},
                 {"/410", 410, false}, {"/429", 429, false}, {"/500", 500, false}};
    begin("127.0.0.0/8", 16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sender_outcome outcome = ask(cases[i].path);
        cr_expect(outcome.attempted && outcome.complete && outcome.error[0] == '\0', "%s",
                  outcome.error);
        cr_expect_eq(outcome.status, cases[i].status);
        cr_expect_eq(sender_succeeded(&outcome), cases[i].succeeded);
        cr_expect_eq(outcome.retry_after_ms, cases[i].status == 429 ? 7000 : 0);
        cr_expect_str_eq(outcome.answer, cases[i].status == 204 ? "" : "hello");
    }
    cr_expect_eq(atomic_load(&endpoint.requests), 6, "a redirect was followed");
    cr_expect_eq(atomic_load(&endpoint.connections), 1, "a connection is used again");
    cr_expect_gt(atomic_load(&readies), 0);
    sender_destroy(sender);
}

Test(sender, headers_and_signature, .timeout = 30)
{
    char expected[SIGNATURE_TEXT + 32], signature[SIGNATURE_TEXT];
    begin("127.0.0.0/8", 16);
    int64_t before_s = clock_wall_us() / 1000000;
    (void)ask("/last");
    const char *stamp = strstr(endpoint.last, "\r\nwebhook-timestamp: ");
    cr_assert_not_null(stamp);
    int64_t at_s = strtoll(stamp + 21, NULL, 10);
    cr_expect(at_s >= before_s && at_s <= before_s + 5);
    signature_make(&secret, 1, "evt_1", at_s, strview_of("{\"a\": 1}"), signature);
    (void)snprintf(expected, sizeof expected, "\r\nwebhook-signature: %s\r\n", signature);
    const char *const wanted[] = {"POST /last HTTP/1.1\r\n",
                                  expected,
                                  "\r\nwebhook-id: evt_1\r\n",
                                  "\r\nAuthorization: Bearer b\r\n",
                                  "\r\nContent-Type: application/json\r\n",
                                  "\r\nUser-Agent: provisor/",
                                  "\r\n\r\n{\"a\": 1}"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_expect_not_null(strstr(endpoint.last, wanted[i]), "%s\n%s", wanted[i], endpoint.last);
    cr_expect_null(strstr(endpoint.last, "Expect:"));
    sender_destroy(sender);
}

Test(sender, endpoints_that_misbehave_end_in_time, .timeout = 30)
{
    begin_impatiently(16);
    struct sender_outcome hangs = ask("/hang");
    cr_expect(!hangs.complete && hangs.status == 0 &&
                  strstr(hangs.error, "no answer within") != NULL,
              "%s", hangs.error);
    cr_expect(hangs.duration_ms >= 500 && hangs.duration_ms < 5000);
    struct sender_outcome drops = ask("/drop");
    cr_expect(!drops.complete && drops.status == 0 && drops.error[0] != '\0');
    struct sender_outcome trickles = ask("/trickle");
    cr_expect(!sender_succeeded(&trickles) && trickles.status == 200 &&
                  strstr(trickles.error, "did not end") != NULL,
              "%s", trickles.error);
    struct sender_outcome floods = ask("/flood");
    cr_expect(sender_succeeded(&floods) && floods.answer_n == ANSWER_KEPT);
    clock_sleep_ms(50);
    cr_expect_lt(atomic_load(&endpoint.flooded), 32 << 20, "what is not wanted is not read");
    struct sender_outcome binary = ask("/binary");
    cr_expect(sender_succeeded(&binary) &&
              strview_is_utf8((struct strview){binary.answer, binary.answer_n}));
    cr_expect_str_eq(binary.answer, "a??b");
    sender_destroy(sender);
}

Test(sender, forbidden_addresses_are_never_connected_to, .timeout = 30)
{
    struct sender_lane lane;
    static const char *const hosts[] = {
        "127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "localhost", "0"};
    enum { N = sizeof hosts / sizeof *hosts };
    begin("", 16);
    /* A proxy of the environment would hide the address from the check. */
    char proxy[64];
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", endpoint.port);
    (void)setenv("http_proxy", proxy, 1);
    (void)setenv("ALL_PROXY", proxy, 1);
    sender_lane_open(&lane, "team", 1);
    for (size_t i = 0; i < N; i++)
        submit(&lane, hosts[i], "/200", NULL);
    struct sender_outcome *outcomes = await(N);
    for (struct sender_outcome *o = outcomes; o != NULL; o = o->next)
        cr_expect(o->attempted && o->status == 0 &&
                      strstr(o->error, "private or special address") != NULL,
                  "%s", o->error);
    sender_outcomes_free(outcomes);
    cr_expect_eq(atomic_load(&endpoint.connections), 0);
    sender_destroy(sender);
}

Test(sender, a_lane_has_no_more_under_way_than_it_may, .timeout = 30)
{
    struct sender_lane lane;
    begin("127.0.0.0/8", 64);
    sender_lane_open(&lane, "team", 3);
    for (int i = 0; i < MANY; i++)
        submit(&lane, "127.0.0.1", "/slow", NULL);
    sender_outcomes_free(await(MANY));
    cr_expect(atomic_load(&endpoint.most_under_way) >= 2 &&
              atomic_load(&endpoint.most_under_way) <= 3);
    sender_destroy(sender);
}

Test(sender, one_lane_does_not_wait_for_another, .timeout = 30)
{
    struct sender_lane hangs, answers;
    begin_with("127.0.0.0/8", 8, 5000);
    sender_lane_open(&hangs, "team", 4);
    sender_lane_open(&answers, "team", 1);
    for (int i = 0; i < 16; i++)
        submit(&hangs, "127.0.0.1", "/hang", &hangs);
    uint64_t began_ns = clock_monotonic_ns();
    for (int i = 0; i < 16; i++)
        submit(&answers, "127.0.0.1", "/200", &answers);
    struct sender_outcome *outcomes = await(16);
    for (struct sender_outcome *o = outcomes; o != NULL; o = o->next)
        cr_expect_eq(o->flight, &answers);
    sender_outcomes_free(outcomes);
    cr_expect_lt(clock_monotonic_ns() - began_ns, 4000000000u);
    sender_recall(sender, &hangs);
    outcomes = await(16);
    int attempted = 0;
    for (struct sender_outcome *o = outcomes; o != NULL; o = o->next)
        attempted += o->attempted;
    cr_expect_eq(attempted, 4, "what was not under way comes back at once");
    sender_outcomes_free(outcomes);
    sender_destroy(sender);
}

Test(sender, an_end_gives_everything_back, .timeout = 30)
{
    struct sender_lane lane;
    begin("127.0.0.0/8", 8);
    sender_lane_open(&lane, "team", 2);
    for (int i = 0; i < 10; i++)
        submit(&lane, "127.0.0.1", "/hang", &lane);
    clock_sleep_ms(100);
    uint64_t began_ns = clock_monotonic_ns();
    sender_stop(sender, 50);
    cr_expect_lt(clock_monotonic_ns() - began_ns, 10000000000u);
    struct sender_outcome *outcomes = await(10);
    for (struct sender_outcome *o = outcomes; o != NULL; o = o->next)
        cr_expect_not(o->attempted);
    sender_outcomes_free(outcomes);
    sender_destroy(sender);
}

/* The place of the first outcome of this flight; they came in this order. */
static size_t place_of(const struct sender_outcome *outcomes, const void *flight)
{
    size_t place = 0;
    while (outcomes->flight != flight) {
        outcomes = outcomes->next;
        place++;
    }
    return place;
}

Test(sender, lanes_take_turns_when_all_connections_are_in_use, .timeout = 30)
{
    struct sender_lane first, few, many;
    begin_impatiently(1);
    sender_lane_open(&first, "team", 1);
    sender_lane_open(&few, "team", 1);
    sender_lane_open(&many, "team", 8);
    submit(&first, "127.0.0.1", "/hang", &first);
    clock_sleep_ms(50);
    submit(&few, "127.0.0.1", "/slow", &few);
    submit(&few, "127.0.0.1", "/slow", NULL);
    for (int i = 0; i < 20; i++)
        submit(&many, "127.0.0.1", "/slow", &many);
    struct sender_outcome *outcomes = await(23);
    cr_expect_leq(place_of(outcomes, &few), 2);
    cr_expect_leq(place_of(outcomes, NULL), 4, "%zu", place_of(outcomes, NULL));
    sender_outcomes_free(outcomes);
    sender_destroy(sender);
}

Test(sender, a_name_server_that_does_not_answer_holds_up_nobody, .timeout = 30)
{
    struct sender_lane hangs, answers;
    begin_impatiently(8);
    sender_lane_open(&hangs, "team", 1);
    sender_lane_open(&answers, "team", 1);
    submit(&hangs, "hangs.test", "/200", &hangs);
    submit(&hangs, "hangs.test", "/200", &hangs);
    uint64_t began_ns = clock_monotonic_ns();
    struct sender_outcome *outcomes = await(1);
    cr_expect_lt(clock_monotonic_ns() - began_ns, 1500000000u, "it ends by its timeout");
    cr_expect(outcomes->attempted && outcomes->status == 0 && outcomes->error[0] != '\0');
    sender_outcomes_free(outcomes);
    began_ns = clock_monotonic_ns();
    submit(&answers, "127.0.0.1", "/200", &answers);
    outcomes = await(1);
    cr_expect_eq(outcomes->flight, &answers);
    cr_expect_lt(clock_monotonic_ns() - began_ns, 400000000u);
    sender_outcomes_free(outcomes);
    began_ns = clock_monotonic_ns();
    sender_stop(sender, 0);
    cr_expect_lt(clock_monotonic_ns() - began_ns, 1000000000u, "nor the end of the process");
    sender_outcomes_free(await(1));
    sender_destroy(sender);
}

static double attempts_with(const char *outcome)
{
    char wanted[96];
    struct arena arena;
    arena_init(&arena, 0);
    (void)snprintf(wanted, sizeof wanted, "provisor_webhook_attempts_total{outcome=\"%s\"} ",
                   outcome);
    const char *at = strstr(metrics_write(&arena).at, wanted);
    double n = at == NULL ? 0.0 : strtod(at + strlen(wanted), NULL);
    arena_fini(&arena);
    return n;
}

Test(sender, of_several_addresses_those_that_are_allowed_are_used, .timeout = 30)
{
    struct sender_lane lane;
    static const char *const paths[] = {"/200", "/500", "/drop", "/hang"};
    static const char *const words[] = {"delivered", "failed", "unreachable", "timeout"};
    begin_impatiently(1);
    for (size_t i = 0; i < 4; i++) {
        sender_lane_open(&lane, "team", 1);
        submit(&lane, "mixed.test", paths[i], NULL);
        struct sender_outcome *outcome = await(1);
        cr_expect_null(strstr(outcome->error, "private"), "%s: %s", paths[i], outcome->error);
        cr_expect_eq(attempts_with(words[i]), 1.0, "%s", paths[i]);
        sender_outcomes_free(outcome);
    }
    cr_expect_eq(attempts_with("forbidden"), 0.0);
    sender_destroy(sender);
}

/* What a name meant when it was registered, or the last time, says nothing: the second sender has no
 * address of before. */
Test(sender, a_name_that_changes_is_judged_by_what_it_means_now, .timeout = 30)
{
    for (int i = 0; i < 2; i++) {
        struct sender_lane lane;
        struct pv_error err = {.code = PV_OK};
        begin("127.0.0.1/32", 1);
        cr_assert_eq(target_check_url(&policy, strview_of("http://changes.test/"), "/url", &err),
                     PV_OK);
        sender_lane_open(&lane, "team", 1);
        submit(&lane, "changes.test", "/200", NULL);
        struct sender_outcome *outcome = await(1);
        cr_expect_eq(sender_succeeded(outcome), i == 0, "%s", outcome->error);
        cr_expect_eq(strstr(outcome->error, "private or special address") != NULL, i == 1);
        cr_expect_eq(atomic_load(&endpoint.connections), 1 - i);
        sender_outcomes_free(outcome);
        sender_destroy(sender);
    }
}

Test(sender, a_refused_address_is_not_told, .timeout = 30)
{
    struct sender_lane lane;
    begin("", 1);
    sender_lane_open(&lane, "team", 1);
    submit(&lane, "mixed.test", "/200", NULL);
    struct sender_outcome *outcome = await(1);
    cr_expect_not_null(strstr(outcome->error, "private or special address"), "%s", outcome->error);
    cr_expect(strstr(outcome->error, "10.1.2.3") == NULL &&
                  strstr(outcome->error, "127.0.0.1") == NULL,
              "names inside our network have addresses, too: %s", outcome->error);
    cr_expect_eq(attempts_with("forbidden"), 1.0);
    sender_outcomes_free(outcome);
    sender_destroy(sender);
}

Test(sender, answers_are_kept_as_they_came_where_they_are_text, .timeout = 30)
{
    begin("127.0.0.0/8", 1);
    struct sender_outcome outcome = ask("/umlauts");
    cr_expect_eq(outcome.answer_n, ANSWER_KEPT - 1, "no character is cut in two");
    cr_expect_null(strchr(outcome.answer, '?'));
    cr_expect(strview_is_utf8((struct strview){outcome.answer, outcome.answer_n}));
    sender_destroy(sender);
}

Test(sender, an_interim_answer_is_none, .timeout = 30)
{
    begin("127.0.0.0/8", 1);
    static const char *const paths[] = {"/early", "/switch", "/switched"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct sender_outcome outcome = ask(paths[i]);
        cr_expect(outcome.attempted && outcome.status == 0 && !outcome.complete, "%s", paths[i]);
        cr_expect_str_eq(outcome.error, "the answer was only an interim one (1xx)", "%s: %s",
                         paths[i], outcome.error);
    }
    sender_destroy(sender);
}

Test(sender, headers_without_end_are_not_read, .timeout = 30)
{
    begin("127.0.0.0/8", 1);
    struct sender_outcome outcome = ask("/headers");
    cr_expect(!outcome.complete && outcome.duration_ms < 20000);
    cr_expect_str_eq(outcome.error, "its headers are longer than is read");
    clock_sleep_ms(50);
    cr_expect_lt(atomic_load(&endpoint.flooded), 32 << 20);
    outcome = ask("/header");
    cr_expect(!outcome.complete && outcome.duration_ms < 20000);
    cr_expect_str_eq(outcome.error, "its headers are longer than is read");
    sender_destroy(sender);
}

Test(sender, dates_to_retry_after, .timeout = 30)
{
    begin("127.0.0.0/8", 1);
    cr_expect_eq(ask("/past").retry_after_ms, 0);
    cr_expect_eq(ask("/date").retry_after_ms, 86400000);
    sender_destroy(sender);
}

Test(sender, lanes_to_one_host_share_its_bound, .timeout = 30)
{
    enum { LANES = 3, EACH = 40 };
    static const char *const teams[LANES] = {"a", "b", "c"};
    struct sender_lane lanes[LANES];
    begin_impatiently(100);
    for (int i = 0; i < LANES; i++) {
        sender_lane_open(&lanes[i], teams[i], 32);
        for (int j = 0; j < EACH; j++)
            submit(&lanes[i], "127.0.0.1", "/slow", NULL);
    }
    struct sender_outcome *outcomes = await(LANES * EACH);
    for (const struct sender_outcome *o = outcomes; o != NULL; o = o->next)
        cr_expect(sender_succeeded(o), "%s", o->error);
    sender_outcomes_free(outcomes);
    cr_expect(atomic_load(&endpoint.most_under_way) > 16 &&
                  atomic_load(&endpoint.most_under_way) <= 32 + LANES, /* each may begin one */
              "%d", atomic_load(&endpoint.most_under_way));
    sender_destroy(sender);
}

/* Lanes of teams a, b, c and so on, some of each, whose endpoints hang, on hosts of their own or on one. */
static void fill(struct sender_lane *lanes, int n_teams, int of_each, bool one_host)
{
    static const char *const teams[] = {"a", "b", "c", "d"};
    char host[32];
    for (int i = 0; i < n_teams * of_each; i++) {
        (void)snprintf(host, sizeof host, "h%d.here.test", one_host ? 0 : i);
        sender_lane_open(&lanes[i], teams[i / of_each], 32);
        for (int j = 0; j < 32; j++)
            submit(&lanes[i], host, "/hang", &lanes[i]);
    }
}

/* Which lanes come first varies, and with it how many begin one where others may begin none. */
static void expect_under_way(int least, int most)
{
    for (int i = 0; i < 1000 && atomic_load(&endpoint.under_way) < least; i++)
        clock_sleep_ms(1);
    clock_sleep_ms(50); /* for any that are too many */
    int now = atomic_load(&endpoint.under_way);
    cr_expect(now >= least && now <= most, "%d", now);
}

/* What this lane sends is the next that ends, long before anything that hangs does. */
static void expect_served_at_once(struct sender_lane *lane, const char *host)
{
    uint64_t began_ns = clock_monotonic_ns();
    submit(lane, host, "/200", lane);
    struct sender_outcome *outcome = await(1);
    cr_expect_eq(outcome->flight, lane);
    cr_expect(sender_succeeded(outcome), "%s", outcome->error);
    cr_expect_lt(clock_monotonic_ns() - began_ns, 5000000000u);
    sender_outcomes_free(outcome);
}

static void end_with(size_t outcomes)
{
    sender_stop(sender, 0);
    sender_outcomes_free(await(outcomes));
    sender_destroy(sender);
}

Test(sender, a_team_has_at_most_its_share_of_all_connections, .timeout = 30)
{
    struct sender_lane lanes[12], other;
    begin("127.0.0.0/8", 64);
    fill(lanes, 1, 12, false);
    expect_under_way(16, 16);
    sender_lane_open(&other, "other", 1);
    expect_served_at_once(&other, "other.here.test");
    end_with(sizeof lanes / sizeof *lanes * 32);
}

Test(sender, a_team_has_eight_of_few_connections, .timeout = 30)
{
    struct sender_lane lanes[2], other;
    begin("127.0.0.0/8", 12);
    fill(lanes, 1, 2, false);
    expect_under_way(8, 8);
    sender_lane_open(&other, "other", 1);
    expect_served_at_once(&other, "other.here.test");
    end_with(sizeof lanes / sizeof *lanes * 32);
}

Test(sender, teams_that_use_all_their_shares_leave_room_for_a_first_attempt, .timeout = 30)
{
    struct sender_lane lanes[12], other;
    begin("127.0.0.0/8", 64);
    fill(lanes, 4, 3, false);
    expect_under_way(56, 63);
    sender_lane_open(&other, "other", 8);
    expect_served_at_once(&other, "other.here.test");
    end_with(sizeof lanes / sizeof *lanes * 32);
}

Test(sender, teams_that_fill_a_host_leave_room_for_a_first_attempt, .timeout = 30)
{
    struct sender_lane lanes[12], other;
    begin("127.0.0.0/8", 120);
    fill(lanes, 4, 3, true);
    expect_under_way(32, 32 + 12);
    sender_lane_open(&other, "other", 8);
    expect_served_at_once(&other, "h0.here.test");
    end_with(sizeof lanes / sizeof *lanes * 32);
}

Test(sender, no_more_than_twice_its_bound_is_under_way_to_a_host, .timeout = 30)
{
    enum { TEAMS = 4, EACH = 20 };
    static struct sender_lane lanes[TEAMS * EACH];
    static const char *const teams[TEAMS] = {"a", "b", "c", "d"};
    begin("127.0.0.0/8", 120);
    for (int i = 0; i < TEAMS * EACH; i++) {
        sender_lane_open(&lanes[i], teams[i % TEAMS], 1);
        submit(&lanes[i], "h0.here.test", "/hang", &lanes[i]);
    }
    expect_under_way(64, 64);
    end_with(TEAMS * EACH);
}

Test(sender, nothing_is_taken_after_its_end, .timeout = 30)
{
    struct sender_lane lane;
    struct pv_error err = {.code = PV_OK};
    begin("127.0.0.0/8", 1);
    sender_lane_open(&lane, "team", 1);
    sender_stop(sender, 0);
    const struct sender_delivery delivery = {.lane = &lane,
                                             .url = strview_of("http://127.0.0.1/"),
                                             .secrets = &secret,
                                             .n_secrets = 1,
                                             .id = "evt_1",
                                             .content_type = "application/json",
                                             .body = strview_of("{}")};
    cr_expect_eq(sender_submit(sender, &delivery, &err), PV_E_UNAVAILABLE);
    sender_destroy(sender);
}
