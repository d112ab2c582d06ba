#ifndef CORE_ADVICE_REPLAY_H
#define CORE_ADVICE_REPLAY_H

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/stage_law.h"
#include "core/advice/stage_slots.h"
#include "core/autoscaling/allocation_replay.h"
#include "core/deadline/clairvoyant_edf.h"
#include "core/history/cached_data.h"
#include "core/history/run.h"

/*
 * Replay: what would this recorded run have taken with m executors of c cores, or on another
 * problem size N?
 *
 * The recorded task times are scheduled again as Spark does it, each on a task slot of the
 * executors (core/advice/stage_slots.h), which are m c cores if every task takes one (a stage may
 * start when its parents are done and the driver submitted it, first the lowest stage id): that is
 * Clairvoyance EDF with a single job, whose graph driver_order_add has completed. Before any
 * prediction the run is calibrated, so that replaying it on its own executors, as they came and went
 * (core/advice/allocation_record.h), gives back the recorded duration:
 *
 *     duration = fixed + makespan(tasks + overhead)
 *
 * fixed       initialization and the wall clock in which no stage was active (the driver's own
 *             work), which more executors do not shorten
 * overhead    seconds a task beyond its recorded duration (scheduling, result fetching), as large
 *             as the recorded wall clock of the stages needs; at most what docs/design.md,
 *             "Jobs from recorded runs", allots
 *
 * Executors that the platform took away are not taken away again: predictions use the record without
 * losses. lost_s is the difference that this makes to the recorded run.
 *
 * No task is ever shorter than recorded. A run cannot be replayed if its stages take longer in the
 * replay than recorded, by more than REPLAY_TOLERANCE of its duration.
 */
#define REPLAY_TOLERANCE 0.03

/*
 * Stages whose number of tasks may follow the machines, by runs on one number of cores only: either
 * all of them do, or none does. Joint hypotheses, because stages of one job are mostly written
 * alike. With two of them a prediction takes at most twice the simulated tasks.
 */
enum replay_hypothesis { REPLAY_MACHINES, REPLAY_OTHERWISE, REPLAY_HYPOTHESES };

/* Beginning of the reasons why a run cannot be replayed. */
#define REPLAY_NOT "the run cannot be replayed: "

struct replay {
    const struct run *run;
    struct edf_job job; /* at deadline 1, release 0; stages of the run that were not skipped */
    const struct edf_stage *graph; /* the same without the order that the driver imposed */
    const struct edf_plan *plan;   /* of `job`: what no target changes (core/deadline/makespan.h) */
    const double *longest_s;       /* one a stage of `job`: its longest task, without overhead */
    double fixed_s;
    double overhead_s;
    struct stage_slots recorded_slots; /* of its own executors */
    struct stage_slots slots;          /* of those of a target */
    struct stage_sighting *seen;       /* one a stage of `job` */
    enum count_source *sources;        /* of the number of tasks, one a stage of `job` */
    struct stage_law *laws;            /* one a stage, of the hypothesis that replay_assume set */
    struct stage_law *laws_of[REPLAY_HYPOTHESES]; /* one a stage each, from replay_learn */
    double machines_probability;                  /* of REPLAY_MACHINES */
    size_t undecided;        /* stages whose laws differ between the hypotheses */
    double fixed_exponent;   /* fixed_s ~ N^fixed_exponent */
    double initialization_s; /* part of fixed_s: before the first stage */
    double between_stages_s; /* part of fixed_s: when no stage was active */
    double *delays_s;        /* of that of fixed_s: of the driver, before each stage of `job` */
    struct allocation_record record;  /* of its executors; n == 0 if all exist all the time */
    struct allocation_record planned; /* the same if the platform had taken no executor away */
    double lost_s; /* of the duration: what it cost that the platform took executors away */
    struct cached_data own_cached; /* what the run shows of the data that it cached */
    struct cached_data cached;     /* the same with what replay_learn knows from other runs */
    double *sorted_s; /* task durations, ascending within each stage; NULL until needed */
    size_t n_tasks;
};

/* A configuration to replay on: problem_size > 0, the others >= 1. */
struct replay_target {
    double problem_size;
    int64_t executors;
    int64_t cores_per_executor;
};

/* What a replay gave. */
struct replay_outcome {
    double duration_s;
    double fixed_s;         /* of it: independent of the executors */
    double waiting_s;       /* of it: waiting, because executors came late or left early */
    double critical_path_s; /* of it: longest chain of stages, each as long as its longest task */
    double work_s;          /* task seconds in all stages, overhead included */
    double work_per_slot_s; /* the same, of each stage divided by its task slots */
    double longest_task_s;
    int64_t longest_stage_id;   /* the stage of the longest task; RUN_UNKNOWN: no stage has tasks */
    bool longest_is_cut_anew;   /* it stands in a stage whose number of tasks the target changes */
    bool longest_follows_cores; /* ... whose tasks get shorter with more machines */
    double recorded_work_s;     /* task seconds of the run as recorded, without any overhead */
    double overhead_per_task_s; /* the calibrated one, counted in work_s for every task */
    double cache_hit;           /* share of cached data that the executors hold */
    double cache_doubt_s;       /* that misses of cached data may add to the duration */
    size_t tasks;
};

/*
 * Calibrate `run` (executors, cores, problem size, duration and stages known). Laws are those of
 * the run alone. The replay borrows the run; the rest lives in `arena`; scratch is back at its
 * mark. PV_E_TOO_FEW: something a replay needs is unknown (detail says what). PV_E_MEMORY.
 */
enum pv_code replay_prepare(const struct run *run,
                            struct arena *arena,
                            struct arena *scratch,
                            struct replay *replay,
                            struct pv_error *err) PV_MUSTCHECK;

/* How long the recorded run would have taken if the platform had taken no executor away. */
double replay_own_s(const struct replay *replay);

/* Predict under that hypothesis from now on. replay_learn sets the likelier one. */
void replay_assume(struct replay *replay, enum replay_hypothesis hypothesis);

/* Do both runs have the same stages with the same parents (names and ids aside)? */
bool replay_same_graph(const struct replay *a, const struct replay *b);

/*
 * Learn the laws of replays[which] from those of the n replays that share its graph; `skip` is left
 * out (n: none), so that a run can be predicted without itself. The probability of a hypothesis is
 * that of its stages, weighted by their work.
 */
enum pv_code replay_learn(struct replay replays[],
                          size_t n,
                          size_t which,
                          size_t skip,
                          struct arena *scratch,
                          struct pv_error *err) PV_MUSTCHECK;

/* Do the hypotheses differ in the number of tasks of any stage on the target? */
bool replay_hypotheses_differ(const struct replay *replay, const struct replay_target *target);

/* Tasks that a replay on the target would simulate; infinite rather than overflowing. */
double replay_count_tasks(const struct replay *replay, const struct replay_target *target);

/* Cores that the replay on the target can use at once: no more than the tasks of its largest stage. */
double replay_useful_cores(const struct replay *replay, const struct replay_target *target);

/*
 * The job as it would look on the target: task counts by the laws, the work of a stage kept (or
 * scaled with N), new durations spread as the recorded ones. Deterministic.
 * job->stages live in `arena` and may borrow from the replay. deadline 1, release 0.
 */
enum pv_code replay_job(const struct replay *replay,
                        const struct replay_target *target,
                        struct arena *arena,
                        struct edf_job *job,
                        struct pv_error *err) PV_MUSTCHECK;

/* fixed_s as it would be at another problem size. */
double replay_fixed_s(const struct replay *replay, double problem_size);

/* Replay on the target. scratch is back at its mark. PV_E_MEMORY. */
enum pv_code replay_predict(const struct replay *replay,
                            const struct replay_target *target,
                            struct arena *scratch,
                            struct replay_outcome *outcome,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
