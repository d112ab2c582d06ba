#ifndef CODEC_ADVICE_RENDERING_H
#define CODEC_ADVICE_RENDERING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strview.h"

/*
 * Advice in the forms of those who apply it, from the document that was stored of it: flags of
 * spark-submit, lines of spark-defaults.conf, a merge patch for a SparkApplication of the Kubernetes
 * operators (sparkoperator.k8s.io/v1beta2, and spark.apache.org/v1), the cluster of a Databricks job,
 * a step of EMR, a job of EMR Serverless, and Markdown for people. Spark and the platform accept each
 * (core/spark/startup_rules.h). Each sets spark.provisor.adviceId, so that the run names the advice
 * that it followed, unless the advice is of a dry run.
 */
enum advice_format {
    ADVICE_JSON,
    ADVICE_SPARK_SUBMIT,
    ADVICE_SPARK_DEFAULTS,
    ADVICE_K8S,
    ADVICE_K8S_APACHE,
    ADVICE_DATABRICKS,
    ADVICE_EMR,
    ADVICE_EMR_SERVERLESS,
    ADVICE_MARKDOWN,
    ADVICE_FORMATS
};

/* Words of ?format=, in the order of the enum, NULL-terminated; and media types. */
extern const char *const advice_format_names[];
extern const char *const advice_format_types[];

/*
 * document  of one advice, as stored
 * force     renders a configuration even if the verdict is `missed`
 * *text     in `arena`, n bytes
 * PV_E_CONFLICT where a configuration is wanted and the verdict is `missed` or `unknown`, the advice was
 * stored without the member `spark`, or is for a job that would not start. PV_E_MEMORY.
 * PV_E_INTERNAL for a document that is none.
 */
enum pv_code advice_render(struct strview document,
                           enum advice_format format,
                           bool force,
                           struct arena *arena,
                           struct strview *text,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
