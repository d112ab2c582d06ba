#ifndef CODEC_HISTORY_APPLICATION_H
#define CODEC_HISTORY_APPLICATION_H

#include "codec/json/shape.h"
#include "core/history/application.h"

struct codec_application_limits {
    int64_t labels;
};

extern const struct shape codec_application_shape;
extern const struct shape codec_application_change_shape;
extern const struct shape codec_last_run_shape;
extern const struct shape codec_last_advice_shape;

/* POST: {name, description?, labels?}. */
void codec_application_decode(const struct codec_node *node,
                              const struct codec_application_limits *limits,
                              struct application *application);

/*
 * PATCH: {description?, labels?, retention?}. Each member that is there replaces the old value as a
 * whole; null clears it. retention: {days?: 1.., runs?: 1..}. No member at all is a fault.
 */
void codec_application_decode_change(const struct codec_node *node,
                                     const struct codec_application_limits *limits,
                                     struct application_change *change);

/* include: bits of enum application_include; null where there is none. */
void codec_application_encode(struct writer *w,
                              const struct application *application,
                              unsigned include);

#endif
