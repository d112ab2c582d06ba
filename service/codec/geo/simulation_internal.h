#ifndef CODEC_GEO_SIMULATION_INTERNAL_H
#define CODEC_GEO_SIMULATION_INTERNAL_H

#include "codec/geo/simulation.h"

/* The parts of a request for a simulation, each in a file of its own. */

void simulation_decode_topology(const struct codec_node *top,
                                const struct codec_simulation_limits *limits,
                                struct geosim_world_parameters *terms);
void simulation_encode_topology(struct writer *w, const struct geosim_world_parameters *terms);

void simulation_decode_workload(const struct codec_node *top,
                                const struct codec_simulation_limits *limits,
                                struct codec_simulation *asked);
void simulation_encode_workload(struct writer *w, const struct codec_simulation *asked);

/* `value` unless it is absent or faulty. */
double simulation_known_or(double value, double otherwise);

#endif
