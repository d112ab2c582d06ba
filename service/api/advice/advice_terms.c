#include "api/advice/advice_terms.h"

#include <stdio.h>

#include "api/clusters/named_cluster.h"
#include "api/shared/put_resource.h"
#include "store/clusters/price_book.h"

static const char CLUSTER_AT[] = "/constraints/cluster";

/* --- the size --- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* K of the cluster, where it specifies both. */
static enum pv_code count_cores(const struct api *api,
                                const struct cluster_traits *traits,
                                int64_t *cores,
                                struct pv_error *err)
{
    *cores = RUN_UNKNOWN;
    if (traits->executors == RUN_UNKNOWN || traits->cores_per_executor == RUN_UNKNOWN)
        return PV_OK;
    return named_cluster_cores(api, traits->executors, traits->cores_per_executor, CLUSTER_AT,
                               cores, err);
}

/* As many executors as it has; fewer of them where they are asked to be larger than its own. */
static enum pv_code bound_executors(const struct cluster *cluster,
                                    int64_t cores,
                                    struct codec_advice_request *asked,
                                    struct pv_error *err)
{
    struct advise_question *question = &asked->question;
    int64_t most = cluster->traits.executors;
    if (most == RUN_UNKNOWN)
        return PV_OK;
    if (cores != RUN_UNKNOWN && asked->cores_per_executor != RUN_UNKNOWN)
        most = least(most, cores / asked->cores_per_executor);
    if (most < 1)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/cores_per_executor", "out_of_range",
                        "is more than the %lld cores of the cluster", (long long)cores);
    if (question->min_executors > most)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/min_executors", "out_of_range",
                        "is larger than the %lld executors of the cluster", (long long)most);
    question->max_executors = least(question->max_executors, most);
    return PV_OK;
}

static enum pv_code take_size(const struct api *api,
                              const struct cluster *cluster,
                              struct codec_advice_request *asked,
                              struct pv_error *err)
{
    const struct cluster_traits *traits = &cluster->traits;
    int64_t cores;
    PV_TRY(count_cores(api, traits, &cores, err));
    PV_TRY(bound_executors(cluster, cores, asked, err));
    if (asked->cores_per_executor == RUN_UNKNOWN)
        asked->cores_per_executor = traits->cores_per_executor;
    if (asked->n_running == 0)
        return PV_OK;
    /* With running jobs max_executors in the request replaces what the cluster does not say. */
    asked->cluster_cores = cores;
    if (cores == RUN_UNKNOWN && !asked->has_max_executors)
        PV_TRY(named_cluster_need(cluster, traits->executors, "executors", CLUSTER_AT, err));
    return PV_OK;
}

/* --- the price --- */

static void take_own_price(const struct codec_advice_request *asked, struct pricing_terms *pricing)
{
    pricing->market = asked->pricing;
    pricing->has_price = asked->has_price;
    pricing->price = asked->price;
    pricing->source = PRICING_OF_REQUEST;
}

static enum pv_code take_book_price(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct cluster *cluster,
                                    struct pricing_terms *pricing,
                                    struct pv_error *err)
{
    struct price_found found;
    bool is_there = false;
    PV_TRY(store_price_find(tx, arena, cluster->price_book_id, cluster->name,
                            cluster->traits.machine_type, &found, &is_there, err));
    if (!is_there)
        return PV_OK;
    bool named = found.row.cluster.at != NULL;
    pricing->has_price = true;
    pricing->price = found.row.price;
    pricing->source = named ? PRICING_OF_CLUSTER : PRICING_OF_MACHINE_TYPE;
    pricing->currency = found.currency.at;
    pricing->book = cluster->price_book.at;
    pricing->subject = named ? found.row.cluster.at : found.row.machine_type.at;
    return PV_OK;
}

static enum pv_code read_cluster(struct api *api,
                                 struct http_request *request,
                                 const struct codec_advice_request *asked,
                                 struct advice_terms *terms,
                                 struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    enum pv_code code = api_read(api, request, &tx, err);
    if (code == PV_OK)
        code = named_cluster_look(tx, request->arena, asked->cluster, CLUSTER_AT, &terms->cluster,
                                  err);
    if (code == PV_OK && !asked->has_price && terms->cluster.price_book.at != NULL)
        code = take_book_price(tx, request->arena, &terms->cluster, &terms->pricing, err);
    store_rollback(&tx);
    terms->has_cluster = code == PV_OK;
    return code;
}

enum pv_code advice_terms_load(struct api *api,
                               struct http_request *request,
                               struct codec_advice_request *asked,
                               struct advice_terms *terms,
                               struct pv_error *err)
{
    *terms = (struct advice_terms){.has_cluster = false};
    take_own_price(asked, &terms->pricing);
    if (asked->cluster.at != NULL)
        PV_TRY(read_cluster(api, request, asked, terms, err));
    if (terms->has_cluster)
        PV_TRY(take_size(api, &terms->cluster, asked, err));
    PV_TRY(pricing_check(&terms->pricing, &asked->question, err));
    if (terms->pricing.has_price)
        asked->question.price_per_executor_hour = terms->pricing.price.per_executor_hour;
    return PV_OK;
}

/* --- what is reported of it --- */

static const char *or_unknown(int64_t n, char text[24])
{
    if (n == RUN_UNKNOWN)
        return "an unknown number of";
    (void)snprintf(text, 24, "%lld", (long long)n);
    return text;
}

enum pv_code advice_terms_explain(const struct advice_terms *terms,
                                  const struct codec_advice_request *asked,
                                  struct advice *advice,
                                  struct pv_error *err)
{
    const struct cluster *cluster = &terms->cluster;
    char name[64], executors[24], cores[24];
    if (!terms->has_cluster)
        return PV_OK;
    registry_shorten(cluster->name, name, sizeof name);
    struct finding *note =
        finding_add(&advice->reasons, "cluster",
                    "The cluster \"%s\" has %s executors of %s cores; at most %lld are considered.",
                    name, or_unknown(cluster->traits.executors, executors),
                    or_unknown(cluster->traits.cores_per_executor, cores),
                    (long long)asked->question.max_executors);
    finding_text(note, "cluster", cluster->name.at);
    if (cluster->traits.executors != RUN_UNKNOWN)
        finding_number(note, "executors", (double)cluster->traits.executors);
    if (cluster->traits.cores_per_executor != RUN_UNKNOWN)
        finding_number(note, "cores_per_executor", (double)cluster->traits.cores_per_executor);
    finding_number(note, "max_executors", (double)asked->question.max_executors);
    finding_number(note, "version", (double)cluster->version);
    if (cluster->price_book.at != NULL && !terms->pricing.has_price) {
        note =
            finding_add(&advice->warnings, "no_price",
                        "The cluster's price book has a price neither for it nor for its machine "
                        "type: costs are unknown.");
        finding_text(note, "price_book", cluster->price_book.at);
        finding_text(note, "machine_type", cluster->traits.machine_type.at);
    }
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
