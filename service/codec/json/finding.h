#ifndef CODEC_JSON_FINDING_H
#define CODEC_JSON_FINDING_H

#include "base/finding.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"

/* Findings on the wire: {code, message, evidence?}, the contract's `Finding`. */

/* One object; `evidence` is left out where there is none. */
void codec_finding_encode(struct writer *w, const struct finding *finding);

/* The member `key`, an array. A list that ran out of memory fails the writer. */
void codec_findings_encode(struct writer *w, const char *key, const struct findings *findings);

#endif
