#ifndef CODEC_ADVICE_ADVICE_H
#define CODEC_ADVICE_ADVICE_H

#include "base/json_writer.h"
#include "codec/geo/copy_plan.h"
#include "codec/history/run.h"
#include "codec/json/reader.h"
#include "codec/models/experiments.h"
#include "codec/models/fitted_model.h"
#include "core/advice/answer.h"

/* What a client may ask for; from struct config. */
struct codec_advice_limits {
    struct codec_run_limits run;
    int64_t executors;
    int64_t cores; /* executors x cores_per_executor */
    size_t running;
    size_t clusters; /* of a copy plan */
};

extern const struct shape codec_advice_shape;
extern const struct shape codec_advice_constraints_shape;
extern const struct shape codec_advice_running_shape;

/*
 * Faults: unknown members; types and ranges; both of application and profile, or neither; labels
 * beside a profile; min_executors above max_executors; more cores than limits->cores with the
 * executors asked for; max_cost with neither a price nor a cluster, a spot price without one on
 * demand, interruptions without one of spot; running jobs with neither a cluster nor max_executors
 * (its size) or twice under one name; a cluster twice among copy_plan.clusters, inputs that are not
 * among them, a copy plan without them; a word in `include` that is not known.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_advice_decode(const struct codec_node *node,
                         const struct codec_advice_limits *limits,
                         struct advice_question *request);

/* The member `copy_plan`: its clusters and inputs. Part of codec_advice_decode. */
void codec_advice_clusters_decode(const struct codec_node *node,
                                  const struct codec_advice_limits *limits,
                                  struct advice_question *request);

/* Everything a reply is made of; borrowed. */
struct codec_advice_reply {
    const char *id;
    int64_t created_us;
    const struct advice_question *question;
    const struct pricing_terms *terms;
    const struct label_group *group; /* n_keys == 0: labels make no difference */
    const struct advice_answer *answer;
    const struct codec_experiments *experiments; /* NULL: not asked for */
    const struct codec_copy_plan *copies_asked;  /* NULL: no copy plan could be made */
    const struct geo_plan *copies;
};

/* The representation of advice. */
void codec_advice_encode(struct writer *w, const struct codec_advice_reply *reply);

/* What the event advice.created has: ids and the headline. */
void codec_advice_encode_event(struct writer *w, const struct codec_advice_reply *reply);

#endif
