#ifndef CORE_SPARK_CONFIGURATION_H
#define CORE_SPARK_CONFIGURATION_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/spark/memory_plan.h"
#include "core/spark/proposal.h"

/*
 * The Spark properties that put a recommendation into effect, as a coherent set, and what they
 * change against the properties that the job ran with.
 *
 * Without dynamic allocation the executors are spark.executor.instances. With it they are the
 * initial and the greatest number, so that the job starts as it was predicted. The least number that
 * the job ran with stays, and the others are at least as large. The instances are removed
 * then (Spark would take them for the initial number), and executors come and go safely
 * only where shuffle output outlives them: with the external shuffle service or shuffle tracking.
 * spark.executor.cores is the number of tasks, a whole one; what Kubernetes grants an executor may be
 * a fraction (spark.kubernetes.executor.request.cores and limit.cores) and stays in proportion to it.
 * spark.sql.shuffle.partitions is fitted to the cores where adaptive execution does not do that.
 *
 * Values that the caller enforces, or that stay as they are, may contradict each other, so that Spark
 * would not start (core/spark/startup_rules.h).
 *
 * Changes of a kind (core/spark/proposal.h) that the caller does not apply are proposals, and the property
 * stays as it ran.
 */

/* A job on EMR Serverless has this spark.master, and may have this property. */
#define SERVERLESS_MASTER "custom:emr-serverless"
#define SERVERLESS_DISK "spark.emr-serverless.executor.disk"

/* What the job ran with. */
struct spark_before {
    const struct run_label *properties; /* sorted by key */
    size_t n;
    /* Submitted values of properties that the job sets itself; "" if none was submitted. To set them
     * at submission has no effect. Sorted by key. */
    const struct run_label *submitted;
    size_t n_submitted;
    struct strview version; /* of Spark; at == NULL: unknown */
    int64_t executors;      /* RUN_UNKNOWN; where properties do not say */
    int64_t cores_per_executor;
    double shuffle_bytes;  /* that its largest shuffle moved; NAN: unknown; 0: none */
    int64_t barrier_tasks; /* of its largest barrier stage; 0: it has none */
};

enum spark_allocation {
    SPARK_ALLOCATION_AS_RAN,
    SPARK_ALLOCATION_STATIC,
    SPARK_ALLOCATION_DYNAMIC
};

/* What a caller demands of the properties. Lists of properties are sorted by key. */
struct spark_constraints {
    enum spark_allocation allocation;
    int64_t max_executors;           /* that the caller allows; 0: no number was given */
    const struct run_label *current; /* in place of what ran, key by key */
    size_t n_current;
    const struct run_label *enforced; /* to be as they are here */
    size_t n_enforced;
    const struct strview *preserve; /* keys to be left as they are */
    size_t n_preserve;
    const struct strview *exclude; /* keys not to be proposed */
    size_t n_exclude;
    unsigned apply; /* of enum spark_proposal */
};

struct spark_change {
    const char *key;
    const char *old_value; /* NULL: not set, or unknown */
    const char *new_value; /* NULL: to be removed */
    const char *reason;    /* a clause */
    bool is_scale;         /* the executors or their cores: what the prediction is about */
    enum spark_proposal kind;
};

struct spark_property {
    const char *key;
    const char *value;
};

enum { SPARK_CURES_MAX = 8 };

struct spark_configuration {
    bool dynamic_allocation;
    const char *platform;              /* "emr_serverless", "local"; NULL: another, or unknown */
    struct spark_property *properties; /* ascending by key */
    size_t n;
    struct spark_change *changes; /* ascending by key */
    size_t n_changes;
    struct spark_change *proposals; /* that are not applied: by kind, then ascending by key */
    size_t n_proposals;
    const char **withheld; /* keys that would be proposed if the job did not set them itself */
    size_t n_withheld;
    struct strview version; /* of Spark; at == NULL: unknown */
    const char *refused;    /* why Spark would not start with them; NULL: it starts */
};

/*
 * executors, cores_per_executor: recommended, both >= 1. memory: of those executors; NULL, or one
 * that is not known: as the job ran. cures: properties that differ from what ran for other reasons,
 * at most SPARK_CURES_MAX, borrowed. Strings and arrays of *made are in
 * `arena`. PV_E_MEMORY.
 */
enum pv_code spark_configuration_make(const struct spark_before *before,
                                      const struct spark_constraints *constraints,
                                      int64_t executors,
                                      int64_t cores_per_executor,
                                      const struct memory_plan *memory,
                                      const struct spark_property_plan cures[],
                                      size_t n_cures,
                                      struct arena *arena,
                                      struct spark_configuration *made,
                                      struct pv_error *err) PV_MUSTCHECK;

/* Whether the job is to run with dynamic allocation: as a property has to be, else as is asked for,
 * else as it ran. */
bool spark_is_dynamic(const struct spark_before *before,
                      const struct spark_constraints *constraints);

/* What a key has to be: its enforced value, or, where it is to be preserved, what the job runs with;
 * at == NULL: it is free. */
struct strview spark_fixed_value(const struct spark_before *before,
                                 const struct spark_constraints *constraints,
                                 const char *key);

#endif
