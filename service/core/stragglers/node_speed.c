#include "core/stragglers/node_speed.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/numerics/quantile.h"
#include "core/numerics/student.h"

/* The variance of a median is that of a mean times this, in a normal distribution. */
static const double MEDIAN_VARIANCE = 1.5707963267948966;

/* Tasks differ by 2 percent at least, whatever a few of them show. */
static const double LEAST_DEVIATION = 0.02;

/* --- a stage --- */

/* A task of which it is known where it ran. */
struct spot {
    int64_t node;
    double ratio;
};

/* The tasks of one node. */
struct group {
    int64_t node;
    size_t n;
    double median;
};

/* The tasks of a stage, node by node. */
struct by_node {
    struct group *groups;
    double *medians; /* of the groups, ascending */
    size_t n_groups;
    size_t n_tasks;
    double within;  /* sum of squares within nodes */
    double mean;    /* of the medians */
    double between; /* sum of their squares about it */
};

static int compare_spots(const void *a, const void *b)
{
    const struct spot *x = a;
    const struct spot *y = b;
    int order = compare_int64(x->node, y->node);
    return order != 0 ? order : compare_double(x->ratio, y->ratio);
}

/* n tasks of one node, ascending by ratio, become a group. */
static void add_group(struct by_node *by, const struct spot spots[], size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        double off = spots[i].ratio - mean;
        mean += off / (double)(i + 1);
        by->within += off * (spots[i].ratio - mean);
    }
    double median = 0.5 * (spots[(n - 1) / 2].ratio + spots[n / 2].ratio);
    by->medians[by->n_groups] = median;
    by->groups[by->n_groups++] = (struct group){spots->node, n, median};
    double off = median - by->mean;
    by->mean += off / (double)by->n_groups;
    by->between += off * (median - by->mean);
}

static bool group_tasks(const struct run_stage *stage,
                        const struct stage_times *times,
                        struct arena *scratch,
                        struct by_node *by)
{
    size_t n = (size_t)stage->n_tasks;
    struct spot *spots = arena_array(scratch, n, sizeof *spots);
    *by = (struct by_node){.groups = arena_array(scratch, n, sizeof *by->groups),
                           .medians = arena_array(scratch, n, sizeof *by->medians)};
    if (spots == NULL || by->groups == NULL || by->medians == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        if (stage->task_nodes[i] >= 0)
            spots[by->n_tasks++] = (struct spot){stage->task_nodes[i], times->log_ratio[i]};
    if (by->n_tasks > 0)
        qsort(spots, by->n_tasks, sizeof *spots, compare_spots);
    for (size_t i = 0, next; i < by->n_tasks; i = next) {
        for (next = i; next < by->n_tasks && spots[next].node == spots[i].node;)
            next++;
        add_group(by, spots + i, next - i);
    }
    if (by->n_groups > 0)
        qsort(by->medians, by->n_groups, sizeof *by->medians, order_by_double);
    return true;
}

/* One of the medians left out. */
static double median_without(const struct by_node *by, double one)
{
    const double *found =
        bsearch(&one, by->medians, by->n_groups, sizeof *by->medians, order_by_double);
    size_t out = (size_t)(found - by->medians);
    size_t left = by->n_groups - 1;
    size_t lower = (left - 1) / 2;
    size_t upper = left / 2;
    return 0.5 * (by->medians[lower + (lower >= out)] + by->medians[upper + (upper >= out)]);
}

/* Of single tasks, the one on the node in question left out. False: they are too few. What its distance
 * from the mean contributes is taken off: with a look at all others for each of very many nodes this
 * would take the square of their number. Digits that this loses are far below LEAST_DEVIATION. */
static bool measure_others(const struct by_node *by, double one, double *variance, double *freedom)
{
    double n = (double)by->n_groups;
    double off = one - by->mean;
    if (by->n_groups < 3)
        return false;
    *freedom = n - 2;
    *variance = fmax(by->between - off * off * n / (n - 1), 0) / *freedom;
    return true;
}

/* s^2 and its degrees of freedom, as node `median` sees them. */
static bool
measure_noise(const struct by_node *by, double median, double *variance, double *freedom)
{
    size_t within = by->n_tasks - by->n_groups;
    if (within == 0 && !measure_others(by, median, variance, freedom))
        return false;
    if (within > 0) {
        *freedom = (double)within;
        *variance = by->within / *freedom;
    }
    *variance = fmax(*variance, LEAST_DEVIATION * LEAST_DEVIATION);
    return true;
}

enum pv_code node_speed_study(const struct run_stage *stage,
                              const struct stage_times *times,
                              const size_t node_of[],
                              struct arena *scratch,
                              struct node_study studies[],
                              size_t *n,
                              struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct by_node by;
    *n = 0;
    if (!group_tasks(stage, times, scratch, &by))
        return pv_no_memory(err);
    for (size_t g = 0; by.n_groups > 1 && g < by.n_groups; g++) {
        const struct group *group = &by.groups[g];
        double variance;
        double freedom;
        if (node_of[group->node] == SIZE_MAX ||
            !measure_noise(&by, group->median, &variance, &freedom))
            continue;
        double share = 1 / (double)group->n + 1 / (double)(by.n_tasks - group->n);
        studies[(*n)++] =
            (struct node_study){.node = node_of[group->node],
                                .tasks = group->n,
                                .shift = group->median - median_without(&by, group->median),
                                .variance = MEDIAN_VARIANCE * variance * share,
                                .freedom = freedom};
    }
    arena_rewind(scratch, mark);
    return PV_OK;
}

/* --- a node --- */

/* How the studies of a node differ (DerSimonian and Laird). */
struct heterogeneity {
    double q;
    double scale;   /* (q - freedom) / scale estimates tau^2 */
    double freedom; /* studies - 1 */
};

static struct heterogeneity measure_heterogeneity(const struct node_study *const studies[],
                                                  size_t n)
{
    double weights = 0;
    double squared = 0;
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        double weight = 1 / studies[i]->variance;
        weights += weight;
        squared += weight * weight;
        mean += weight * (studies[i]->shift - mean) / weights;
    }
    struct heterogeneity of = {.scale = n == 0 ? 0 : weights - squared / weights,
                               .freedom = n == 0 ? 0 : (double)n - 1};
    for (size_t i = 0; i < n; i++) {
        double off = studies[i]->shift - mean;
        of.q += off * off / studies[i]->variance;
    }
    return of;
}

/* To three digits (E. B. Wilson, M. M. Hilferty, "The distribution of chi-square", PNAS 17, 1931). */
static double chi_square_median(double freedom)
{
    double root = 1 - 2 / (9 * freedom);
    return freedom * root * root * root;
}

struct stage_spread
node_speed_spread(const struct node_study *const studies[], size_t n, double room[])
{
    struct stage_spread spread = {.variance = 0};
    size_t nodes = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && studies[next]->node == studies[i]->node;)
            next++;
        struct heterogeneity of = measure_heterogeneity(studies + i, next - i);
        if (!(of.scale > 0))
            continue;
        room[nodes++] = (of.q / chi_square_median(of.freedom) - 1) * of.freedom / of.scale;
        spread.freedom += of.freedom / 2;
    }
    if (nodes > 0)
        spread.variance = fmax(quantile_median(room, nodes), 0);
    return spread;
}

/* The common spread, or that of the node where it stands out. */
static struct stage_spread choose_spread(const struct heterogeneity *own,
                                         const struct stage_spread *common)
{
    if (!(own->scale > 0))
        return *common;
    double expected = own->freedom + common->variance * own->scale;
    bool stands_out = own->q > expected * (1 + 3 * sqrt(2 / own->freedom));
    return stands_out ? (struct stage_spread){.variance = (own->q - own->freedom) / own->scale,
                                              .freedom = own->freedom}
                      : *common;
}

/* Half of the interval of the mean, whose weights add up to `weights`. */
static double find_reach(const struct node_study *const studies[],
                         size_t n,
                         const struct stage_spread *between,
                         double weights,
                         double level)
{
    double variance = 1 / weights;
    double parts = 0; /* sum over the components of variance: component^2 / freedom */
    double of_stages = 0;
    for (size_t i = 0; i < n; i++) {
        double weight = 1 / (studies[i]->variance + between->variance) / weights;
        double component = weight * weight * studies[i]->variance;
        parts += component * component / studies[i]->freedom;
        of_stages += weight * weight * between->variance;
    }
    if (between->freedom > 0)
        parts += of_stages * of_stages / between->freedom;
    return student_quantile(level, variance * variance / parts) * sqrt(variance);
}

struct node_speed node_speed_combine(const struct node_study *const studies[],
                                     size_t n,
                                     const struct stage_spread *common,
                                     double level)
{
    struct node_speed speed = {.factor = (double)NAN, .low = 0, .high = (double)INFINITY};
    struct heterogeneity own = measure_heterogeneity(studies, n);
    struct stage_spread between = choose_spread(&own, common);
    double weights = 0;
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        double weight = 1 / (studies[i]->variance + between.variance);
        weights += weight;
        mean += weight * (studies[i]->shift - mean) / weights;
        speed.tasks += studies[i]->tasks;
    }
    speed.studies = n;
    if (n == 0)
        return speed;
    double reach = find_reach(studies, n, &between, weights, level);
    speed.factor = exp(mean);
    speed.low = exp(mean - reach);
    speed.high = exp(mean + reach);
    return speed;
}
