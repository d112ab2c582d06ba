#ifndef CODEC_GEO_PINGAN_H
#define CODEC_GEO_PINGAN_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/geo/planner.h"

/*
 * PingAn's terms as requests have them, all optional: `epsilon`, `max_rounds`, `principle` and
 * `allocation`; what is not given stays or, of the latter two, is the paper's. True: epsilon is
 * "auto" and waits for a load.
 */
bool codec_insurance_decode(const struct codec_node *object, struct insurance_terms *terms);

/* Each of the four is a fault: they mean nothing to that algorithm. */
void codec_insurance_refuse(const struct codec_node *object, enum geo_algorithm algorithm);

/* The four as members of the object that is being written. */
void codec_insurance_encode(struct writer *w, const struct insurance_terms *terms, bool is_auto);

#endif
