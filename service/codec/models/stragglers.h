#ifndef CODEC_MODELS_STRAGGLERS_H
#define CODEC_MODELS_STRAGGLERS_H

#include "base/json_writer.h"
#include "core/stragglers/stragglers.h"

/* GET /v1/applications/{name}/stragglers. */
struct codec_stragglers {
    struct strview application;
    size_t examined;                /* runs */
    size_t without_stages;          /* of these: they are left out */
    const struct stragglers *found; /* NULL: no run is left */
};

void codec_stragglers_encode(struct writer *w, const struct codec_stragglers *all);

#endif
