#ifndef CODEC_KUBERNETES_SPARK_OBJECT_H
#define CODEC_KUBERNETES_SPARK_OBJECT_H

#include "base/arena.h"
#include "base/json/value.h"
#include "codec/advice/operator_fields.h"
#include "core/history/run.h"

/*
 * What a SparkApplication, or the template of a ScheduledSparkApplication, says of its executors and
 * of Spark's properties. Texts are NUL-terminated, in the arena; at == NULL: it is not there.
 */
enum spark_operator {
    SPARK_OPERATOR_KUBEFLOW, /* sparkoperator.k8s.io: properties have fields, see operator_fields */
    SPARK_OPERATOR_APACHE    /* spark.apache.org: all properties are in sparkConf */
};

enum spark_section {
    SPARK_SECTION_EXECUTOR,
    SPARK_SECTION_DYNAMIC,
    SPARK_SECTION_CONF,
    SPARK_SECTION_INSTANCES, /* of Apache's operator */
    SPARK_SECTIONS
};
extern const char *const spark_section_names[SPARK_SECTIONS]; /* paths in the specification */

/* Numbers of executors that Apache's operator expects an application to have, whatever sparkConf
 * demands. It ends an application that has fewer than initExecutors after some minutes, and marks one
 * that has fewer than the other two. */
enum { SPARK_EXPECTED = 3 };
extern const char *const spark_expected_names[SPARK_EXPECTED];

/* The section that has a field: its place in operator_fields. */
enum spark_section spark_section_of(size_t field);

struct spark_object {
    enum spark_operator of;
    const char *specification; /* JSON Pointer: "/spec", "/spec/template" */
    bool has[SPARK_SECTIONS];  /* the section is an object; else it is missing or null */
    struct strview fields[OPERATOR_FIELDS]; /* numbers and truth values as texts */
    struct run_label *conf;                 /* spec.sparkConf */
    size_t n_conf;
    struct strview expected[SPARK_EXPECTED];
};

/* The property's place in operator_fields; OPERATOR_FIELDS: the operator has no field for it. */
size_t spark_object_field(const struct spark_object *object, const char *key);

/* False where it is no specification: a section is neither an object nor missing, or an entry of
 * sparkConf is no string. Kubernetes refuses such an object by its schema. *memory: there was not
 * enough. */
bool spark_object_read(const struct json_value *specification,
                       const char *pointer,
                       enum spark_operator of,
                       struct arena *arena,
                       struct spark_object *object,
                       bool *memory);

/* The entry of sparkConf alone. */
struct strview spark_object_conf(const struct spark_object *object, const char *key);

/* The property that the job would run with: the operator's field, else the entry of sparkConf. */
struct strview spark_object_property(const struct spark_object *object, const char *key);

bool spark_object_is_dynamic(const struct spark_object *object);

/*
 * The executors that it asks for: instances (if it does not say: 1, or 2 for Apache's operator, which
 * leaves it to Spark), or, with dynamic allocation, the most that there may be; RUN_UNKNOWN: as many
 * as it gets. Cores of one: 1 where it does not say. What is no number is RUN_UNKNOWN.
 */
int64_t spark_object_executors(const struct spark_object *object);
int64_t spark_object_cores(const struct spark_object *object);

#endif
