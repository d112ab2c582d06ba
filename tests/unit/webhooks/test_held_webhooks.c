#include "webhooks/held_webhooks.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct webhook_held row_of(const char *id)
{
    struct webhook_held row = {.url = strview_of("https://example.com/"),
                               .format = strview_of("standard"),
                               .signature = strview_of("v1"),
                               .secret = strview_of("sealed"),
                               .concurrency = 8,
                               .failures = 3,
                               .version = 2};
    (void)snprintf(row.key.team_id, sizeof row.key.team_id, "team");
    (void)snprintf(row.key.id, sizeof row.key.id, "%s", id);
    return row;
}

Test(held_webhooks, copies_are_found_and_removed)
{
    struct held_webhooks held = {0};
    char url[] = "https://example.com/a";
    struct webhook_held row = row_of("a");
    row.url = strview_of(url);
    struct held_webhook *a = held_webhooks_add(&held, &row);
    memset(url, 'x', sizeof url - 1);
    cr_assert(strview_is(a->row.url, "https://example.com/a"));
    cr_assert_null(a->row.authorization_value.at);
    row = row_of("b");
    struct held_webhook *b = held_webhooks_add(&held, &row);
    cr_assert_eq(held_webhooks_find(&held, &b->row.key), b);
    struct webhook_key other = b->row.key;
    (void)snprintf(other.team_id, sizeof other.team_id, "another");
    cr_assert_null(held_webhooks_find(&held, &other));
    cr_assert_eq(a->health.failures, 3);
    cr_assert_eq(atomic_load(&a->lane.limit), 1);
    held_webhooks_remove(&held, a);
    cr_assert_eq(held.n, 1);
    cr_assert_eq(held_webhooks_find(&held, &b->row.key), b);
    held_webhooks_clear(&held);
    cr_assert(held.first == NULL && held.n == 0);
}

Test(held_webhooks, flights_are_counted)
{
    struct held_webhooks held = {0};
    struct webhook_held row = row_of("a");
    struct held_webhook *webhook = held_webhooks_add(&held, &row);
    struct flight *flights[3];
    for (int i = 0; i < 3; i++) {
        const struct delivery_due due = {.id = "d", .event_id = "e", .attempts = i};
        flights[i] = flight_add(&held, webhook, &due);
    }
    cr_assert(webhook->n_flights == 3 && held.n_flights == 3);
    flight_remove(&held, flights[1]);
    cr_assert(webhook->n_flights == 2 && held.n_flights == 2);
    flight_remove(&held, flights[2]);
    cr_assert_eq(webhook->flights, flights[0]);
    held_webhooks_clear(&held);
    cr_assert_eq(held.n_flights, 0);
}
