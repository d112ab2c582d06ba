#ifndef CODEC_GEO_PLANNER_PARAMETERS_H
#define CODEC_GEO_PLANNER_PARAMETERS_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/geo/planner.h"

/* Planners and their parameters as requests have them, driven by the rows of core/geo/planner.h. */

/* The planner that a member names; absent: the default one. */
const struct geo_planner *
codec_geo_planner_decode(const struct codec_node *object, const char *key, unsigned flags);

/* The parameters of the planner, all optional: what is not given keeps its value. Those of another
 * planner are faults. */
void codec_geo_parameters_decode(const struct codec_node *object,
                                 struct geo_parameters *parameters);

/* Refuses members that are neither parameters of any planner nor among `others` (NULL-terminated,
 * at most 32). */
void codec_geo_refuse_unknown(const struct codec_node *object, const char *const others[]);

/* The parameters as members of the object that is being written. */
void codec_geo_parameters_encode(struct writer *w, const struct geo_parameters *parameters);

#endif
