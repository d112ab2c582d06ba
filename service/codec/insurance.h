#ifndef CODEC_INSURANCE_H
#define CODEC_INSURANCE_H

#include "codec/reader.h"
#include "codec/writer.h"
#include "core/geo/insurance.h"

/* PingAn's terms as requests have them: `max_rounds`, `principle`, `allocation`, all optional; what
 * is not given stays or, of the latter two, is the paper's. */
void codec_insurance_decode(const struct codec_node *object, struct insurance_terms *terms);

/* The same three as members of the object that is being written. */
void codec_insurance_encode(struct writer *w, const struct insurance_terms *terms);

#endif
