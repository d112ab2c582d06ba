#ifndef CODEC_GEO_SIMULATION_INTERNAL_H
#define CODEC_GEO_SIMULATION_INTERNAL_H

#include "codec/geo/simulation.h"

/* The parts of a request for a simulation, each in a file of its own. */

/* The member `topology` after it was decoded: slots are whole, shares at most 1. */
void simulation_check_topology(const struct codec_node *top,
                               const struct geosim_world_parameters *terms);

/* The member `workload`; the rest of the request is there. */
void simulation_decode_workload(const struct codec_node *top,
                                const struct codec_simulation_limits *limits,
                                struct codec_simulation *asked);
void simulation_encode_workload(struct writer *w, const void *asked, const void *context);

#endif
