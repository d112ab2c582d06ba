#ifndef STORE_HISTORY_RUN_H
#define STORE_HISTORY_RUN_H

#include "core/history/missing_counts.h"
#include "core/history/run.h"
#include "store/history/application.h"
#include "store/store.h"

/* Outcome of an insert. A log is known by application id, attempt and origin (docs/design.md,
 * "Identity of a log"). */
enum run_insert_outcome {
    RUN_INSERTED,  /* 201 */
    RUN_UNCHANGED, /* the same log, or a less complete one: 200 with the run that is stored */
    RUN_REPLACED   /* a more complete log: 200 */
};

/* How much a log of a run holds, for people. */
struct log_extent {
    double duration_s; /* NAN if unknown */
    int64_t tasks;     /* that ended; RUN_UNKNOWN */
    bool ended;
    int64_t damage; /* core/history/log_damage.h */
};

struct run_insert {
    enum run_insert_outcome outcome;
    bool compared; /* with another log of the run, which was stored */
    struct log_extent sent;
    struct log_extent stored;
};

/*
 * Insert run into the application (which must exist), with outbox event run.ingested and audit row;
 * fills in run->id and recorded_us. For RUN_UNCHANGED *run becomes the stored one, without stages.
 * log_digest: 32 bytes that identify the plain log's content, NULL for JSON runs.
 *
 * Equal digest -> RUN_UNCHANGED. Another log of the same run -> RUN_REPLACED (the id stays, the old
 * figures go into the audit), RUN_UNCHANGED or PV_E_CONFLICT (core/history/run_reach.h). advice_id
 * that is not there: PV_E_INVALID pointing at /advice_id.
 */
enum pv_code store_run_insert(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              const unsigned char *log_digest,
                              struct run *run,
                              struct run_insert *insert,
                              struct pv_error *err) PV_MUSTCHECK;

enum {
    RUN_WITH_STAGES = 1,
    RUN_WITH_TASKS = 2, /* implies stages */
    RUN_WITH_DIGEST = 4 /* of the log a run was read from; lists only */
};

/* application_name NULL: any application of the team; then *application_name_out tells which. */
enum pv_code store_run_find(struct store_tx *tx,
                            struct arena *arena,
                            const char *application_name,
                            const char *run_id,
                            unsigned with,
                            struct run *run,
                            struct strview *application_name_out,
                            struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_run_delete(struct store_tx *tx,
                              const char *application_name,
                              const char *run_id,
                              struct pv_error *err) PV_MUSTCHECK;

enum run_outcome { RUN_OUTCOME_ANY, RUN_OUTCOME_SUCCEEDED, RUN_OUTCOME_FAILED };

/* Newest first. Instants compare with recorded order (started_us where known, else recorded_us). */
struct run_filter {
    int64_t since_us;               /* RUN_NO_INSTANT: open */
    int64_t until_us;               /* exclusive */
    const struct run_label *labels; /* all must match */
    size_t n_labels;
    int64_t
        before_us; /* cursor: instant and id of the last item seen; RUN_NO_INSTANT: first page */
    char before_id[37];
    enum run_outcome outcome;
    size_t limit;
    unsigned with;
    /* A page ends early where it would hold more stages, or task durations, than this; it holds one
     * run at least. 0: no bound. Only counts what is loaded. */
    size_t stages_most;
    size_t tasks_most;
};
struct run_list {
    struct run *items;
    int64_t *instants_us;         /* the sort key of each item, for the cursor */
    struct strview *applications; /* names; read by store_run_list_of_team alone */
    size_t n;
    bool more;
};
enum pv_code store_run_list(struct store_tx *tx,
                            struct arena *arena,
                            const struct application *application,
                            const struct run_filter *filter,
                            struct run_list *list,
                            struct pv_error *err) PV_MUSTCHECK;

/* Runs of all applications of the team, newest first, without stages. Labels, `with` and its bounds are
 * ignored. list->applications has the name of each. */
enum pv_code store_run_list_of_team(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct run_filter *filter,
                                    struct run_list *list,
                                    struct pv_error *err) PV_MUSTCHECK;

struct run_id {
    char text[37];
};

/*
 * The runs of these ids, in their order, with stages and tasks; one that is gone is left out. The
 * time in which a session was left alone is not part of these runs and of those below
 * (core/history/run_idle.h).
 */
enum pv_code store_run_of_ids(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              const struct run_id ids[],
                              size_t n,
                              struct run_list *list,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * The succeeded batch runs nearest in problem size (ties: latest first), at most limit, with stages and
 * tasks: what replay and jobs from history need. problem_size NAN: the latest. Runs whose
 * executors, cores or stages are unknown are left out when `replayable`.
 */
enum pv_code store_run_nearest(struct store_tx *tx,
                               struct arena *arena,
                               const struct application *application,
                               double problem_size,
                               bool replayable,
                               size_t limit,
                               struct run_list *list,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * The same nearest in problem size and cores, by the distance of core/advice/curve.h, with stages,
 * executors and cores: what jobs of a cluster with so many cores are made of. Of more than 500 runs
 * that are larger, or smaller, the 500 nearest in size are compared. cores >= 1.
 */
enum pv_code store_run_nearest_in_cores(struct store_tx *tx,
                                        struct arena *arena,
                                        const struct application *application,
                                        double problem_size,
                                        int64_t cores,
                                        size_t limit,
                                        struct run_list *list,
                                        struct pv_error *err) PV_MUSTCHECK;

/* Of table r, "" or "x.": the problem size of a row of runs or of advice, also where a program
 * older than migration 0026 wrote it. */
#define RUN_PROBLEM_SIZE(r) "coalesce(" r "exact_problem_size, " r "problem_size::float8)"

/* The problem size of a row r of runs. */
#define RUN_SIZE RUN_PROBLEM_SIZE("r.")

/* Is the row of runs a batch job? Streaming applications are not used for predictions. */
#define RUN_IS_BATCH "coalesce(streaming_queries, 0) = 0"

/* How long a run r took without the time in which a session was left alone. */
#define RUN_WORKED_S "(r.duration_s - coalesce(r.away_s, 0))"

/* The initialization of a run r, if it holds none of this time. */
#define RUN_INITIALIZED_S "CASE WHEN coalesce(r.away_s, 0) = 0 THEN r.initialization_s END"

/* By what the size of a row of runs was measured. That of a run from before migration 0055 is known if it
 * is the bytes that the run read: those are never given by chance. */
#define RUN_SIZE_MEASURE                                                                           \
    "coalesce(problem_size_measure, CASE WHEN from_log AND NOT problem_size_given"                 \
    " AND exact_problem_size * 134217728 = input_bytes THEN 'input_blocks' END)"

/* The measure of the sizes of application $2 of team $1, as problem_size_prevailing
 * (core/history/problem_size.h) finds it. */
#define RUN_PREVAILING_MEASURE                                                                     \
    "(SELECT mode() WITHIN GROUP (ORDER BY measure DESC) FROM"                                     \
    " (SELECT " RUN_SIZE_MEASURE " AS measure, succeeded AND " RUN_IS_BATCH " AS counts"           \
    "  FROM provisor.run WHERE team_id = $1 AND application_id = $2"                               \
    "  ORDER BY instant DESC, id DESC LIMIT 20) AS l WHERE counts)"

/* Is the row of runs one to predict from? Also, its size must compare with the others. */
#define RUN_PREDICTS                                                                               \
    RUN_IS_BATCH " AND coalesce(" RUN_SIZE_MEASURE " = " RUN_PREVAILING_MEASURE ", true)"

/* What those programs are to read: rounded, 1 at least; RUN_UNKNOWN for NAN. */
int64_t run_whole_problem_size(double problem_size);

/* Of the latest runs, at most RUN_MISSING_LOOKED_AT. */
enum { RUN_MISSING_LOOKED_AT = 1000 };
enum pv_code store_run_missing_counts(struct store_tx *tx,
                                      const struct application *application,
                                      struct missing_counts *counts,
                                      struct pv_error *err) PV_MUSTCHECK;

#endif
