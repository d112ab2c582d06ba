#ifndef CODEC_GEO_PLANNER_PARAMETERS_H
#define CODEC_GEO_PLANNER_PARAMETERS_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/geo/planner.h"

/* Which planner, and on what terms, as requests have it. */

/* The member of that name; absent: pingan. */
enum geo_algorithm
codec_geo_algorithm_decode(const struct codec_node *object, const char *key, unsigned flags);

/* The objects `mantri`, `dolly` and `spark`, each the terms of the algorithm of that name, all of
 * them optional; what is not given stays. One that terms->algorithm does not look at is a fault. */
void codec_geo_terms_decode(const struct codec_node *object, struct geo_terms *terms);

/* The object of terms->algorithm as a member of the one that is being written; nothing where it has
 * none. */
void codec_geo_terms_encode(struct writer *w, const struct geo_terms *terms);

#endif
