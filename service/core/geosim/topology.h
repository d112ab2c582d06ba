#ifndef CORE_GEOSIM_TOPOLOGY_H
#define CORE_GEOSIM_TOPOLOGY_H

#include "base/arena.h"
#include "base/error.h"
#include "core/geosim/world.h"

/*
 * Draws the clusters of a simulation and the links between them as PingAn's section 6.1 does: a
 * heavy-tailed graph (graph.h), the clusters with the most lines are large, the next ones medium,
 * the rest small, and each draws its figures evenly from the ranges of its scale (table 2).
 *
 * Where the paper says nothing:
 * - each ordered pair of neighbours draws its own mean and spread from the ranges of the cluster
 *   that receives. Pairs that have no line of their own go the way of fewest lines, of several such
 *   ways the widest, and are as fast as the narrowest line on it. So it matters where in the
 *   graph a cluster lies, and hubs are near to everybody;
 * - the bandwidth of a machine to the outside is the mean of what the lines of its cluster, in that
 *   direction, carry; the gate of the cluster lets pass its ratio of the sum over all machines, but
 *   no less than the widest of those lines: a copy whose expected rate no gate lets pass would wait
 *   for ever.
 */
struct geosim_range {
    double low;
    double high; /* >= low */
};

struct geosim_scale_parameters {
    double share;              /* of all clusters; of the small ones: unused, they are the rest */
    struct geosim_range slots; /* whole numbers >= 1: virtual machines, one task at a time each */
    struct geosim_range gate_ratio;
    struct geosim_range power;
    struct geosim_range power_rsd;
    struct geosim_range wan_bytes_per_s;
    struct geosim_range wan_rsd;
    struct geosim_range outage_probability; /* in a time of outage_period_s */
};

struct geosim_world_parameters {
    size_t n_clusters;      /* >= 1 */
    size_t links;           /* lines that a cluster brings along, >= 1 */
    double slots_factor;    /* > 0: every cluster has this many times the slots drawn, at least 1 */
    double reference_power; /* of the machine that the tasks' work_s refer to, as `power` */
    double outage_period_s;
    double slot_s;
    double outage_s;
    struct geosim_scale_parameters scales[GEOSIM_SCALES];
};

/*
 * The paper's 100 clusters. The three columns of table 2 that are garbled in the text are as the
 * golden file pingan.json reads them; 2 lines is what BRITE's example configurations have. What
 * table 2 leaves open and the defaults decide: see docs/copy-plans/reference.md "Simulated worlds".
 */
extern const struct geosim_world_parameters geosim_world_defaults;

/* How many clusters of a scale there are: shares rounded, the large ones at least 1. */
size_t geosim_world_count(const struct geosim_world_parameters *terms, enum geosim_scale scale);

/*
 * Draw. Clusters stand by falling degree, large ones first. What the world points at lives in the
 * arena. The same terms and seed give the same world. PV_E_MEMORY. O(n * lines) time and n^2
 * memory.
 */
enum pv_code geosim_world_draw(const struct geosim_world_parameters *terms,
                               uint64_t seed,
                               struct arena *arena,
                               struct geosim_world *world,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
