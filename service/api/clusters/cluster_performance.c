#include <math.h>

#include "api/clusters/performance_settings.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "codec/clusters/cluster_performance.h"
#include "core/geo/time_slot.h"
#include "store/clusters/cluster.h"
#include "store/clusters/performance.h"
#include "store/clusters/performance_book.h"

/* GET /v1/clusters/{name}/performance: what is known of a cluster, as a plan would take it. */

static const double SLOT_S = 1; /* where neither request nor cluster says */
static const double SLOT_S_MAX = 1e9;

/* More than any team has: clusters_max may have been larger when they were made. */
enum { CLUSTERS_READ = 1000000 };

struct asked {
    const char *name;
    const char *operation; /* NULL: all */
    const char *from;      /* likewise */
    double slot_s;         /* NAN: the cluster's */
    struct performance_ask ask;
    struct cluster_list clusters;
    struct strview *names;
    size_t place;
};

static enum pv_code
read_query(const struct http_request *request, struct asked *asked, struct pv_error *err)
{
    static const char *const allowed[] = {"slot_s", "operation", "from", NULL};
    asked->name = http_path_parameter(request, "name");
    asked->operation = http_query(request, "operation");
    asked->from = http_query(request, "from");
    enum pv_code code = http_check_query(request, allowed, err);
    return code == PV_OK ? api_query_number(request, "slot_s", 0, SLOT_S_MAX, &asked->slot_s, err)
                         : code;
}

/* All clusters of the team: data may come from any of them. */
static enum pv_code
find_cluster(struct store_tx *tx, struct arena *arena, struct asked *asked, struct pv_error *err)
{
    const struct cluster_filter all = {.price_book = NULL};
    PV_TRY(store_cluster_list(tx, arena, &all, "", CLUSTERS_READ, &asked->clusters, err));
    for (size_t i = 0; i < asked->clusters.n; i++) {
        if (!strview_is(asked->clusters.items[i].name, asked->name))
            continue;
        asked->place = i;
        return PV_OK;
    }
    return pv_fail(err, PV_E_NOT_FOUND, "there is no cluster of that name");
}

static void fill_place(const struct asked *asked,
                       const struct cluster *cluster,
                       struct performance_place *place)
{
    const struct cluster_traits *traits = &cluster->traits;
    double own_s = isnan(traits->slot_s) ? SLOT_S : traits->slot_s;
    memcpy(place->id, cluster->id, sizeof place->id);
    place->machine_type = traits->machine_type;
    place->slot_s = isnan(asked->slot_s) ? own_s : asked->slot_s;
    place->configured = traits->unreachable_probability;
    /* Told of slots whose length was not, it is of any. */
    if (!isnan(place->configured) && !isnan(traits->slot_s))
        place->configured = geo_time_slot_unreachable(place->configured, own_s, place->slot_s);
}

static enum pv_code make_places(struct arena *arena, struct asked *asked, struct pv_error *err)
{
    size_t n = asked->clusters.n;
    struct performance_place *places = arena_calloc(arena, n, sizeof *places);
    bool *sends = arena_calloc(arena, n, sizeof *sends);
    bool *runs = arena_calloc(arena, n, sizeof *runs);
    asked->names = arena_calloc(arena, n, sizeof *asked->names);
    if (places == NULL || sends == NULL || runs == NULL || asked->names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct cluster *cluster = &asked->clusters.items[i];
        fill_place(asked, cluster, &places[i]);
        asked->names[i] = cluster->name;
        sends[i] = asked->from == NULL || strview_is(cluster->name, asked->from);
        runs[i] = i == asked->place;
    }
    asked->ask.places = places;
    asked->ask.n_places = n;
    asked->ask.sends = sends;
    asked->ask.runs = runs;
    return PV_OK;
}

static enum pv_code choose_operations(struct api *api,
                                      struct store_tx *tx,
                                      struct arena *arena,
                                      struct asked *asked,
                                      struct pv_error *err)
{
    struct strview *operations = arena_calloc(arena, 1, sizeof *operations);
    if (operations == NULL)
        return pv_no_memory(err);
    asked->ask.operations = operations;
    asked->ask.n_operations = 1;
    *operations = strview_of(asked->operation);
    if (asked->operation != NULL)
        return PV_OK;
    enum pv_code code = store_performance_operations(tx, arena, asked->ask.places[asked->place].id,
                                                     (size_t)api->config->sampled_operations_max,
                                                     &operations, &asked->ask.n_operations, err);
    asked->ask.operations = operations;
    return code;
}

static enum pv_code cluster_performance_load(struct api *api,
                                             struct http_request *request,
                                             struct asked *asked,
                                             const struct performance_book **book,
                                             struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(find_cluster(tx, request->arena, asked, err));
    PV_TRY(make_places(request->arena, asked, err));
    PV_TRY(choose_operations(api, tx, request->arena, asked, err));
    return store_performance_book(tx, request->arena, &asked->ask, book, err);
}

enum pv_code cluster_performance_get(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err)
{
    struct api *api = context;
    struct asked asked = {.ask = performance_settings_ask(api->config)};
    const struct performance_book *book = NULL;
    struct writer w;
    PV_TRY(read_query(request, &asked, err));
    PV_TRY(cluster_performance_load(api, request, &asked, &book, err));
    const struct codec_cluster_performance shown = {&asked.ask, book, asked.names, asked.place};
    writer_init(&w, request->arena);
    codec_cluster_performance_encode(&w, &shown);
    return api_reply(response, 200, &w, err);
}
