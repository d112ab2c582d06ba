#include "core/geo/rates.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum { CLASSES_CAPACITY = 256, MEANS_CAPACITY = 4096 }; /* at first */
enum { RECENT = 4096 };                                 /* distributions remembered: 2 MB */

#define NO_CLASS UINT32_MAX

struct task_class {
    size_t operation;
    const size_t *inputs;
    size_t n_inputs;
    double best; /* NAN: not asked for yet */
};

struct ranked_cluster {
    double mean;
    size_t cluster;
};

struct kept {
    uint64_t key; /* class and cluster, plus 1; 0: free */
    double mean;
};

struct moments {
    double mean; /* HUGE_VAL: nothing is remote; < 0: a link is missing */
    double variance;
};

struct geo_rates {
    struct arena *arena;
    size_t n_clusters;
    const struct speeds **link;         /* from x clusters + to; NULL: there is none */
    double *transfer;                   /* likewise: mean speed; 0 at home, -HUGE_VAL without */
    double *variance;                   /* likewise: of the speed */
    const struct speeds *const **speed; /* [cluster][operation]; NULL: it cannot do it */
    double **processing;                /* [operation][cluster]: mean speed; 0: it cannot do it */
    struct moments *transfers;          /* into each cluster, of the class `limited` */
    double *limits;                     /* of the class `limited` */
    size_t limited;
    size_t **order; /* of each operation */
    size_t *n_order;
    struct task_class *classes;
    size_t n_classes;
    size_t classes_capacity; /* a power of two */
    uint32_t *table;         /* of classes by task, open addressing, 2 x classes_capacity */
    struct kept *kept;       /* open addressing */
    size_t n_kept;
    size_t capacity; /* a power of two */
    /* Whole distributions, each in the place that its key falls on: the next one there takes it
     * over. NULL: none was asked for. */
    struct speeds *recent;
    uint64_t *recent_key; /* as in `kept` */
    const struct geo_interrupt *interrupt;
    size_t work; /* since the interrupt was asked last, in about nanoseconds */
    bool interrupted;
};

/* --- interruption --- */

/* In the units of geo_rates.work: a millisecond between two questions. The others are estimates of
 * what a look-up and the distribution of an input take; only their order of magnitude matters. */
enum { ASK_EVERY = 1000000, WORK_A_LOOK = 20, WORK_AN_INPUT = 800 };

static void rates_work(struct geo_rates *rates, size_t more)
{
    rates->work += more;
    if (rates->work < ASK_EVERY)
        return;
    rates->work = 0;
    if (rates->interrupt != NULL && !rates->interrupted)
        rates->interrupted = !rates->interrupt->keep_going(rates->interrupt->context);
}

void geo_rates_begin(struct geo_rates *rates, const struct geo_interrupt *interrupt)
{
    rates->interrupt = interrupt;
    rates->interrupted = false;
}

bool geo_rates_was_interrupted(const struct geo_rates *rates)
{
    return rates->interrupted;
}

/* --- classes of tasks --- */

static uint64_t rates_mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdU; /* finalizer of MurmurHash3 */
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53U;
    return h ^ h >> 33;
}

static uint64_t hash_inputs(size_t operation, const size_t inputs[], size_t n)
{
    uint64_t h = rates_mix(operation + 1);
    for (size_t i = 0; i < n; i++)
        h = rates_mix(h + inputs[i] + 1);
    return h;
}

static bool is_of_class(const struct geo_task *task, const struct task_class *class)
{
    return task->operation == class->operation && task->n_inputs == class->n_inputs &&
           (task->n_inputs == 0 ||
            memcmp(task->inputs, class->inputs, task->n_inputs * sizeof *task->inputs) == 0);
}

static bool reserve_classes(struct geo_rates *rates)
{
    if (rates->n_classes < rates->classes_capacity)
        return true;
    size_t capacity = rates->classes_capacity > 0 ? 2 * rates->classes_capacity : CLASSES_CAPACITY;
    struct task_class *classes = arena_array(rates->arena, capacity, sizeof *classes);
    uint32_t *table = arena_array(rates->arena, 2 * capacity, sizeof *table);
    if (!classes || !table || capacity >= NO_CLASS / 2)
        return false;
    memset(table, 0xff, 2 * capacity * sizeof *table);
    for (size_t i = 0; i < rates->n_classes; i++) {
        const struct task_class *old = &rates->classes[i];
        size_t at =
            (size_t)hash_inputs(old->operation, old->inputs, old->n_inputs) & (2 * capacity - 1);
        while (table[at] != NO_CLASS)
            at = (at + 1) & (2 * capacity - 1);
        table[at] = (uint32_t)i;
        classes[i] = *old;
    }
    rates->classes = classes;
    rates->table = table;
    rates->classes_capacity = capacity;
    return true;
}

/* The task may not outlive the call, so its inputs are copied. */
static bool add_class(struct geo_rates *rates, const struct geo_task *task)
{
    size_t *inputs = arena_array(rates->arena, task->n_inputs, sizeof *inputs);
    if (!inputs)
        return false;
    if (task->n_inputs > 0)
        memcpy(inputs, task->inputs, task->n_inputs * sizeof *inputs);
    rates->classes[rates->n_classes++] =
        (struct task_class){task->operation, inputs, task->n_inputs, (double)NAN};
    return true;
}

size_t geo_rates_task_class(struct geo_rates *rates, const struct geo_task *task)
{
    if (!reserve_classes(rates))
        return SIZE_MAX;
    size_t mask = 2 * rates->classes_capacity - 1;
    size_t at = (size_t)hash_inputs(task->operation, task->inputs, task->n_inputs) & mask;
    while (rates->table[at] != NO_CLASS && !is_of_class(task, &rates->classes[rates->table[at]]))
        at = (at + 1) & mask;
    if (rates->table[at] == NO_CLASS) {
        if (!add_class(rates, task))
            return SIZE_MAX;
        rates->table[at] = (uint32_t)(rates->n_classes - 1);
    }
    return rates->table[at];
}

/* --- clusters --- */

static int falling(const void *a, const void *b)
{
    const struct ranked_cluster *x = a;
    const struct ranked_cluster *y = b;
    int order = compare_double(y->mean, x->mean);
    return order != 0 ? order : compare_size(x->cluster, y->cluster);
}

static bool rank_clusters(struct geo_rates *rates, const struct geo_problem *problem)
{
    size_t n = problem->n_clusters;
    struct ranked_cluster *ranked = arena_array(rates->arena, n, sizeof *ranked);
    rates->speed = arena_array(rates->arena, n, sizeof *rates->speed);
    rates->order = arena_array(rates->arena, problem->n_operations, sizeof *rates->order);
    rates->processing = arena_array(rates->arena, problem->n_operations, sizeof *rates->processing);
    rates->n_order = arena_calloc(rates->arena, problem->n_operations, sizeof *rates->n_order);
    if (!ranked || !rates->speed || !rates->order || !rates->processing || !rates->n_order)
        return false;
    for (size_t m = 0; m < n; m++)
        rates->speed[m] = problem->clusters[m].processing;
    for (size_t op = 0; op < problem->n_operations; op++) {
        size_t known = 0;
        rates->processing[op] = arena_calloc(rates->arena, n, sizeof **rates->processing);
        if (!rates->processing[op])
            return false;
        for (size_t m = 0; m < n; m++) {
            if (!rates->speed[m][op])
                continue;
            rates->processing[op][m] = rates->speed[m][op]->mean;
            ranked[known++] = (struct ranked_cluster){rates->processing[op][m], m};
        }
        qsort(ranked, known, sizeof *ranked, falling);
        rates->order[op] = arena_array(rates->arena, known, sizeof **rates->order);
        if (!rates->order[op])
            return false;
        for (size_t k = 0; k < known; k++)
            rates->order[op][k] = ranked[k].cluster;
        rates->n_order[op] = known;
    }
    return true;
}

static bool index_links(struct geo_rates *rates, const struct geo_problem *problem)
{
    size_t n = problem->n_clusters;
    if (n > 0 && n > SIZE_MAX / sizeof *rates->transfer / n)
        return false;
    rates->link = arena_calloc(rates->arena, n * n, sizeof *rates->link);
    rates->transfer = arena_array(rates->arena, n * n, sizeof *rates->transfer);
    rates->variance = arena_calloc(rates->arena, n * n, sizeof *rates->variance);
    rates->limits = arena_array(rates->arena, n, sizeof *rates->limits);
    rates->transfers = arena_array(rates->arena, n, sizeof *rates->transfers);
    if (!rates->link || !rates->transfer || !rates->variance || !rates->limits || !rates->transfers)
        return false;
    rates->limited = SIZE_MAX;
    for (size_t i = 0; i < n * n; i++)
        rates->transfer[i] = i % (n + 1) == 0 ? 0 : -HUGE_VAL;
    for (size_t i = 0; i < problem->n_links; i++) {
        size_t at = problem->links[i].from * n + problem->links[i].to;
        rates->link[at] = problem->links[i].speeds;
        rates->transfer[at] = problem->links[i].speeds->mean;
        rates->variance[at] = problem->links[i].speeds->variance;
    }
    return true;
}

struct geo_rates *geo_rates_make(const struct geo_problem *problem, struct arena *arena)
{
    struct geo_rates *rates = arena_calloc(arena, 1, sizeof *rates);
    if (!rates)
        return NULL;
    rates->arena = arena;
    rates->n_clusters = problem->n_clusters;
    if (!index_links(rates, problem) || !rank_clusters(rates, problem))
        return NULL;
    return rates;
}

const size_t *geo_rates_order(const struct geo_rates *rates, size_t task_class, size_t *n)
{
    size_t op = rates->classes[task_class].operation;
    *n = rates->n_order[op];
    return rates->order[op];
}

double geo_rates_processing(const struct geo_rates *rates, size_t task_class, size_t cluster)
{
    return rates->processing[rates->classes[task_class].operation][cluster];
}

/* --- rates --- */

static const struct speeds *find_link(const struct geo_rates *rates, size_t from, size_t to)
{
    return rates->link[from * rates->n_clusters + to];
}

double geo_rates_link(const struct geo_rates *rates, size_t from, size_t to)
{
    double mean = rates->transfer[from * rates->n_clusters + to];
    return from == to ? HUGE_VAL : fmax(mean, 0);
}

/* The mean over the inputs that are remote; one at home counts as nothing in the sums. */
static void find_transfers(struct geo_rates *rates, const struct task_class *task)
{
    size_t n = rates->n_clusters;
    double all = (double)task->n_inputs;
    struct moments *sums = rates->transfers;
    for (size_t m = 0; m < n; m++)
        sums[m] = (struct moments){0, 0};
    for (size_t i = 0; i < task->n_inputs; i++) {
        const double *mean = rates->transfer + task->inputs[i] * n;
        const double *variance = rates->variance + task->inputs[i] * n;
        for (size_t m = 0; m < n; m++) {
            sums[m].mean += mean[m];
            sums[m].variance += variance[m];
        }
    }
    for (size_t m = 0; m < n; m++)
        sums[m] = (struct moments){sums[m].mean / all, sums[m].variance / (all * all)};
    for (size_t i = 0; i < task->n_inputs; i++) {
        struct moments *home = &sums[task->inputs[i]];
        double more = all / (all - 1);
        *home = all > 1 ? (struct moments){home->mean * more, home->variance * more * more}
                        : (struct moments){HUGE_VAL, 0};
    }
}

const double *geo_rates_upper_bounds(struct geo_rates *rates, size_t task_class)
{
    const struct task_class *task = &rates->classes[task_class];
    const double *processing = rates->processing[task->operation];
    rates_work(rates, rates->n_clusters); /* whoever asks goes over all of them */
    if (rates->limited == task_class)
        return rates->limits;
    rates_work(rates, task->n_inputs * rates->n_clusters);
    find_transfers(rates, task);
    for (size_t m = 0; m < rates->n_clusters; m++) {
        if (task->n_inputs == 0)
            rates->transfers[m] = (struct moments){HUGE_VAL, 0};
        double transfer = rates->transfers[m].mean;
        double least = processing[m] < transfer ? processing[m] : transfer;
        rates->limits[m] = least > 0 ? least : 0;
    }
    rates->limited = task_class;
    return rates->limits;
}

double
geo_rates_upper_bound_with(const struct geo_rates *rates, size_t cluster, const struct speeds *now)
{
    const struct task_class *task = &rates->classes[rates->limited];
    const struct speeds *processing = rates->speed[cluster][task->operation];
    const struct moments *transfer = &rates->transfers[cluster];
    double sum = now->mean + rates->limits[cluster];
    double hope =
        speeds_max_upper_bound(now->mean, now->variance, processing->mean, processing->variance);
    hope = hope < sum ? hope : sum;
    if (transfer->mean == HUGE_VAL)
        return hope;
    double other =
        speeds_max_upper_bound(now->mean, now->variance, transfer->mean, transfer->variance);
    return other < hope ? other : hope;
}

/* Of the mean of the transfers into a possible cluster; false: nothing is remote. */
static bool find_transfer(const struct geo_rates *rates,
                          const struct task_class *task,
                          size_t cluster,
                          struct speeds *transfer)
{
    struct speeds before;
    size_t remote = 0;
    for (size_t i = 0; i < task->n_inputs; i++) {
        if (task->inputs[i] == cluster)
            continue;
        const struct speeds *link = find_link(rates, task->inputs[i], cluster);
        if (remote++ == 0) {
            *transfer = *link;
        } else {
            before = *transfer;
            speeds_add(&before, link, transfer);
        }
    }
    if (remote > 1)
        speeds_scale(transfer, 1 / (double)remote);
    return remote > 0;
}

static void compute_spread(const struct geo_rates *rates,
                           size_t task_class,
                           size_t cluster,
                           struct speeds *spread)
{
    const struct task_class *task = &rates->classes[task_class];
    const struct speeds *processing = rates->speed[cluster][task->operation];
    struct speeds transfer;
    if (find_transfer(rates, task, cluster, &transfer))
        speeds_min(processing, &transfer, spread);
    else
        *spread = *processing;
}

static uint64_t key_of(const struct geo_rates *rates, size_t task_class, size_t cluster)
{
    return (uint64_t)task_class * rates->n_clusters + cluster + 1;
}

static bool can_remember(struct geo_rates *rates)
{
    if (rates->recent_key == NULL) {
        rates->recent = arena_array(rates->arena, RECENT, sizeof *rates->recent);
        if (rates->recent != NULL)
            rates->recent_key = arena_calloc(rates->arena, RECENT, sizeof *rates->recent_key);
    }
    return rates->recent_key != NULL;
}

/* Without memory to remember anything in it is computed each time. */
void geo_rates_spread(struct geo_rates *rates,
                      size_t task_class,
                      size_t cluster,
                      struct speeds *spread)
{
    uint64_t key = key_of(rates, task_class, cluster);
    size_t at = (size_t)rates_mix(key) % RECENT;
    if (!can_remember(rates)) {
        compute_spread(rates, task_class, cluster, spread);
        return;
    }
    if (rates->recent_key[at] != key) {
        rates_work(rates, rates->classes[task_class].n_inputs * WORK_AN_INPUT);
        compute_spread(rates, task_class, cluster, &rates->recent[at]);
    }
    rates->recent_key[at] = key;
    *spread = rates->recent[at];
}

static double compute_mean(const struct geo_rates *rates, size_t task_class, size_t cluster)
{
    const struct task_class *task = &rates->classes[task_class];
    const struct speeds *processing = rates->speed[cluster][task->operation];
    struct speeds transfer;
    if (!find_transfer(rates, task, cluster, &transfer))
        return processing->mean;
    return speeds_min_mean(processing, &transfer);
}

static struct kept *find_kept(const struct geo_rates *rates, uint64_t key)
{
    size_t at = (size_t)rates_mix(key) & (rates->capacity - 1);
    while (rates->kept[at].key != 0 && rates->kept[at].key != key)
        at = (at + 1) & (rates->capacity - 1);
    return &rates->kept[at];
}

static bool rates_make_room(struct geo_rates *rates)
{
    struct kept *old = rates->kept;
    size_t n = rates->capacity;
    if (2 * (rates->n_kept + 1) <= rates->capacity)
        return true;
    size_t capacity = n > 0 ? 4 * n : MEANS_CAPACITY;
    rates->kept = arena_calloc(rates->arena, capacity, sizeof *rates->kept);
    if (!rates->kept) {
        rates->kept = old;
        return false;
    }
    rates->capacity = capacity;
    for (size_t i = 0; i < n; i++)
        if (old[i].key != 0)
            *find_kept(rates, old[i].key) = old[i];
    return true;
}

double geo_rates_mean(struct geo_rates *rates, size_t task_class, size_t cluster)
{
    uint64_t key = key_of(rates, task_class, cluster);
    rates_work(rates, WORK_A_LOOK + rates->classes[task_class].n_inputs);
    if (rates->interrupted || !rates_make_room(rates))
        return -1;
    struct kept *kept = find_kept(rates, key);
    if (kept->key == 0) {
        rates_work(rates, rates->classes[task_class].n_inputs * WORK_AN_INPUT);
        *kept = (struct kept){key, compute_mean(rates, task_class, cluster)};
        rates->n_kept++;
    }
    return kept->mean;
}

double geo_rates_best(struct geo_rates *rates, size_t task_class)
{
    size_t n;
    const size_t *order = geo_rates_order(rates, task_class, &n);
    double best = 0;
    if (rates->interrupted)
        return -1;
    if (!isnan(rates->classes[task_class].best))
        return rates->classes[task_class].best;
    const double *limits = geo_rates_upper_bounds(rates, task_class);
    for (size_t k = 0; k < n && geo_rates_processing(rates, task_class, order[k]) > best; k++) {
        if (limits[order[k]] <= best)
            continue;
        double mean = geo_rates_mean(rates, task_class, order[k]);
        if (mean < 0)
            return mean;
        best = fmax(best, mean);
    }
    rates->classes[task_class].best = best;
    return best;
}
