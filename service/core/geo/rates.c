#include "core/geo/rates.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_LINK UINT32_MAX
#define NO_SORT UINT32_MAX

struct sort {
    const struct geo_task *task; /* one of them */
    double best;                 /* NAN: not asked for yet */
};

struct ranked {
    double mean;
    size_t cluster;
};

struct kept {
    uint64_t key; /* sort and cluster, plus 1; 0: free */
    double mean;
};

struct moments {
    double mean; /* HUGE_VAL: nothing is remote; < 0: a link is missing */
    double variance;
};

struct geo_rates {
    const struct geo_problem *problem;
    struct arena *arena;
    uint32_t *link;      /* from x clusters + to: index of the link */
    double *transfer;    /* likewise: mean speed; 0 at home, -HUGE_VAL where there is no link */
    double **processing; /* [operation][cluster]: mean speed; 0: it cannot do it */
    double *variance;    /* as transfer: of the speed */
    struct moments *transfers; /* into each cluster, of the sort `limited` */
    double *limits;            /* of the sort `limited` */
    size_t limited;
    size_t **order; /* of each operation */
    size_t *n_order;
    struct sort *sorts;
    size_t n_sorts;
    uint32_t **sort_of; /* [job][task] */
    struct kept *kept;  /* open addressing */
    size_t n_kept;
    size_t room; /* a power of two */
};

/* --- sorts of tasks --- */

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdU; /* finalizer of MurmurHash3 */
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53U;
    return h ^ h >> 33;
}

static uint64_t hash_task(const struct geo_task *task)
{
    uint64_t h = mix(task->operation + 1);
    for (size_t i = 0; i < task->n_inputs; i++)
        h = mix(h + task->inputs[i] + 1);
    return h;
}

static bool is_like(const struct geo_task *a, const struct geo_task *b)
{
    return a->operation == b->operation && a->n_inputs == b->n_inputs &&
           (a->n_inputs == 0 || memcmp(a->inputs, b->inputs, a->n_inputs * sizeof *a->inputs) == 0);
}

static uint32_t
find_sort(struct geo_rates *rates, const struct geo_task *task, uint32_t table[], size_t mask)
{
    size_t at = (size_t)hash_task(task) & mask;
    while (table[at] != NO_SORT && !is_like(rates->sorts[table[at]].task, task))
        at = (at + 1) & mask;
    if (table[at] == NO_SORT) {
        rates->sorts[rates->n_sorts] = (struct sort){task, (double)NAN};
        table[at] = (uint32_t)rates->n_sorts++;
    }
    return table[at];
}

static bool sort_tasks(struct geo_rates *rates)
{
    const struct geo_problem *problem = rates->problem;
    size_t tasks = 0;
    size_t room = 16;
    for (size_t j = 0; j < problem->n_jobs; j++)
        tasks += problem->jobs[j].n_tasks;
    while (room < 2 * tasks)
        room *= 2;
    uint32_t *table = arena_array(rates->arena, room, sizeof *table);
    uint32_t *of = arena_array(rates->arena, tasks, sizeof *of);
    rates->sorts = arena_array(rates->arena, tasks, sizeof *rates->sorts);
    rates->sort_of = arena_array(rates->arena, problem->n_jobs, sizeof *rates->sort_of);
    if (!table || !of || !rates->sorts || !rates->sort_of || tasks >= NO_SORT)
        return false;
    memset(table, 0xff, room * sizeof *table);
    for (size_t j = 0; j < problem->n_jobs; j++) {
        rates->sort_of[j] = of;
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            *of++ = find_sort(rates, &problem->jobs[j].tasks[t], table, room - 1);
    }
    return true;
}

size_t geo_rates_sort(const struct geo_rates *rates, size_t job, size_t task)
{
    return rates->sort_of[job][task];
}

/* --- clusters --- */

static int falling(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->mean != y->mean)
        return x->mean > y->mean ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static bool rank_clusters(struct geo_rates *rates)
{
    const struct geo_problem *problem = rates->problem;
    size_t n = problem->n_clusters;
    struct ranked *ranked = arena_array(rates->arena, n, sizeof *ranked);
    rates->order = arena_array(rates->arena, problem->n_operations, sizeof *rates->order);
    rates->processing = arena_array(rates->arena, problem->n_operations, sizeof *rates->processing);
    rates->n_order = arena_calloc(rates->arena, problem->n_operations, sizeof *rates->n_order);
    if (!ranked || !rates->order || !rates->processing || !rates->n_order)
        return false;
    for (size_t op = 0; op < problem->n_operations; op++) {
        size_t known = 0;
        rates->processing[op] = arena_calloc(rates->arena, n, sizeof **rates->processing);
        if (!rates->processing[op])
            return false;
        for (size_t m = 0; m < n; m++) {
            if (!problem->clusters[m].processing[op])
                continue;
            rates->processing[op][m] = problem->clusters[m].processing[op]->mean;
            ranked[known++] = (struct ranked){rates->processing[op][m], m};
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

static bool index_links(struct geo_rates *rates)
{
    const struct geo_problem *problem = rates->problem;
    size_t n = problem->n_clusters;
    if (problem->n_links >= NO_LINK || (n > 0 && n > SIZE_MAX / sizeof *rates->transfer / n))
        return false;
    rates->link = arena_array(rates->arena, n * n, sizeof *rates->link);
    rates->transfer = arena_array(rates->arena, n * n, sizeof *rates->transfer);
    rates->variance = arena_calloc(rates->arena, n * n, sizeof *rates->variance);
    rates->limits = arena_array(rates->arena, n, sizeof *rates->limits);
    rates->transfers = arena_array(rates->arena, n, sizeof *rates->transfers);
    if (!rates->link || !rates->transfer || !rates->variance || !rates->limits || !rates->transfers)
        return false;
    rates->limited = SIZE_MAX;
    memset(rates->link, 0xff, n * n * sizeof *rates->link);
    for (size_t i = 0; i < n * n; i++)
        rates->transfer[i] = i % (n + 1) == 0 ? 0 : -HUGE_VAL;
    for (size_t i = 0; i < problem->n_links; i++) {
        size_t at = problem->links[i].from * n + problem->links[i].to;
        rates->link[at] = (uint32_t)i;
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
    rates->problem = problem;
    rates->arena = arena;
    if (!index_links(rates) || !rank_clusters(rates) || !sort_tasks(rates))
        return NULL;
    return rates;
}

const size_t *geo_rates_order(const struct geo_rates *rates, size_t sort, size_t *n)
{
    size_t op = rates->sorts[sort].task->operation;
    *n = rates->n_order[op];
    return rates->order[op];
}

double geo_rates_processing(const struct geo_rates *rates, size_t sort, size_t cluster)
{
    return rates->processing[rates->sorts[sort].task->operation][cluster];
}

/* --- rates --- */

/* NULL: there is none. */
static const struct speeds *find_link(const struct geo_rates *rates, size_t from, size_t to)
{
    uint32_t at = rates->link[from * rates->problem->n_clusters + to];
    return at == NO_LINK ? NULL : rates->problem->links[at].speeds;
}

/* The mean over the inputs that are remote; one at home counts as nothing in the sums. */
static void find_transfers(struct geo_rates *rates, const struct geo_task *task)
{
    size_t n = rates->problem->n_clusters;
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

const double *geo_rates_limits(struct geo_rates *rates, size_t sort)
{
    const struct geo_task *task = rates->sorts[sort].task;
    const double *processing = rates->processing[task->operation];
    if (rates->limited == sort)
        return rates->limits;
    find_transfers(rates, task);
    for (size_t m = 0; m < rates->problem->n_clusters; m++) {
        if (task->n_inputs == 0)
            rates->transfers[m] = (struct moments){HUGE_VAL, 0};
        double transfer = rates->transfers[m].mean;
        double least = processing[m] < transfer ? processing[m] : transfer;
        rates->limits[m] = least > 0 ? least : 0;
    }
    rates->limited = sort;
    return rates->limits;
}

double geo_rates_hope(const struct geo_rates *rates, size_t cluster, const struct speeds *now)
{
    const struct geo_task *task = rates->sorts[rates->limited].task;
    const struct speeds *processing = rates->problem->clusters[cluster].processing[task->operation];
    const struct moments *transfer = &rates->transfers[cluster];
    double sum = now->mean + rates->limits[cluster];
    double hope =
        speeds_greatest_limit(now->mean, now->variance, processing->mean, processing->variance);
    hope = hope < sum ? hope : sum;
    if (transfer->mean == HUGE_VAL)
        return hope;
    double other =
        speeds_greatest_limit(now->mean, now->variance, transfer->mean, transfer->variance);
    return other < hope ? other : hope;
}

/* Of the mean of the transfers into a possible cluster; false: nothing is remote. */
static bool find_transfer(const struct geo_rates *rates,
                          const struct geo_task *task,
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

void geo_rates_spread(const struct geo_rates *rates,
                      size_t sort,
                      size_t cluster,
                      struct speeds *spread)
{
    const struct geo_task *task = rates->sorts[sort].task;
    const struct speeds *processing = rates->problem->clusters[cluster].processing[task->operation];
    struct speeds transfer;
    if (find_transfer(rates, task, cluster, &transfer))
        speeds_least(processing, &transfer, spread);
    else
        *spread = *processing;
}

static double compute_mean(const struct geo_rates *rates, size_t sort, size_t cluster)
{
    const struct geo_task *task = rates->sorts[sort].task;
    const struct speeds *processing = rates->problem->clusters[cluster].processing[task->operation];
    struct speeds transfer;
    if (!find_transfer(rates, task, cluster, &transfer))
        return processing->mean;
    return speeds_least_mean(processing, &transfer);
}

static struct kept *find_kept(const struct geo_rates *rates, uint64_t key)
{
    size_t at = (size_t)mix(key) & (rates->room - 1);
    while (rates->kept[at].key != 0 && rates->kept[at].key != key)
        at = (at + 1) & (rates->room - 1);
    return &rates->kept[at];
}

static bool make_room(struct geo_rates *rates)
{
    struct kept *old = rates->kept;
    size_t n = rates->room;
    if (2 * (rates->n_kept + 1) <= rates->room)
        return true;
    size_t room = n > 0 ? 4 * n : 4096;
    rates->kept = arena_calloc(rates->arena, room, sizeof *rates->kept);
    if (!rates->kept) {
        rates->kept = old;
        return false;
    }
    rates->room = room;
    for (size_t i = 0; i < n; i++)
        if (old[i].key != 0)
            *find_kept(rates, old[i].key) = old[i];
    return true;
}

double geo_rates_mean(struct geo_rates *rates, size_t sort, size_t cluster)
{
    uint64_t key = (uint64_t)sort * rates->problem->n_clusters + cluster + 1;
    if (!make_room(rates))
        return -1;
    struct kept *kept = find_kept(rates, key);
    if (kept->key == 0) {
        *kept = (struct kept){key, compute_mean(rates, sort, cluster)};
        rates->n_kept++;
    }
    return kept->mean;
}

double geo_rates_best(struct geo_rates *rates, size_t sort)
{
    size_t n;
    const size_t *order = geo_rates_order(rates, sort, &n);
    double best = 0;
    if (!isnan(rates->sorts[sort].best))
        return rates->sorts[sort].best;
    const double *limits = geo_rates_limits(rates, sort);
    for (size_t k = 0; k < n && geo_rates_processing(rates, sort, order[k]) > best; k++) {
        if (limits[order[k]] <= best)
            continue;
        double mean = geo_rates_mean(rates, sort, order[k]);
        if (mean < 0)
            return mean;
        best = fmax(best, mean);
    }
    rates->sorts[sort].best = best;
    return best;
}
