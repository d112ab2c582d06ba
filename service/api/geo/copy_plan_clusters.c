#include "api/geo/copy_plan_clusters.h"

#include <math.h>
#include <stdio.h>

#include "api/clusters/performance_settings.h"
#include "core/geo/time_slot.h"
#include "store/clusters/cluster.h"
#include "store/clusters/performance_book.h"

/* --- faults --- */

/* At a member of cluster m, or at the name that is all that the request gives of it. */
static enum pv_code fault_at(const struct codec_copy_plan *asked,
                             size_t m,
                             const char *member,
                             const char *code,
                             const char *detail,
                             struct pv_error *err)
{
    char at[128];
    bool only_named = asked->places[m].only_named;
    (void)snprintf(at, sizeof at, "%s/%zu%s%s", asked->clusters_at, m, only_named ? "" : "/",
                   only_named ? "" : member);
    return pv_fault(err, PV_PLACE_POINTER, at, code, "%s", detail);
}

static enum pv_code
refuse_unknown(const struct codec_copy_plan *asked, size_t m, struct pv_error *err)
{
    return fault_at(asked, m, "name", "unknown_cluster", "no registered cluster has this name",
                    err);
}

static enum pv_code refuse_missing(const struct codec_copy_plan *asked,
                                   size_t m,
                                   const char *member,
                                   const char *hint,
                                   struct pv_error *err)
{
    char detail[160];
    (void)snprintf(detail, sizeof detail,
                   "the registered cluster does not specify its %s, which is needed here%s", member,
                   hint);
    return fault_at(asked, m, member, "cluster_attribute_missing", detail, err);
}

/* --- what is registered --- */

/* How many registered clusters there are, and the clusters of the request that they are. */

static enum pv_code look_up(struct store_tx *tx,
                            struct arena *arena,
                            const struct codec_copy_plan *asked,
                            struct copy_plan_registered *registered,
                            struct pv_error *err)
{
    size_t n = 0;
    struct strview *names = arena_array(arena, asked->n_registered, sizeof *names);
    registered->of = arena_array(arena, asked->n_registered, sizeof *registered->of);
    registered->cluster = arena_calloc(arena, asked->n_registered, sizeof *registered->cluster);
    if (names == NULL || registered->of == NULL || registered->cluster == NULL)
        return pv_no_memory(err);
    for (size_t m = 0; m < asked->problem.n_clusters; m++) {
        if (!asked->places[m].registered)
            continue;
        names[n] = asked->clusters[m];
        registered->of[n++] = m;
    }
    registered->n = n;
    return store_cluster_of_names(tx, arena, names, n, registered->cluster, err);
}

/* Gates are unlimited only where the request says so. */
static void take_gate(const struct codec_copy_plan *asked,
                      size_t m,
                      const char *member,
                      double specified,
                      double *gate,
                      struct pv_error *err)
{
    if (!isnan(*gate))
        return;
    *gate = specified;
    if (isnan(specified))
        (void)refuse_missing(asked, m, member, "; null in the request means no limit", err);
}

static void take_traits(const struct codec_copy_plan *asked,
                        size_t m,
                        const struct cluster_traits *traits,
                        struct geo_cluster *cluster,
                        struct pv_error *err)
{
    bool specified = cluster->slots != RUN_UNKNOWN;
    if (!specified)
        cluster->slots = traits->slots;
    if (cluster->slots == RUN_UNKNOWN)
        (void)refuse_missing(asked, m, "slots", "", err);
    else if (!specified && cluster->busy_slots > cluster->slots)
        (void)fault_at(asked, m, "busy_slots", "out_of_range",
                       "must not exceed the slots of the registered cluster", err);
    take_gate(asked, m, "ingress_bytes_per_s", traits->ingress_bytes_per_s,
              &cluster->ingress_bytes_per_s, err);
    take_gate(asked, m, "egress_bytes_per_s", traits->egress_bytes_per_s,
              &cluster->egress_bytes_per_s, err);
}

/* The problem's clusters, with what is registered of them. */
static enum pv_code take_registered(struct arena *arena,
                                    const struct copy_plan_registered *registered,
                                    struct codec_copy_plan *asked,
                                    struct geo_cluster **clusters,
                                    struct pv_error *err)
{
    struct geo_problem *problem = &asked->problem;
    size_t faults = err->n_faults;
    *clusters = arena_array(arena, problem->n_clusters, sizeof **clusters);
    if (*clusters == NULL)
        return pv_no_memory(err);
    for (size_t m = 0; m < problem->n_clusters; m++)
        (*clusters)[m] = problem->clusters[m];
    for (size_t i = 0; i < registered->n; i++) {
        size_t m = registered->of[i];
        if (registered->cluster[i].id[0] == '\0')
            (void)refuse_unknown(asked, m, err);
        else
            take_traits(asked, m, &registered->cluster[i].traits, &(*clusters)[m], err);
    }
    problem->clusters = *clusters;
    return err->n_faults > faults ? err->code : PV_OK;
}

/* As the request specifies; else the shortest of the clusters'; else a second. */
static double choose_slot(double specified, const struct copy_plan_registered *registered)
{
    double shortest = HUGE_VAL;
    for (size_t i = 0; i < registered->n; i++)
        shortest = fmin(shortest, registered->cluster[i].traits.slot_s);
    if (!isnan(specified))
        return specified;
    return isfinite(shortest) ? shortest : 1;
}

/* --- what was reported --- */

static bool *find_senders(const struct geo_problem *problem, struct arena *arena)
{
    bool *sends = arena_calloc(arena, problem->n_clusters, sizeof *sends);
    for (size_t j = 0; sends != NULL && j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            for (size_t i = 0; i < problem->jobs[j].tasks[t].n_inputs; i++)
                sends[problem->jobs[j].tasks[t].inputs[i]] = true;
    return sends;
}

/* As the book is asked about a registered cluster. */
static struct performance_place place_of(const struct cluster *cluster, double slot_s)
{
    const struct cluster_traits *traits = &cluster->traits;
    double own_s = isnan(traits->slot_s) ? slot_s : traits->slot_s;
    struct performance_place place = {.machine_type = traits->machine_type,
                                      .configured = traits->unreachable_probability,
                                      .slot_s = slot_s};
    (void)snprintf(place.id, sizeof place.id, "%s", cluster->id);
    if (!isnan(place.configured))
        place.configured = geo_time_slot_unreachable(place.configured, own_s, slot_s);
    return place;
}

static enum pv_code ask_book(struct api *api,
                             struct store_tx *tx,
                             struct arena *arena,
                             const struct copy_plan_registered *registered,
                             struct codec_copy_plan *asked,
                             const bool sends[],
                             struct pv_error *err)
{
    struct codec_copy_plan_origin *origin = &asked->origin;
    size_t n = registered->n;
    struct performance_place *places = arena_array(arena, n, sizeof *places);
    bool *place_sends = arena_array(arena, n, sizeof *place_sends);
    size_t *place = arena_array(arena, asked->problem.n_clusters, sizeof *place);
    struct performance_ask *ask = arena_alloc(arena, sizeof *ask);
    if (places == NULL || place_sends == NULL || place == NULL || ask == NULL)
        return pv_no_memory(err);
    for (size_t m = 0; m < asked->problem.n_clusters; m++)
        place[m] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        place[registered->of[i]] = i;
        places[i] = place_of(&registered->cluster[i], asked->problem.slot_s);
        place_sends[i] = sends[registered->of[i]];
    }
    *ask = performance_settings_ask(api->config);
    ask->places = places;
    ask->n_places = n;
    ask->operations = asked->operations;
    ask->n_operations = asked->problem.n_operations;
    ask->sends = place_sends;
    origin->now_us = ask->now_us;
    origin->place = place;
    return store_performance_book(tx, arena, ask, &origin->book, err);
}

static enum pv_code take_processing(struct arena *arena,
                                    size_t n_operations,
                                    size_t place,
                                    struct codec_copy_plan_origin *origin,
                                    struct geo_cluster *cluster,
                                    struct pv_error *err)
{
    const struct speeds **processing = arena_array(arena, n_operations, sizeof *processing);
    if (processing == NULL)
        return pv_no_memory(err);
    for (size_t op = 0; op < n_operations; op++) {
        processing[op] = cluster->processing[op];
        if (processing[op] != NULL)
            continue;
        const struct performance_entry *entry =
            performance_book_processing(origin->book, place, op);
        origin->processing[entry->source]++;
        if (entry->source != PERFORMANCE_NONE)
            processing[op] = &entry->speeds;
    }
    cluster->processing = processing;
    return PV_OK;
}

static enum pv_code take_performance(struct arena *arena,
                                     const struct copy_plan_registered *registered,
                                     struct codec_copy_plan *asked,
                                     struct geo_cluster clusters[],
                                     struct pv_error *err)
{
    struct codec_copy_plan_origin *origin = &asked->origin;
    for (size_t i = 0; i < registered->n; i++) {
        size_t m = registered->of[i];
        if (!asked->places[m].has_unreachable) {
            const struct unreachable_entry *entry = performance_book_unreachable(origin->book, i);
            origin->unreachable[entry->source]++;
            clusters[m].unreachable_probability = entry->probability;
        }
        PV_TRY(take_processing(arena, asked->problem.n_operations, i, origin, &clusters[m], err));
    }
    return PV_OK;
}

/* --- links --- */

/* Links of the request by where they are from: those from m are at [first[m], first[m + 1]). */
struct by_sender {
    size_t *first;
    size_t *to;
};

static enum pv_code sort_links(const struct geo_problem *problem,
                               struct arena *arena,
                               struct by_sender *sorted,
                               struct pv_error *err)
{
    size_t n = problem->n_clusters;
    sorted->first = arena_calloc(arena, n + 2, sizeof *sorted->first);
    sorted->to = arena_array(arena, problem->n_links, sizeof *sorted->to);
    if (sorted->first == NULL || sorted->to == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < problem->n_links; i++)
        sorted->first[problem->links[i].from + 2]++;
    for (size_t m = 2; m <= n; m++)
        sorted->first[m] += sorted->first[m - 1];
    for (size_t i = 0; i < problem->n_links; i++)
        sorted->to[sorted->first[problem->links[i].from + 1]++] = problem->links[i].to;
    return PV_OK;
}

static size_t count_pairs(const struct copy_plan_registered *registered, const bool sends[])
{
    size_t senders = 0;
    for (size_t i = 0; i < registered->n; i++)
        senders += sends[registered->of[i]];
    return registered->n == 0 ? 0 : senders * (registered->n - 1);
}

/* Those from place i to all others but the ones that the request gives. */
static void add_links(const struct copy_plan_registered *registered,
                      size_t i,
                      const struct by_sender *sorted,
                      bool specified[],
                      struct codec_copy_plan_origin *origin,
                      struct geo_link links[],
                      size_t *n)
{
    size_t from = registered->of[i];
    for (size_t k = sorted->first[from]; k < sorted->first[from + 1]; k++)
        specified[sorted->to[k]] = true;
    for (size_t k = 0; k < registered->n; k++) {
        size_t to = registered->of[k];
        if (k == i || specified[to])
            continue;
        const struct performance_entry *entry = performance_book_transfer(origin->book, i, k);
        origin->transfers[entry->source]++;
        if (entry->source != PERFORMANCE_NONE)
            links[(*n)++] = (struct geo_link){from, to, &entry->speeds};
    }
    for (size_t k = sorted->first[from]; k < sorted->first[from + 1]; k++)
        specified[sorted->to[k]] = false;
}

/* The problem's links: those of the request, then those of the book, ascending. */
static enum pv_code take_links(struct arena *arena,
                               const struct copy_plan_registered *registered,
                               const bool sends[],
                               struct codec_copy_plan *asked,
                               struct pv_error *err)
{
    struct geo_problem *problem = &asked->problem;
    struct by_sender sorted;
    size_t n = problem->n_links;
    size_t room = n + count_pairs(registered, sends);
    struct geo_link *links = arena_array(arena, room, sizeof *links);
    bool *specified = arena_calloc(arena, problem->n_clusters, sizeof *specified);
    if (links == NULL || specified == NULL)
        return pv_no_memory(err);
    PV_TRY(sort_links(problem, arena, &sorted, err));
    for (size_t i = 0; i < n; i++)
        links[i] = problem->links[i];
    asked->origin.n_links_given = n;
    for (size_t i = 0; i < registered->n; i++)
        if (sends[registered->of[i]])
            add_links(registered, i, &sorted, specified, &asked->origin, links, &n);
    problem->links = links;
    problem->n_links = n;
    return PV_OK;
}

/* --- operations --- */

static bool *find_known(const struct geo_problem *problem, struct arena *arena)
{
    bool *known = arena_calloc(arena, problem->n_operations, sizeof *known);
    for (size_t m = 0; known != NULL && m < problem->n_clusters; m++)
        for (size_t op = 0; op < problem->n_operations; op++)
            known[op] |= problem->clusters[m].processing[op] != NULL;
    return known;
}

enum pv_code copy_plan_operations_check(const struct geo_problem *problem,
                                        struct arena *arena,
                                        struct pv_error *err)
{
    char at[96];
    enum pv_code code = PV_OK;
    const bool *known = find_known(problem, arena);
    if (known == NULL)
        return pv_no_memory(err);
    for (size_t j = 0; j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++) {
            if (known[problem->jobs[j].tasks[t].operation])
                continue;
            (void)snprintf(at, sizeof at, "/jobs/%zu/tasks/%zu/operation", j, t);
            code = pv_fault(err, PV_PLACE_POINTER, at, "unknown_operation",
                            "no cluster has processing speeds of it, and none was reported");
        }
    return code;
}

void copy_plan_choose_epsilon(struct codec_copy_plan *asked)
{
    asked->load = geo_system_load_measure(&asked->problem);
    asked->epsilon_is_auto = geo_parameters_are_automatic(&asked->parameters);
    geo_parameters_resolve(&asked->parameters, &asked->problem);
}

enum pv_code copy_plan_clusters_load(struct api *api,
                                     struct http_request *request,
                                     struct codec_copy_plan *asked,
                                     struct copy_plan_registered *registered,
                                     struct pv_error *err)
{
    struct arena *arena = request->arena;
    store_tx_auto_t *tx = NULL;
    const struct geo_problem given = registered->tried ? registered->given : asked->problem;
    *registered = (struct copy_plan_registered){.tried = true, .given = given};
    asked->problem = given;
    if (asked->n_registered == 0) {
        asked->problem.slot_s = choose_slot(asked->problem.slot_s, registered);
        return PV_OK;
    }
    PV_TRY(http_move(request, HTTP_IO));
    registered->sends = find_senders(&asked->problem, arena);
    if (registered->sends == NULL)
        return pv_no_memory(err);
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(look_up(tx, arena, asked, registered, err));
    PV_TRY(take_registered(arena, registered, asked, &registered->clusters, err));
    asked->problem.slot_s = choose_slot(asked->problem.slot_s, registered);
    return ask_book(api, tx, arena, registered, asked, registered->sends, err);
}

enum pv_code copy_plan_clusters_take(struct arena *arena,
                                     const struct copy_plan_registered *registered,
                                     struct codec_copy_plan *asked,
                                     struct pv_error *err)
{
    if (registered->n == 0)
        return PV_OK;
    PV_TRY(take_performance(arena, registered, asked, registered->clusters, err));
    return take_links(arena, registered, registered->sends, asked, err);
}
