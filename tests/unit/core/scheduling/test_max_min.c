/* Links shared max-min fair, against what defines it and against filling by small steps. */
#include "core/scheduling/network/max_min.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/sim/variates.h"

enum { LINKS_MAX = 16, ROUTES_MAX = 60 };

static struct max_min network;
static struct arena arena;

static void begin(size_t n_links)
{
    arena_init(&arena, 0);
    cr_assert(max_min_init(&network, n_links, &arena));
}

static uint32_t add(size_t first, size_t second, double weight)
{
    uint32_t route = max_min_add(&network, first, second);
    cr_assert_neq(route, MAX_MIN_NONE);
    max_min_weigh(&network, route, weight);
    return route;
}

static void share(void)
{
    size_t looked_at = 0;
    cr_assert(max_min_share(&network, &looked_at));
}

static double rate_of(uint32_t route)
{
    return network.routes.items[route].rate;
}

static bool is_route(size_t index)
{
    return network.routes.items[index].links[0] != MAX_MIN_NONE;
}

static double used(size_t link)
{
    double sum = 0;
    for (size_t k = 0; k < network.links[link].n_routes; k++) {
        const struct max_min_route *route = &network.routes.items[network.links[link].routes[k]];
        sum += route->weight * route->rate;
    }
    return sum;
}

static bool is_bottleneck(size_t link, double rate)
{
    if (used(link) < network.links[link].capacity * (1 - 1e-9))
        return false;
    for (size_t k = 0; k < network.links[link].n_routes; k++)
        if (rate_of(network.links[link].routes[k]) > rate * (1 + 1e-9))
            return false;
    return true;
}

/* Feasible, and every route has a bottleneck: that is max-min fair (Bertsekas, Gallager, 6.5.2). */
static void expect_fair(void)
{
    for (size_t link = 0; link < network.n_links; link++)
        cr_assert_leq(used(link), network.links[link].capacity * (1 + 1e-9));
    for (size_t i = 0; i < network.routes.n; i++) {
        const struct max_min_route *route = &network.routes.items[i];
        if (is_route(i))
            cr_assert(is_bottleneck(route->links[0], route->rate) ||
                          is_bottleneck(route->links[1], route->rate),
                      "route %zu, rate %g", i, route->rate);
    }
}

/* Two into one link of 10; one of them comes from a link of 2. */
Test(max_min, what_one_cannot_use_others_get)
{
    begin(3);
    max_min_set_capacity(&network, 0, 2);
    max_min_set_capacity(&network, 1, 10);
    max_min_set_capacity(&network, 2, 10);
    uint32_t slow = add(0, 2, 1);
    uint32_t fast = add(1, 2, 1);
    share();
    cr_expect_eq(rate_of(slow), 2);
    cr_expect_eq(rate_of(fast), 8);
    /* Three more like the first: half a unit each; and then they are gone. */
    max_min_weigh(&network, slow, 3);
    share();
    cr_expect_eq(rate_of(slow), 0.5);
    cr_expect_eq(rate_of(fast), 8);
    max_min_remove(&network, slow);
    share();
    cr_expect_eq(rate_of(fast), 10);
    arena_fini(&arena);
}

Test(max_min, without_capacity_there_is_no_rate)
{
    begin(4);
    for (size_t link = 1; link < 4; link++)
        max_min_set_capacity(&network, link, 6);
    uint32_t none = add(0, 2, 1);
    uint32_t all = add(1, 2, 3);
    share();
    cr_expect_eq(rate_of(none), 0);
    cr_expect_eq(rate_of(all), 2);
    arena_fini(&arena);
}

/* What has nothing to do with a change is not looked at. */
Test(max_min, looks_at_what_is_concerned)
{
    size_t looked_at = 0;
    begin(4);
    for (size_t link = 0; link < 4; link++)
        max_min_set_capacity(&network, link, 1);
    (void)add(0, 1, 1);
    uint32_t other = add(2, 3, 1);
    share();
    max_min_weigh(&network, other, 1);
    cr_assert(max_min_share(&network, &looked_at));
    cr_expect_eq(looked_at, 2, "the route, from either of its links: %zu", looked_at);
    cr_expect_eq(network.found.n, 1);
    cr_expect_eq(network.found.items[0], other);
    arena_fini(&arena);
}

/* All rates grow by small steps, until a link of theirs is used up. */
static void fill_by_steps(double rates[])
{
    enum { STEPS = 20000 };
    static double step[ROUTES_MAX * 64];
    double most = 0;
    for (size_t link = 0; link < network.n_links; link++)
        most = fmax(most, network.links[link].capacity);
    for (size_t i = 0; i < network.routes.n; i++) {
        rates[i] = 0;
        step[i] = is_route(i) ? most / STEPS : 0;
    }
    for (size_t s = 0; s < STEPS; s++) {
        double load[LINKS_MAX] = {0};
        for (size_t i = 0; i < network.routes.n; i++)
            for (size_t end = 0; is_route(i) && end < MAX_MIN_LINKS; end++)
                load[network.routes.items[i].links[end]] +=
                    network.routes.items[i].weight * (rates[i] + step[i]);
        for (size_t i = 0; i < network.routes.n; i++)
            for (size_t end = 0; is_route(i) && end < MAX_MIN_LINKS; end++) {
                uint32_t link = network.routes.items[i].links[end];
                if (load[link] > network.links[link].capacity)
                    step[i] = 0;
            }
        for (size_t i = 0; i < network.routes.n; i++)
            rates[i] += step[i];
    }
}

/* Random networks that change again and again, each time but some of it. */
Test(max_min, is_fair_whatever_changes)
{
    static const uint64_t purpose[] = {7};
    struct rng rng = variate_stream(3, purpose, 1);
    for (size_t trial = 0; trial < 40; trial++) {
        size_t half = 2 + trial % 7;
        begin(2 * half);
        for (size_t link = 0; link < 2 * half; link++)
            max_min_set_capacity(&network, link, trial % 3 == 0 ? 8 : variate_uniform(&rng, 1, 9));
        for (size_t change = 0; change < 30; change++) {
            size_t from = (size_t)variate_uniform(&rng, 0, (double)half);
            size_t to = half + (size_t)variate_uniform(&rng, 0, (double)half);
            uint32_t route = add(from, to, 1 + floor(variate_uniform(&rng, 0, 4)));
            if (change % 4 == 3)
                max_min_remove(&network, route);
            if (change % 5 == 4)
                max_min_set_capacity(&network, from, change % 2 == 0 ? 0 : 5);
            share();
            expect_fair();
        }
        double rates[ROUTES_MAX];
        cr_assert_leq(network.routes.n, ROUTES_MAX);
        if (trial % 10 == 9) {
            fill_by_steps(rates);
            for (size_t i = 0; i < network.routes.n; i++)
                if (is_route(i))
                    cr_expect_float_eq(rates[i], rate_of((uint32_t)i), 0.02, "%g, %g", rates[i],
                                       rate_of((uint32_t)i));
        }
        arena_fini(&arena);
    }
}

/* Every node to every other: all rates are the same doubles, so that what is alike ends at one time. */
Test(max_min, what_is_alike_has_one_rate)
{
    enum { NODES = 7 };
    begin(2 * NODES);
    for (size_t link = 0; link < 2 * NODES; link++)
        max_min_set_capacity(&network, link, 1.25e8 / 3);
    for (size_t from = 0; from < NODES; from++)
        for (size_t to = 0; to < NODES; to++)
            if (from != to)
                (void)add(from, NODES + to, 3);
    share();
    for (size_t i = 1; i < network.routes.n; i++)
        cr_expect_eq(rate_of((uint32_t)i), rate_of(0));
    cr_expect_float_eq(rate_of(0), 1.25e8 / 3 / 18, 1e-6);
    arena_fini(&arena);
}

/* Capacities and weights of any size: fair still. */
Test(max_min, tiny_and_huge)
{
    begin(4);
    max_min_set_capacity(&network, 0, 1e-9);
    max_min_set_capacity(&network, 1, 1e18);
    max_min_set_capacity(&network, 2, 1e18);
    max_min_set_capacity(&network, 3, 3e17);
    (void)add(0, 2, 1e9);
    (void)add(1, 2, 1);
    (void)add(1, 3, 1e9);
    (void)add(1, 2, 999999999);
    share();
    expect_fair();
    arena_fini(&arena);
}
