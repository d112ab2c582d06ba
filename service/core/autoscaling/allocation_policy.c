#include "core/autoscaling/allocation_policy.h"

#include <math.h>

#include "core/spark/property_value.h"

#define DYNAMIC "spark.dynamicAllocation."

struct allocation_policy allocation_fixed(int64_t executors)
{
    return (struct allocation_policy){.min_executors = executors,
                                      .initial_executors = executors,
                                      .max_executors = executors,
                                      .allocation_ratio = 1.0,
                                      .idle_timeout_s = (double)INFINITY,
                                      .backlog_timeout_s = (double)INFINITY,
                                      .sustained_backlog_timeout_s = (double)INFINITY,
                                      .shuffle_timeout_s = (double)INFINITY};
}

struct source {
    const struct property_list *lists;
    size_t n;
};

static struct strview lookup(const struct source *source, const char *key)
{
    struct strview value = {NULL, 0};
    for (size_t i = 0; i < source->n && value.at == NULL; i++)
        value = property_find(source->lists[i].items, source->lists[i].n, key);
    return value;
}

static int64_t count_or(const struct source *source, const char *key, int64_t otherwise)
{
    int64_t count = property_count(lookup(source, key));
    return count == RUN_UNKNOWN ? otherwise : count;
}

static double seconds_or(const struct source *source, const char *key, double otherwise)
{
    double seconds = property_seconds(lookup(source, key));
    return isnan(seconds) ? otherwise : seconds;
}

static int64_t within(int64_t value, int64_t low, int64_t high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

bool allocation_is_enabled(const struct property_list *list)
{
    return property_boolean(property_find(list->items, list->n, DYNAMIC "enabled"), false);
}

/* Executors hold shuffle output themselves unless the service of the node does. */
static bool tracks_shuffles(const struct source *source, struct strview version)
{
    return property_version_is(version, 3, 0, true) &&
           !property_boolean(lookup(source, "spark.shuffle.service.enabled"), false);
}

struct allocation_policy allocation_of_properties(const struct property_list lists[],
                                                  size_t n_lists,
                                                  struct strview version,
                                                  int64_t most)
{
    const struct source source = {lists, n_lists};
    double ratio = property_number(lookup(&source, DYNAMIC "executorAllocationRatio"));
    double backlog_s = seconds_or(&source, DYNAMIC "schedulerBacklogTimeout", 1.0);
    int64_t max = within(count_or(&source, DYNAMIC "maxExecutors", most), 1, most);
    int64_t min = within(count_or(&source, DYNAMIC "minExecutors", 0), 0, max);
    int64_t initial = count_or(&source, DYNAMIC "initialExecutors", min);
    int64_t instances = count_or(&source, "spark.executor.instances", 0);
    return (struct allocation_policy){
        .min_executors = min,
        .initial_executors = within(initial > instances ? initial : instances, min, max),
        .max_executors = max,
        .allocation_ratio = ratio > 0.0 && ratio <= 1.0 ? ratio : 1.0,
        .idle_timeout_s = seconds_or(&source, DYNAMIC "executorIdleTimeout", 60.0),
        .backlog_timeout_s = backlog_s,
        .sustained_backlog_timeout_s =
            seconds_or(&source, DYNAMIC "sustainedSchedulerBacklogTimeout", backlog_s),
        .shuffle_tracking = tracks_shuffles(&source, version),
        .shuffle_timeout_s =
            seconds_or(&source, DYNAMIC "shuffleTracking.timeout", (double)INFINITY)};
}

bool allocation_is_equal(const struct allocation_policy *a, const struct allocation_policy *b)
{
    bool fixed = a->min_executors == a->max_executors;
    bool same_counts = a->min_executors == b->min_executors &&
                       a->initial_executors == b->initial_executors &&
                       a->max_executors == b->max_executors;
    return same_counts &&
           (fixed ||
            (a->allocation_ratio == b->allocation_ratio && a->idle_timeout_s == b->idle_timeout_s &&
             a->backlog_timeout_s == b->backlog_timeout_s &&
             a->sustained_backlog_timeout_s == b->sustained_backlog_timeout_s &&
             a->shuffle_tracking == b->shuffle_tracking &&
             a->shuffle_timeout_s == b->shuffle_timeout_s));
}
