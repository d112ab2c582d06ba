/* The sender and those who submit, take, change and recall at once: for the ThreadSanitizer. */
#include <curl/curl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "dispatch/sender.h"
#include "endpoint.h"
#include "threads/clock.h"

enum { LANES = 4, EACH = 200 };

static struct endpoint endpoint;
static struct target_policy policy;
static struct sender *sender;
static struct sender_lane lanes[LANES];
static struct signing_secret secret;

static void ready(void *context)
{
    (void)context;
}

static void *submit_all(void *argument)
{
    struct sender_lane *lane = argument;
    char url[64];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", endpoint.port,
                   lane == lanes ? "500" : "204");
    for (int i = 0; i < EACH; i++) {
        struct pv_error err = {.code = PV_OK};
        const struct sender_delivery delivery = {.lane = lane,
                                                 .url = strview_of(url),
                                                 .secrets = &secret,
                                                 .n_secrets = 1,
                                                 .id = "evt_1",
                                                 .content_type = "application/json",
                                                 .body = strview_of("{}")};
        if (sender_submit(sender, &delivery, &err) != PV_OK)
            abort();
        atomic_store(&lane->limit, 1 + i % 4);
        if (i == EACH / 2 && lane == lanes)
            sender_recall(sender, lane);
    }
    return NULL;
}

int main(void)
{
    struct pv_error err = {.code = PV_OK};
    pthread_t threads[LANES];
    size_t taken = 0;
    if (sodium_init() < 0 || !sender_init_library() || !endpoint_start(&endpoint) ||
        target_policy_parse("all", true, &policy, &err) != PV_OK)
        return 1;
    signing_secret_make(&secret);
    const struct sender_options options = {.policy = &policy,
                                           .connections_max = 8,
                                           .timeout_ms = 5000,
                                           .connect_timeout_ms = 5000,
                                           .ready = ready};
    if (sender_create(&options, &sender, &err) != PV_OK)
        return 1;
    for (int i = 0; i < LANES; i++) {
        sender_lane_open(&lanes[i], i % 2 == 0 ? "a" : "b", 2);
        if (pthread_create(&threads[i], NULL, submit_all, &lanes[i]) != 0)
            return 1;
    }
    for (int i = 0; i < 3000 && taken < LANES * EACH; i++) {
        struct sender_outcome *outcomes = sender_take_outcomes(sender);
        for (const struct sender_outcome *o = outcomes; o != NULL; o = o->next)
            taken++;
        sender_outcomes_free(outcomes);
        clock_sleep_ms(10);
    }
    for (int i = 0; i < LANES; i++)
        (void)pthread_join(threads[i], NULL);
    sender_destroy(sender);
    if (taken != LANES * EACH)
        (void)fprintf(stderr, "%zu outcomes\n", taken);
    return taken == LANES * EACH ? 0 : 1;
}
