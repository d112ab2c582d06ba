#ifndef CORE_SPARK_STARTUP_RULES_H
#define CORE_SPARK_STARTUP_RULES_H

#include <stdbool.h>

#include "base/arena.h"
#include "core/history/run.h"

/*
 * Settings with which Spark, or the platform that it runs on, does not start a job. Each rule names
 * its source. YARN has a rule that cannot be checked here: a container must not exceed
 * yarn.scheduler.maximum-allocation-mb and -vcores (yarn/Client.verifyClusterResources), and no event
 * log contains these values.
 */

/* Where a rule applies. STARTUP_SPARK stands for every place. */
enum startup_place {
    STARTUP_SPARK = 1,
    STARTUP_KUBERNETES = 2,
    STARTUP_SERVERLESS = 4, /* EMR Serverless */
    STARTUP_DATABRICKS = 8
};

struct startup_settings {
    const struct run_label *properties; /* in any order, each key once */
    size_t n;
    size_t n_set; /* the first of them, that are to be set; a job started with the others */
    struct strview version; /* of Spark; at == NULL: unknown, and taken for the latest */
    unsigned places;        /* of enum startup_place */
    bool complete;          /* no other place sets a property of a rule */
    int64_t barrier_tasks;  /* of the largest barrier stage; 0: there is none, or it is unknown */
};

enum { STARTUP_KEYS_MAX = 5 };

struct startup_rule {
    const char *id;
    unsigned places;
    unsigned from; /* 100 * major + minor of the first version that has the rule; 0: all */
    unsigned to;   /* of the first version that no longer has it; 0: none */
    bool (*holds)(const struct startup_settings *settings);
    const char *keys[STARTUP_KEYS_MAX]; /* that the rule is about; one that ends with '.' is the
                                           beginning of keys */
    const char *sentence;               /* the demand, without a full stop */
    const char *source;
};

extern const struct startup_rule startup_rules[];
extern const size_t startup_rules_n;

/* The first rule of the settings' places and version that does not hold; NULL: each holds. If a job
 * started with some of the properties, only rules about one of the others count. */
const struct startup_rule *startup_broken(const struct startup_settings *settings);

/* Properties that a broken rule is about: their number, and the first of them. */
size_t startup_causes(const struct startup_rule *rule,
                      const struct startup_settings *settings,
                      const struct run_label **first);

/* The sentence with two of the properties, without a full stop; NULL: out of memory. */
const char *startup_describe(const struct startup_rule *rule,
                             const struct startup_settings *settings,
                             struct arena *arena);

#endif
