#ifndef CORE_SCHEDULING_NETWORK_MAX_MIN_H
#define CORE_SCHEDULING_NETWORK_MAX_MIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vector.h"

/*
 * Capacities of links shared max-min fair by routes that use two links each.
 *
 * A route has a weight, so many flows that are alike. Rates are those of one flow. They are feasible:
 * on no link the weights times the rates exceed the capacity. And they are max-min fair: no rate can
 * be raised but at the cost of one that is not higher; which is so when every route has a bottleneck,
 * a link that is used up and on which no other route has a higher rate.
 *
 * Routes come and go, weights and capacities change. max_min_share then finds new rates of those routes
 * that can be concerned, which are connected with what has changed by links that they share.
 *
 * Bottlenecks whose rates differ by less than 1e-12 of them are given one rate: so what is alike stays
 * alike in spite of rounding. Otherwise rates are exact but for rounding.
 */
#define MAX_MIN_NONE UINT32_MAX

enum { MAX_MIN_LINKS = 2 };

struct max_min_route {
    uint32_t links[MAX_MIN_LINKS];  /* different ones */
    uint32_t places[MAX_MIN_LINKS]; /* among the routes of the link */
    double weight;                  /* whole, and 0 until it is given one */
    double rate;                    /* of one flow, as shared last; 0 before */
    bool open;                      /* while rates are shared: it has none yet */
};

struct max_min_link {
    double capacity; /* >= 0, finite */
    uint32_t *routes;
    size_t n_routes;
    size_t routes_capacity;
    double left;     /* while rates are shared: of the capacity */
    double weight;   /* likewise: of routes without a rate */
    bool changed;    /* something of it has, since rates were shared */
    bool considered; /* while rates are shared */
};

struct max_min_share;

struct max_min {
    struct arena *arena;
    struct max_min_link *links;
    size_t n_links;
    VECTOR(struct max_min_route) routes; /* links[0] MAX_MIN_NONE: there is no such one */
    uint32_t free;                       /* chain, by links[1], of routes that are over */
    uint32_t *changed;                   /* links, of which something has changed */
    size_t n_changed;
    uint32_t *considered; /* links, while rates are shared */
    struct max_min_share *heap;
    VECTOR(uint32_t) found; /* routes, likewise; in the end those whose rates have changed */
};

/* Links without capacity and routes. false: out of memory. */
bool max_min_init(struct max_min *network, size_t n_links, struct arena *arena);

void max_min_set_capacity(struct max_min *network, size_t link, double capacity);

/* A route of weight 0; MAX_MIN_NONE: out of memory. What is over is used again. */
uint32_t max_min_add(struct max_min *network, size_t first, size_t second);

/* Its weight grows by so much, or falls: to 0 at least. */
void max_min_weigh(struct max_min *network, uint32_t route, double by);

/* It is no more. */
void max_min_remove(struct max_min *network, uint32_t route);

/*
 * New rates, after changes. Those of found.items[0..found.n) are others than before; *looked_at grows
 * by the routes that were looked at. false: out of memory.
 *
 * D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2 (progressive filling). O(n
 * log links) for n routes that can be concerned.
 */
bool max_min_share(struct max_min *network, size_t *looked_at);

#endif
