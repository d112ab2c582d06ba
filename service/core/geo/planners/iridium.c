/*
 * Iridium: how many tasks of a stage each site gets, so that the slowest of all transfers is as
 * fast as it can be (Q. Pu et al., "Low latency geo-distributed data analytics", SIGCOMM 2015,
 * section 3).
 *
 * Observes how much input each cluster holds, what it can send and take in (its gate, and no more
 * than its links together on the average), and idle slots. It ignores processing speeds, the
 * variation of speeds, losses of clusters, and which link of a cluster is the slow one.
 *
 * Decides job by job in the order of the request. With a part r_x of n tasks in cluster x, which
 * holds S_x of S bytes, x sends (1 - r_x) S_x at U_x and takes in r_x (S - S_x) at D_x; the paper's
 * linear program makes the longest of these times least. Each time bounds r_x on one side only, so
 * the least is found by bisection, over whole tasks at once and within idle slots: nothing is
 * rounded afterwards. Tasks beyond the lower bounds go where most input is. The paper leaves open
 * which tasks make up a cluster's number: here, those of the assignment whose greatest remote reads
 * are least.
 * One copy per task. Iridium's moving of data sets between jobs has no counterpart in a plan of
 * copies.
 */
#include "core/geo/planners/iridium.h"

#include <math.h>

#include "core/geo/placement.h"
#include "core/geo/planner.h"

/* A gate that lets nothing pass is this slow, so that times stay finite. */
static const double SLOWEST = 1e-6;
/* Of a task, so that rounding of quotients costs none. */
static const double WHOLE = 1e-9;
/* More than any interval of doubles within WHOLE needs; the bound is for rounding. */
enum { HALVINGS = 200 };

/* --- how many --- */

static int64_t fewest(const struct iridium_site *site, double n, double limit_s)
{
    if (site->bytes <= limit_s * site->up_bytes_per_s)
        return 0;
    return (int64_t)ceil(n * (1 - limit_s * site->up_bytes_per_s / site->bytes) - WHOLE);
}

static int64_t most(const struct iridium_site *site, double n, double all, double limit_s)
{
    double taken = all - site->bytes;
    if (n * taken <= n * limit_s * site->down_bytes_per_s)
        return site->slots;
    double tasks = floor(n * limit_s * site->down_bytes_per_s / taken + WHOLE);
    return tasks < (double)site->slots ? (int64_t)tasks : site->slots;
}

static bool
is_enough(const struct iridium_site sites[], size_t n_sites, double n, double all, double limit_s)
{
    double low = 0;
    double high = 0;
    for (size_t x = 0; x < n_sites; x++) {
        int64_t least = fewest(&sites[x], n, limit_s);
        int64_t greatest = most(&sites[x], n, all, limit_s);
        if (least > greatest)
            return false;
        low += (double)least;
        high += (double)greatest;
    }
    return low <= n && n <= high;
}

/* Who can take more tasks within the limit and holds the most bytes; NULL: nobody. */
static struct iridium_site *
find_largest(struct iridium_site sites[], size_t n_sites, double n, double all, double limit_s)
{
    struct iridium_site *best = NULL;
    for (size_t x = 0; x < n_sites; x++)
        if (most(&sites[x], n, all, limit_s) > sites[x].tasks &&
            (best == NULL || sites[x].bytes > best->bytes))
            best = &sites[x];
    return best;
}

/* What is left after the lower bounds goes where most bytes are. */
static void
share_out(struct iridium_site sites[], size_t n_sites, int64_t n, double all, double limit_s)
{
    int64_t left = n;
    for (size_t x = 0; x < n_sites; x++) {
        sites[x].tasks = fewest(&sites[x], (double)n, limit_s);
        left -= sites[x].tasks;
    }
    while (left > 0) {
        struct iridium_site *best = find_largest(sites, n_sites, (double)n, all, limit_s);
        if (best == NULL)
            return;
        int64_t capacity = most(best, (double)n, all, limit_s) - best->tasks;
        best->tasks += capacity < left ? capacity : left;
        left -= capacity < left ? capacity : left;
    }
}

double iridium_divide(struct iridium_site sites[], size_t n_sites, int64_t n)
{
    double all = 0;
    double low = 0;
    double high = 0;
    for (size_t x = 0; x < n_sites; x++)
        all += sites[x].bytes;
    for (size_t x = 0; x < n_sites; x++) {
        high = fmax(high, sites[x].bytes / sites[x].up_bytes_per_s);
        high = fmax(high, (all - sites[x].bytes) / sites[x].down_bytes_per_s);
    }
    if (is_enough(sites, n_sites, (double)n, all, 0))
        high = 0;
    for (size_t i = 0; i < HALVINGS && high - low > WHOLE * 1e-3 * high; i++) {
        double middle = low + (high - low) / 2;
        if (is_enough(sites, n_sites, (double)n, all, middle))
            high = middle;
        else
            low = middle;
    }
    share_out(sites, n_sites, n, all, high);
    return high;
}

/* --- where --- */

struct iridium {
    struct placement placement;
    struct iridium_site *sites;
    double *links_up; /* of each cluster: mean speeds of its links together */
    double *links_down;
    int64_t *capacity;
};

/* The part of a task that has to come from elsewhere. */
static void
fill_remote(const struct placement *placement, const struct geo_task *task, double paces[])
{
    for (size_t m = 0; m < placement->allocation->problem->n_clusters; m++)
        paces[m] = task->n_inputs > 0 ? 1 : 0;
    for (size_t i = 0; i < task->n_inputs; i++)
        paces[task->inputs[i]] = 1 - 1 / (double)task->n_inputs;
}

static bool iridium_make(struct iridium *iridium, struct allocation *allocation)
{
    const struct geo_problem *problem = allocation->problem;
    size_t n = problem->n_clusters;
    iridium->sites = arena_array(allocation->arena, n, sizeof *iridium->sites);
    iridium->links_up = arena_calloc(allocation->arena, n, sizeof *iridium->links_up);
    iridium->links_down = arena_calloc(allocation->arena, n, sizeof *iridium->links_down);
    iridium->capacity = arena_array(allocation->arena, n, sizeof *iridium->capacity);
    if (!iridium->sites || !iridium->links_up || !iridium->links_down || !iridium->capacity)
        return false;
    for (size_t i = 0; i < problem->n_links; i++) {
        iridium->links_up[problem->links[i].from] += problem->links[i].speeds->mean;
        iridium->links_down[problem->links[i].to] += problem->links[i].speeds->mean;
    }
    return placement_make(&iridium->placement, allocation, fill_remote, NULL);
}

/* Of the first tasks of the job that slots allow, so many. */
static int64_t
gather_sites(struct iridium *iridium, const struct allocation *allocation, size_t job)
{
    int64_t slots = 0;
    int64_t n = 0;
    for (size_t m = 0; m < allocation->problem->n_clusters; m++) {
        iridium->sites[m] = (struct iridium_site){
            .up_bytes_per_s = fmax(fmin(allocation->egress[m], iridium->links_up[m]), SLOWEST),
            .down_bytes_per_s = fmax(fmin(allocation->ingress[m], iridium->links_down[m]), SLOWEST),
            .slots = allocation->idle[m]};
        slots += allocation->idle[m];
    }
    for (size_t t = 0; t < allocation->problem->jobs[job].n_tasks && n < slots; t++) {
        const struct geo_task *task = allocation_task(allocation, job, t);
        if (allocation->tasks[job][t].n > 0)
            continue;
        n++;
        for (size_t i = 0; i < task->n_inputs; i++)
            iridium->sites[task->inputs[i]].bytes += task->size_bytes / (double)task->n_inputs;
    }
    return n;
}

static enum pv_code place_job(struct iridium *iridium, struct allocation *allocation, size_t job)
{
    int64_t n = gather_sites(iridium, allocation, job);
    (void)iridium_divide(iridium->sites, allocation->problem->n_clusters, n);
    for (size_t m = 0; m < allocation->problem->n_clusters; m++)
        iridium->capacity[m] = iridium->sites[m].tasks;
    return placement_run(&iridium->placement, job, iridium->capacity);
}

static enum pv_code iridium_run(struct allocation *allocation)
{
    struct iridium iridium;
    if (!iridium_make(&iridium, allocation))
        return PV_E_MEMORY;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        PV_TRY(place_job(&iridium, allocation, j));
    return PV_OK;
}

const struct geo_planner geo_planner_iridium = {.name = "iridium", .run = iridium_run};
