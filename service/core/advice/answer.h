#ifndef CORE_ADVICE_ANSWER_H
#define CORE_ADVICE_ANSWER_H

#include "core/advice/advice_cluster.h"
#include "core/advice/autoscaling.h"
#include "core/advice/history_prediction.h"
#include "core/advice/joint_feasibility.h"
#include "core/advice/memory_advice.h"

/* An advice as a whole, of what is known: the choice among executor counts, its price, the running
 * jobs, quotas for stages, and the reasons and warnings in their order. */

struct advice_known {
    const struct advice_question *question; /* bounded by the cluster */
    const struct advice_cluster *cluster;
    const struct history_prediction *prediction;
    /* Where jobs run: the recorded runs of the application or the profile that the prediction is
     * from, nearest first, and one for each running job, in the order of the question. */
    const struct run *runs;
    size_t n_runs;
    const struct joint_running *running;
};

/* What the recommendation changes against the last run's executors, both predicted alike. */
struct advice_comparison {
    bool known;
    const struct history_extent *with; /* the last run */
    int64_t executors;                 /* with its cores, of the cores per executor recommended */
    double predicted_duration_s;
    double cost;                    /* NAN without a price */
    double duration_change_percent; /* > 0: the recommendation takes longer */
    double cost_change_percent;     /* by executor seconds, or by what is billed of machines */
};

struct advice_answer {
    struct advise_goal goal; /* followed: that of the question, bounded by what ran */
    bool is_local;           /* the job has one executor, its driver */
    bool is_bounded;         /* it is, as the question sets no maximum */
    struct advice_comparison comparison;
    struct spark_configuration spark;
    bool has_spark;
    struct memory_advice memory; /* plan.known: there is one */
    struct curve curve; /* that it was chosen from: predicted, or what interruptions make of it */
    struct pricing_terms terms; /* with the machines that executors are packed on */
    struct pricing pricing;
    struct advice advice;
    struct autoscaling autoscaling; /* has_autoscaling: it was asked for, and there is an answer */
    bool has_autoscaling;
    struct joint_outcome joint;
    bool has_joint;
    int64_t joint_bytes; /* of all recommended executors, where memory counts beside running jobs */
    struct stage_plan quotas;
    bool has_quotas;
};

/*
 * Where the verdict is unknown, the recommendation is what was not worth advising: nothing of the
 * answer but its reasons, warnings and needed data is for callers.
 *
 * What *answer points at lives in `arena` and in what is known; scratch is back at its mark.
 * PV_E_INVALID with faults as pricing_advise; PV_E_TOO_FEW as joint_feasibility_check; PV_E_MEMORY.
 * GSL's error handler must be off.
 */
enum pv_code advice_answer(const struct advice_known *known,
                           const struct advice_limits *limits,
                           struct arena *arena,
                           struct arena *scratch,
                           struct advice_answer *answer,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
