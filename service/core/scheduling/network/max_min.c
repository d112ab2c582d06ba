/*
 * Progressive filling: all rates grow alike, until a link is used up, whose routes keep the rate that
 * they have; and so on with the others. The rate at which a link would be used up, what is left of it
 * by the weight of its routes that still grow, never falls as others are: so a heap finds the next one,
 * where a link that stands too far in front is put back when it is met.
 */
#include "core/scheduling/network/max_min.h"

#include <math.h>

/* Rates of bottlenecks nearer than this to each other are one. */
static const double ALIKE = 1e-12;

/* At which rate a link would be used up, as far as was known. */
struct max_min_share {
    double rate;
    uint32_t link;
};

bool max_min_init(struct max_min *network, size_t n_links, struct arena *arena)
{
    *network = (struct max_min){.arena = arena, .n_links = n_links, .free = MAX_MIN_NONE};
    network->links = arena_calloc(arena, n_links, sizeof *network->links);
    network->changed = arena_array(arena, n_links, sizeof *network->changed);
    network->considered = arena_array(arena, n_links, sizeof *network->considered);
    network->heap = arena_array(arena, n_links, sizeof *network->heap);
    return network->links != NULL && network->changed != NULL && network->considered != NULL &&
           network->heap != NULL;
}

/* --- what changes --- */

static void change(struct max_min *network, size_t link)
{
    if (network->links[link].changed)
        return;
    network->links[link].changed = true;
    network->changed[network->n_changed++] = (uint32_t)link;
}

void max_min_set_capacity(struct max_min *network, size_t link, double capacity)
{
    network->links[link].capacity = capacity;
    change(network, link);
}

static bool reserve(struct max_min *network, size_t link)
{
    struct max_min_link *of = &network->links[link];
    return vector_reserve(network->arena, of->routes, of->routes_capacity, of->n_routes + 1);
}

uint32_t max_min_add(struct max_min *network, size_t first, size_t second)
{
    uint32_t index = network->free;
    if (!reserve(network, first) || !reserve(network, second))
        return MAX_MIN_NONE;
    if (index != MAX_MIN_NONE)
        network->free = network->routes.items[index].links[1];
    else if (vector_add(network->arena, &network->routes) == NULL)
        return MAX_MIN_NONE;
    else
        index = (uint32_t)(network->routes.n - 1);
    struct max_min_route *route = &network->routes.items[index];
    *route = (struct max_min_route){.links = {(uint32_t)first, (uint32_t)second}};
    for (size_t end = 0; end < MAX_MIN_LINKS; end++) {
        struct max_min_link *link = &network->links[route->links[end]];
        route->places[end] = (uint32_t)link->n_routes;
        link->routes[link->n_routes++] = index;
    }
    return index;
}

void max_min_weigh(struct max_min *network, uint32_t route, double by)
{
    struct max_min_route *of = &network->routes.items[route];
    of->weight += by;
    change(network, of->links[0]);
    change(network, of->links[1]);
}

void max_min_remove(struct max_min *network, uint32_t route)
{
    struct max_min_route *routes = network->routes.items;
    struct max_min_route *over = &routes[route];
    for (size_t end = 0; end < MAX_MIN_LINKS; end++) {
        struct max_min_link *link = &network->links[over->links[end]];
        uint32_t last = link->routes[--link->n_routes];
        /* A link is the same end of all its routes, or this finds which. */
        size_t same = routes[last].links[end] == over->links[end] ? end : 1 - end;
        link->routes[over->places[end]] = last;
        routes[last].places[same] = over->places[end];
        change(network, over->links[end]);
    }
    over->links[0] = MAX_MIN_NONE;
    over->links[1] = network->free;
    network->free = route;
}

/* --- which are concerned --- */

static void consider(struct max_min *network, uint32_t link, size_t *n)
{
    struct max_min_link *of = &network->links[link];
    if (of->considered)
        return;
    of->considered = true;
    of->left = of->capacity;
    of->weight = 0;
    network->considered[(*n)++] = link;
}

/* A route, and the link that it shares with a link that is considered. false: out of memory. */
static bool find(struct max_min *network, uint32_t index, uint32_t from, size_t *n_links)
{
    struct max_min_route *route = &network->routes.items[index];
    if (route->open)
        return true;
    uint32_t *found = vector_add(network->arena, &network->found);
    if (found == NULL)
        return false;
    *found = index;
    route->open = true;
    consider(network, route->links[route->links[0] == from], n_links);
    return true;
}

/* The routes of links that have changed, those of their other links, and so on. false: out of
 * memory. */
static bool find_concerned(struct max_min *network, size_t *n_links, size_t *looked_at)
{
    *n_links = 0;
    network->found.n = 0;
    for (size_t i = 0; i < network->n_changed; i++) {
        network->links[network->changed[i]].changed = false;
        consider(network, network->changed[i], n_links);
    }
    network->n_changed = 0;
    for (size_t i = 0; i < *n_links; i++) {
        struct max_min_link *link = &network->links[network->considered[i]];
        for (size_t k = 0; k < link->n_routes; k++) {
            link->weight += network->routes.items[link->routes[k]].weight;
            if (!find(network, link->routes[k], network->considered[i], n_links))
                return false;
        }
        *looked_at += link->n_routes;
    }
    return true;
}

/* --- the heap --- */

static void sink(struct max_min_share *heap, size_t n, size_t place)
{
    struct max_min_share sinking = heap[place];
    for (size_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
        if (child + 1 < n && heap[child + 1].rate < heap[child].rate)
            child++;
        if (!(heap[child].rate < sinking.rate))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = sinking;
}

/* Links with routes. Returns how many. */
static size_t heap_of(struct max_min *network, size_t n_links)
{
    size_t n = 0;
    for (size_t i = 0; i < n_links; i++) {
        struct max_min_link *link = &network->links[network->considered[i]];
        link->considered = false;
        if (link->weight > 0)
            network->heap[n++] =
                (struct max_min_share){link->left / link->weight, network->considered[i]};
    }
    for (size_t place = n / 2; place-- > 0;)
        sink(network->heap, n, place);
    return n;
}

/* --- rates --- */

/* A route whose bottleneck has been met takes its part of its other link. */
static void give_rate(struct max_min *network, struct max_min_route *route, double rate)
{
    for (size_t end = 0; end < MAX_MIN_LINKS; end++) {
        struct max_min_link *link = &network->links[route->links[end]];
        link->left = fmax(0, link->left - route->weight * rate);
        link->weight -= route->weight;
    }
    route->open = false;
    route->rate = rate;
}

/* The link is used up by its routes that have no rate yet. `keep` of those found, of which *n are
 * kept so far, become those whose rates have changed. */
static void fill(struct max_min *network, uint32_t link, double rate, uint32_t keep[], size_t *n)
{
    const struct max_min_link *of = &network->links[link];
    for (size_t k = 0; k < of->n_routes; k++) {
        struct max_min_route *route = &network->routes.items[of->routes[k]];
        double before = route->rate;
        if (!route->open)
            continue;
        give_rate(network, route, rate);
        if (route->rate != before)
            keep[(*n)++] = of->routes[k];
    }
}

/* Weights are whole numbers, of which nothing is left by rounding. */
static void fill_all(struct max_min *network, size_t n_links)
{
    struct max_min_share *heap = network->heap;
    size_t n = heap_of(network, n_links);
    size_t kept = 0;
    double level = 0;
    while (n > 0) {
        const struct max_min_link *link = &network->links[heap[0].link];
        double rate = link->weight > 0 ? link->left / link->weight : HUGE_VAL;
        if (!(link->weight > 0)) {
            heap[0] = heap[--n];
        } else if (rate > heap[0].rate) {
            heap[0].rate = rate;
        } else {
            if (rate > level * (1 + ALIKE))
                level = rate;
            fill(network, heap[0].link, level, network->found.items, &kept);
            heap[0] = heap[--n];
        }
        sink(heap, n, 0);
    }
    network->found.n = kept;
}

bool max_min_share(struct max_min *network, size_t *looked_at)
{
    size_t n_links;
    if (!find_concerned(network, &n_links, looked_at))
        return false;
    fill_all(network, n_links);
    return true;
}
