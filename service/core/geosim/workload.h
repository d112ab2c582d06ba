#ifndef CORE_GEOSIM_WORKLOAD_H
#define CORE_GEOSIM_WORKLOAD_H

#include "base/error.h"
#include "core/geosim/montage.h"

/*
 * Draws the workflows of a simulation and when they arrive (PingAn, section 6.1): Montage workflows
 * of drawn sizes, or recorded executions as they were, raw inputs dispersed over the stores of the
 * world, arrivals a Poisson process.
 */
struct geosim_size_class {
    double share; /* of all workflows; those of all classes add up to 1 */
    size_t least; /* tasks, >= 1, all between as likely */
    size_t most;
};

struct geosim_workload_parameters {
    size_t n_workflows;  /* >= 1 */
    double medium_share; /* of the medium clusters that hold raw input too, 0 to 1 */
    struct geosim_scaling scaling;
    /* Recorded executions, each as likely, as they were; n_recordings 0: Montage. */
    const struct geosim_recording *recordings;
    size_t n_recordings;
    /* Montage: of what sizes, by which figures, each as likely. */
    const struct geosim_size_class *sizes;
    size_t n_sizes;
    const struct geosim_montage_figures *const *figures;
    size_t n_figures;
    size_t n_operations; /* of all recordings; MONTAGE_STEPS of each figures */
};

/*
 * The sizes of Facebook's jobs as the golden file pingan.json gives them: 89 % of 1 to 150 tasks,
 * 8 % of 151 to 500, 3 % of more. The paper names no upper end; 1,000 is twice where the class
 * begins and the size at which published Montage workflows commonly end.
 */
enum { GEOSIM_SIZE_CLASSES = 3 };
extern const struct geosim_size_class geosim_size_classes[GEOSIM_SIZE_CLASSES];

/*
 * What Montage by the built-in figures is scaled by where nobody says: times as recorded, a
 * twentieth of the bytes. Over the links of table 2 an image of 2MASS as recorded, 8 MB, takes a
 * minute a transfer, and flow times come out well above those that the paper prints; a twentieth
 * brings them there (docs/copy-plans/reference.md "Simulated worlds").
 */
extern const struct geosim_scaling geosim_montage_scaling;

/*
 * Draw, arriving at `arrivals_per_s` > 0. The same terms, world and seed give the same workflows;
 * another rate only stretches the times between them. What the workload points at lives in the
 * arena. PV_E_MEMORY.
 */
enum pv_code geosim_workload_draw(const struct geosim_workload_parameters *terms,
                                  const struct geosim_world *world,
                                  double arrivals_per_s,
                                  uint64_t seed,
                                  struct arena *arena,
                                  struct geosim_workload *workload,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
