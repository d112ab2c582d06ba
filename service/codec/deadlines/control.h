#ifndef CODEC_DEADLINES_CONTROL_H
#define CODEC_DEADLINES_CONTROL_H

#include "base/finding.h"
#include "codec/deadlines/job_set.h"
#include "core/control/baseline.h"
#include "core/control/recommend.h"
#include "core/control/simulation.h"

/* POST /v1/control-simulations (docs/design.md, "Control simulations"). */

struct codec_control_job {
    struct codec_job_sent sent;
    double alpha;        /* NAN: none was sent */
    double nominal_rate; /* likewise */
    unsigned penalty;    /* enum control_penalty; CODEC_CONTROL_NO_PENALTY: none was sent */
    double weight;       /* NAN: none was sent */
};

enum { CODEC_CONTROL_NO_PENALTY = CONTROL_PENALTIES };

/* What a client may ask for. */
struct codec_control_limits {
    struct codec_job_set_limits set;
    int64_t repetitions;
    int64_t simulations; /* of a search */
};

struct codec_control_search {
    unsigned over; /* bits of enum control_axis */
    int64_t simulations;
};

extern const struct shape codec_control_shape;
extern const struct shape codec_control_job_shape;
extern const struct shape codec_control_terms_shape;
extern const struct shape codec_control_search_shape;

enum { CODEC_CONTROL_GAMMAS = 20 };

struct codec_control {
    struct codec_job_set set;
    struct codec_control_job *sent; /* the jobs as they were sent, set.n_jobs */
    size_t n_sent;
    struct control_job *terms; /* of each job; rates from history are the caller's to give */
    struct control_options options;
    int64_t seed;
    unsigned strategies; /* bit i: contention_strategies[i] */
    double gammas[CODEC_CONTROL_GAMMAS];
    size_t n_gammas;
    unsigned penalty; /* as of a job: by default of all; CODEC_CONTROL_NO_PENALTY: no penalties */
    struct control_stake *stakes; /* of each job; NULL: no penalties */
    int64_t repetitions;
    struct codec_control_search search;
    bool with_search;
    unsigned include; /* bits of the words sent */
    bool with_traces;
};

/*
 * Faults: those of feasibility (codec/deadlines/job_set.h); types and ranges; a gamma twice, or an
 * unknown strategy; a delay longer than the sampling time; the strategy speed or the penalty
 * slow_first where a job of the request itself has no nominal rate; a job's penalty or weight,
 * repetitions or a search where the request has no penalty; repetitions without noise, and more of
 * them than a search may make simulations. Without strategies all are taken, speed only where every
 * job was sent with a rate.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_control_decode(const struct codec_node *node,
                          const struct codec_control_limits *limits,
                          struct codec_control *request);

/* The request with all defaults filled in, and the size of the cluster instead of its name; jobs
 * from history by the names of their applications. */
void codec_control_encode(struct writer *w, const struct codec_control *request);

/* Strategies x gammas. */
size_t codec_control_runs(const struct codec_control *request);

/* What the penalties lead to. */
struct codec_control_recommendation {
    const struct control_score *scores;    /* of each run */
    const struct control_score *baselines; /* CONTROL_BASELINES */
    struct control_choice choice;
    const struct findings *reasons;
    const struct control_found *found; /* NULL: no search */
    const struct findings *search_reasons;
};

/* What was simulated. */
struct codec_control_result {
    const struct codec_control *asked;
    const struct control_model *model;
    const struct control_run *runs; /* strategies x gammas */
    size_t n_runs;
    const struct control_result *results;   /* of each run */
    const struct control_trace *traces;     /* likewise; NULL: not asked for */
    const struct control_result *baselines; /* CONTROL_BASELINES */
    const struct findings *best;            /* one, about runs[best_run] */
    size_t best_run;
    const struct findings *warnings;
    const struct codec_control_recommendation *recommendation; /* NULL: no penalties */
};

/* The reply, an object. */
void codec_control_result_encode(struct writer *w, const struct codec_control_result *result);

#endif
