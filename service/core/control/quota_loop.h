#ifndef CORE_CONTROL_QUOTA_LOOP_H
#define CORE_CONTROL_QUOTA_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/finding.h"
#include "base/strview.h"
#include "core/control/controller.h"
#include "core/deadline/contention.h"

/*
 * A quota loop: what is known of the executors on some workers, from one sample of their progress to
 * the next, and the cores that each is granted (S. Ripamonti, xSpark, thesis, Politecnico di Milano
 * 2017, sections 3.5 and 3.6; docs/design.md, "Quota loops"). Time is the caller's: instants count
 * from the same origin as the releases of applications. Pure functions of the loop and the sample.
 *
 * What is unknown is NAN, RUN_UNKNOWN, or a text with at == NULL.
 */
struct quota_worker {
    struct strview name;
    double cores; /* > 0 */
};

struct quota_application {
    struct strview name;
    double release_s;
    double deadline_s;   /* > 0, from the release */
    double alpha;        /* (0, 1]: the part of the deadline to plan with */
    double nominal_rate; /* NAN; the strategy speed needs it */
    bool ended;          /* for good */
};

/* One works on one stage for one application on one worker. */
struct quota_executor {
    struct strview id;
    int64_t application; /* place in the loop's list */
    int64_t worker;      /* likewise */
    int64_t stage;
    int64_t tasks;           /* of the stage, on this executor; >= 1 */
    int64_t completed_tasks; /* 0 to tasks */
    double stage_started_s;
    double stage_deadline_s; /* from its start, > 0 */
    /* As of the last sample. */
    double set_point;
    double integral_cores;
    double cores; /* granted */
};

struct quota_settings {
    unsigned strategy; /* place in contention_strategies */
    double gamma;
    double average_nominal_rate;
    struct quota_worker *workers;
    size_t n_workers;
    struct quota_application *applications;
    size_t n_applications;
    struct control_terms controller;
    int64_t period_us; /* of cgroups; RUN_UNKNOWN: nobody asks for cpu.max */
};

struct quota_loop {
    struct quota_settings settings;
    int64_t sequence; /* of the last sample; RUN_UNKNOWN: none has come */
    double at_s;      /* likewise; NAN */
    struct quota_executor *executors;
    size_t n_executors;
};

/* --- settings --- */

/*
 * Other settings for a loop that is under way. Executors whose application or worker they no longer
 * have are forgotten; applications that they still have stay ended; all else stays as it was. What
 * the loop holds of the old settings is no longer needed. PV_E_MEMORY.
 */
enum pv_code quota_loop_replace_settings(struct quota_loop *loop,
                                         const struct quota_settings *settings,
                                         struct arena *arena,
                                         struct pv_error *err) PV_MUSTCHECK;

/* What to be careful about in them, as findings. */
void quota_settings_warn(const struct quota_settings *settings, struct findings *warnings);

/* --- samples --- */

/* An executor in a sample, as it was sent. */
struct quota_reading {
    struct strview id;
    struct strview application;
    struct strview worker;
    int64_t stage;
    int64_t tasks;
    int64_t completed_tasks;
    double stage_deadline_s;
    double stage_started_s; /* at most the sample's at_s */
    double initial_cores;
};

struct quota_sample {
    int64_t sequence;
    double at_s;
    struct strview *ended; /* names of applications that are over from now on */
    size_t n_ended;
    struct quota_reading *executors; /* all that are alive, their ids different */
    size_t n;
};

/* Where the sample stands in the order of its loop. */
enum quota_order {
    QUOTA_ORDER_NEXT,
    QUOTA_ORDER_SAME,      /* the number of the last one: a repetition, if it is the same sample */
    QUOTA_ORDER_OLD,       /* a lower number */
    QUOTA_ORDER_BACKWARDS, /* a higher one, but its time is before that of the last */
};
enum quota_order quota_loop_order(const struct quota_loop *loop, const struct quota_sample *sample);

enum quota_fault_kind {
    QUOTA_FAULT_ENDED_UNKNOWN, /* item: of the sample's `ended`; of all others, of its executors */
    QUOTA_FAULT_APPLICATION_MISSING,
    QUOTA_FAULT_APPLICATION_UNKNOWN,
    QUOTA_FAULT_APPLICATION_CHANGED,
    QUOTA_FAULT_APPLICATION_ENDED,
    QUOTA_FAULT_WORKER_MISSING,
    QUOTA_FAULT_WORKER_UNKNOWN,
    QUOTA_FAULT_WORKER_CHANGED,
    QUOTA_FAULT_TASKS_MISSING,
    QUOTA_FAULT_DEADLINE_MISSING,
    QUOTA_FAULT_COMPLETED_BEYOND, /* more completed tasks than tasks */
    QUOTA_FAULT_KINDS
};

struct quota_fault {
    enum quota_fault_kind kind;
    size_t item;
};

/* What is wrong with a sample: the first ones, and how many there are. */
struct quota_faults {
    struct quota_fault items[PV_FAULTS_MAX];
    size_t n; /* may exceed PV_FAULTS_MAX */
};

/* What is granted to the executor of the same place, beyond what is kept of it. */
struct quota_grant {
    double requested_cores;
    double progress;
    double time_to_complete_s; /* of its application; negative: it is late */
};

struct quota_worker_grant {
    bool contention;
    double requested_cores;
    double granted_cores;
};

/* What a sample leads to. */
struct quota_outcome {
    struct quota_executor *executors; /* of the loop from now on, in the order of the sample */
    struct quota_grant *grants;       /* of each */
    struct quota_worker_grant *workers;
};

/*
 * The next sample (QUOTA_ORDER_NEXT). The loop becomes what it is after it. What is wrong with the
 * sample, given what the loop knows, is in *faults: where there is something (n > 0), the loop is as
 * it was and *outcome is not set.
 *
 * Results are in `arena`, and share texts with the loop and the sample. PV_E_MEMORY: the loop is not
 * to be used any more. O((n + applications + workers) log n).
 */
enum pv_code quota_loop_take(struct quota_loop *loop,
                             const struct quota_sample *sample,
                             struct arena *arena,
                             struct quota_outcome *outcome,
                             struct quota_faults *faults,
                             struct pv_error *err) PV_MUSTCHECK;

/* The quota that cgroup v2 takes for so many cores, in microseconds of each period: at least 1000. */
double quota_cgroup_us(double cores, int64_t period_us);

#endif
