#include "core/advice/advice_cluster.h"

#include <math.h>
#include <stdio.h>

#include "base/order.h"
#include "base/plural.h"
#include "core/cluster/reservations.h"

static const char CLUSTER_AT[] = "/constraints/cluster";

/* As many executors as it has; fewer of them where they are asked to be larger than its own. */
static enum pv_code bound_executors(const struct cluster_traits *traits,
                                    int64_t cores,
                                    struct advice_question *question,
                                    struct pv_error *err)
{
    struct advise_goal *goal = &question->goal;
    int64_t most = traits->executors;
    if (most == RUN_UNKNOWN)
        return PV_OK;
    if (cores != RUN_UNKNOWN && question->cores_per_executor != RUN_UNKNOWN)
        most = smaller_int64(most, cores / question->cores_per_executor);
    if (most < 1)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/cores_per_executor", "out_of_range",
                        "is more than the %lld core%s of the cluster", (long long)cores,
                        PLURAL(cores));
    if (goal->min_executors > most)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/min_executors", "out_of_range",
                        "is larger than the %lld executor%s of the cluster", (long long)most,
                        PLURAL(most));
    if (most < goal->max_executors) {
        goal->max_executors = most;
        goal->limited_by = "the size of the cluster";
    }
    return PV_OK;
}

/* That jobs are launched in. Those advised hold as much as they can at the most. */
static enum pv_code
take_memory(const struct cluster *named, struct advice_question *question, struct pv_error *err)
{
    const struct cluster_traits *traits = &named->traits;
    enum pv_code code = PV_OK;
    if (!advice_counts_memory(question))
        return PV_OK;
    PV_TRY(cluster_need(named, traits->executors, "executors", CLUSTER_AT, err));
    PV_TRY(cluster_need(named, traits->memory_bytes_per_executor, "memory_bytes_per_executor",
                        CLUSTER_AT, err));
    int64_t bytes = reservation_capacity(traits).memory_bytes;
    if (question->running_from == RUNNING_ADVISED && question->free_memory_bytes != RUN_UNKNOWN)
        bytes = question->free_memory_bytes;
    question->launches = (struct edf_memory){bytes, (enum edf_launch_order)question->launch_order};
    for (size_t i = 0; i < question->n_running; i++) {
        struct advice_running *running = &question->running[i];
        char at[64];
        (void)snprintf(at, sizeof at, "/running/%zu/memory_bytes", i);
        if (running->advice_id != NULL)
            running->memory_bytes = smaller_int64(running->memory_bytes, bytes);
        else if (running->memory_bytes > bytes)
            code = pv_fault(err, PV_PLACE_POINTER, at, "out_of_range",
                            "is more than the cluster has: %lld", (long long)bytes);
    }
    return code;
}

static enum pv_code take_size(const struct cluster *named,
                              int64_t cores_max,
                              struct advice_question *question,
                              struct pv_error *err)
{
    const struct cluster_traits *traits = &named->traits;
    int64_t cores = RUN_UNKNOWN;
    if (traits->executors != RUN_UNKNOWN && traits->cores_per_executor != RUN_UNKNOWN)
        PV_TRY(cluster_count_cores(traits->executors, traits->cores_per_executor, cores_max,
                                   CLUSTER_AT, &cores, err));
    PV_TRY(bound_executors(traits, cores, question, err));
    if (question->cores_per_executor == RUN_UNKNOWN)
        question->cores_per_executor = traits->cores_per_executor;
    PV_TRY(take_memory(named, question, err));
    if (question->n_running == 0)
        return PV_OK;
    /* With running jobs max_executors in the request replaces what the cluster does not specify. */
    question->cluster_cores = cores;
    if (question->running_from == RUNNING_ADVISED && question->free_cores != RUN_UNKNOWN)
        question->cluster_cores = question->free_cores;
    return cores != RUN_UNKNOWN || question->has_max_executors
               ? PV_OK
               : cluster_need(named, traits->executors, "executors", CLUSTER_AT, err);
}

static void override_term(double sent, double *term)
{
    if (!isnan(sent))
        *term = sent;
}

static void take_book_price(const struct cluster *named,
                            const struct price_found *found,
                            struct pricing_terms *pricing)
{
    const struct price sent = pricing->price;
    bool of_cluster = found->row.cluster.at != NULL;
    pricing->has_price = true;
    pricing->price = found->row.price;
    override_term(sent.startup_billed_s, &pricing->price.startup_billed_s);
    override_term(sent.minimum_billed_s, &pricing->price.minimum_billed_s);
    override_term(sent.billing_increment_s, &pricing->price.billing_increment_s);
    pricing->source = of_cluster ? PRICING_OF_CLUSTER : PRICING_OF_MACHINE_TYPE;
    pricing->currency = found->currency.at;
    pricing->book = named->price_book.at;
    pricing->subject = of_cluster ? found->row.cluster.at : found->row.machine_type.at;
}

enum pv_code advice_cluster_apply(const struct cluster *named,
                                  const struct price_found *price,
                                  const struct advice_limits *limits,
                                  struct advice_question *question,
                                  struct advice_cluster *cluster,
                                  struct pv_error *err)
{
    *cluster = (struct advice_cluster){.is_named = named != NULL,
                                       .pricing = {.market = question->market,
                                                   .has_price = question->has_price,
                                                   .price = question->price,
                                                   .source = PRICING_OF_REQUEST,
                                                   .executor_startup_s = (double)NAN,
                                                   .container_bytes = RUN_UNKNOWN}};
    if (named != NULL) {
        cluster->cluster = *named;
        if (price != NULL && !question->has_price)
            take_book_price(named, price, &cluster->pricing);
        PV_TRY(take_size(named, limits->cores, question, err));
    }
    return pricing_check(&cluster->pricing, &question->goal, err);
}

/* --- what is reported of it --- */

static const char *or_unknown(int64_t n, char text[24])
{
    if (n == RUN_UNKNOWN)
        return "an unknown number of";
    (void)snprintf(text, 24, "%lld", (long long)n);
    return text;
}

enum pv_code advice_cluster_explain(const struct advice_cluster *cluster,
                                    const struct advice_question *question,
                                    struct advice *advice,
                                    struct pv_error *err)
{
    const struct cluster *named = &cluster->cluster;
    const struct cluster_traits *traits = &named->traits;
    const bool registered = named->name.at != NULL;
    char words[128], executors[24], cores[24];
    if (!cluster->is_named)
        return PV_OK;
    cluster_words(named, words);
    struct finding *note =
        finding_add(&advice->reasons, "cluster",
                    "T%s has %s executor%s of %s core%s; advice considers at most %lld.", words + 1,
                    or_unknown(traits->executors, executors), PLURAL(traits->executors),
                    or_unknown(traits->cores_per_executor, cores),
                    PLURAL(traits->cores_per_executor), (long long)question->goal.max_executors);
    if (registered)
        finding_text(note, "cluster", named->name.at);
    if (traits->executors != RUN_UNKNOWN)
        finding_number(note, "executors", (double)traits->executors);
    if (traits->cores_per_executor != RUN_UNKNOWN)
        finding_number(note, "cores_per_executor", (double)traits->cores_per_executor);
    finding_number(note, "max_executors", (double)question->goal.max_executors);
    if (registered)
        finding_number(note, "version", (double)named->version);
    if (named->price_book.at != NULL && !cluster->pricing.has_price) {
        note =
            finding_add(&advice->warnings, "no_price",
                        "The cluster's price book has a price neither for it nor for its machine "
                        "type: costs are unknown.");
        finding_text(note, "price_book", named->price_book.at);
        finding_text(note, "machine_type", traits->machine_type.at);
    }
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
