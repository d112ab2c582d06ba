#ifndef CODEC_HISTORY_INGESTION_H
#define CODEC_HISTORY_INGESTION_H

#include "codec/json/shape.h"
#include "core/history/ingestion.h"

extern const struct shape codec_ingestion_shape;

void codec_ingestion_encode(struct writer *w, const struct ingestion *ingestion);

#endif
