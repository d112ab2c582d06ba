#ifndef CODEC_ADVICE_FORM_PROPERTIES_H
#define CODEC_ADVICE_FORM_PROPERTIES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json/value.h"

/*
 * The Spark properties of stored advice, as a form for one platform writes them. Spark and the
 * platform accept them: a form changes what its platform does not take.
 */
struct form_property {
    const char *key;
    const char *value;
};

struct form_properties {
    const struct json_value *advice; /* the stored document */
    struct arena *arena;
    struct form_property *items; /* ascending by key */
    size_t n;
    size_t capacity;
    bool failed; /* there was no memory */
};

/* Borrows the texts of `advice`. */
void form_properties_read(struct form_properties *form,
                          const struct json_value *advice,
                          struct arena *arena);

/* NULL: the property is not set. */
const char *form_property_find(const struct form_properties *form, const char *key);

/* Does the advice remove the property? */
bool form_property_is_removed(const struct form_properties *form, const char *key);

void form_property_set(struct form_properties *form, const char *key, const char *value);

/* Did the job run on that platform ("emr_serverless", "local")? */
bool form_is_of_platform(const struct form_properties *form, const char *name);

/* Forms that cannot unset spark.executor.instances set it to the initial executors. Another place may
 * still set more than maxExecutors, and Spark would not start. */
void form_set_instances(struct form_properties *form);

/* Kubernetes and EMR Serverless have no external shuffle service: the driver tracks shuffle output. */
void form_replace_shuffle_service(struct form_properties *form);

/*
 * Executors of a size that EMR Serverless has (core/spark/serverless_worker.h), as many as have the
 * advised task slots. maxExecutors is at least 3, the number with which the platform starts a job.
 * PV_E_CONFLICT: no worker has enough memory.
 */
enum pv_code form_fit_serverless(struct form_properties *form, struct pv_error *err) PV_MUSTCHECK;

/*
 * PV_E_CONFLICT: Spark, or one of `places` (core/spark/startup_rules.h), would not start a job with these
 * properties, or with what the job runs with besides.
 */
enum pv_code form_check_start(const struct form_properties *form,
                              unsigned places,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
