#ifndef CODEC_SCHEDULING_SLOT_DECISION_H
#define CODEC_SCHEDULING_SLOT_DECISION_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/scheduling/comparison/fairness.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo_candidates.h"

/* POST /v1/slot-decisions: the state of a cluster in which a slot has come free (docs/design.md,
 * "FRESH at run time", "OMO at run time"). */

/* What a client may ask for; from struct config. */
struct codec_slot_decision_limits {
    size_t jobs;
};

enum codec_slot_decision_kind { SLOT_DECISION_FRESH, SLOT_DECISION_OMO, SLOT_DECISION_KINDS };
extern const char *const codec_slot_decision_kinds[]; /* their words; ends with NULL */

/* What a scheduler did with the slot, as the line of a log says. */
struct codec_slot_taken {
    bool recorded; /* false: it does not say it, and the rest is of no meaning */
    unsigned slot;
    struct strview job; /* at == NULL: none, or it is not said which */
};
extern const struct shape codec_slot_taken_shape;

/* --- kind "fresh" --- */

struct codec_fresh_job {
    struct strview name;
    struct fresh_job job;
};

/* Who enters the map phase next. */
struct codec_next_job {
    struct strview name; /* at == NULL: there is nobody */
    size_t maps;
    double map_task_s;
};

struct codec_fresh_state {
    double now_s;
    struct fresh_terms terms;
    struct fresh_slots slots; /* complete but for next_map_work_s */
    size_t reduce_slots;
    struct codec_next_job next;
    struct codec_fresh_job *jobs;
    size_t n;
    struct codec_slot_taken taken;
};

extern const struct shape codec_fresh_job_shape;
extern const struct shape codec_next_job_shape;
extern const struct shape codec_fresh_state_shape;

/* --- kind "omo" --- */

struct codec_omo_job {
    struct strview name;
    struct omo_job job; /* with shuffle_s, also where it follows from bytes */
    int64_t map_output_bytes;
};

struct codec_omo_window {
    int64_t released;
    double available_slots;
};

struct codec_omo_state {
    struct omo_terms terms;
    unsigned techniques;
    double ema_weight;
    double window_s;
    double bandwidth_bytes_per_s;
    struct omo_rates previous; /* {NAN, NAN}: none were sent */
    struct codec_omo_window *windows;
    size_t n_windows;
    struct codec_omo_job *jobs;
    size_t n;
    struct codec_slot_taken taken;
};

extern const struct shape codec_omo_job_shape;
extern const struct shape codec_omo_window_shape;
extern const struct shape codec_omo_rates_shape;
extern const struct shape codec_omo_state_shape;

/* --- both --- */

struct codec_slot_decision {
    unsigned kind; /* enum codec_slot_decision_kind */
    struct codec_fresh_state fresh;
    struct codec_omo_state omo;
};

/*
 * Faults: unknown members, also those of the other kind; types and ranges; a name twice; more tasks
 * finished and running than there are; tasks in a phase that has none of them; tasks without a
 * duration; a job that started after now; no more slots in all than the others; neither windows nor
 * what an earlier reply said; a shuffle without a duration, or with two.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_slot_decision_decode(const struct codec_node *node,
                                const struct codec_slot_decision_limits *limits,
                                struct codec_slot_decision *asked);
void codec_fresh_state_decode(const struct codec_node *node,
                              const struct codec_slot_decision_limits *limits,
                              struct codec_fresh_state *state);
void codec_omo_state_decode(const struct codec_node *node,
                            const struct codec_slot_decision_limits *limits,
                            struct codec_omo_state *state);

/* Faults, for a row of jobs: more of these tasks are finished and running than there are. */
void codec_slot_decision_check_tasks(const struct codec_node *job,
                                     const char *const members[2], /* finished, running */
                                     size_t all,
                                     size_t finished,
                                     size_t running);

/* --- replies --- */

/* What a slot is to serve, as it is compared with what a scheduler did. */
struct codec_slot_action {
    const char *slot;   /* "map", "reduce" or "none" */
    struct strview job; /* at == NULL: none */
    const char *rule;
};

struct codec_slot_action codec_fresh_action(const struct codec_fresh_state *state,
                                            const struct fresh_action *action);
struct codec_slot_action codec_omo_action(const struct codec_omo_state *state,
                                          const struct omo_action *action);

/* The member `action`. */
void codec_slot_action_encode(struct writer *w, const struct codec_slot_action *action);

/* Whether what was taken is what was decided: the slot and, where it is said which, the job. */
bool codec_slot_taken_is(const struct codec_slot_taken *taken,
                         const struct codec_slot_action *action);

/* On what grounds it was decided. */
struct codec_fresh_decision {
    struct fresh_tally tally;
    struct fresh_figures figures;
    double fairness;
};

struct codec_omo_decision {
    struct omo_rates rates;
    const struct omo_figures *jobs; /* of each */
};

/* The whole reply, as one object. */
void codec_fresh_decision_encode(struct writer *w,
                                 const struct codec_fresh_state *state,
                                 const struct codec_slot_action *action,
                                 const struct codec_fresh_decision *decision,
                                 const struct findings *warnings);
void codec_omo_decision_encode(struct writer *w,
                               const struct codec_omo_state *state,
                               const struct codec_slot_action *action,
                               const struct codec_omo_decision *decision,
                               const struct findings *warnings);

#endif
