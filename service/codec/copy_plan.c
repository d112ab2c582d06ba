#include "codec/copy_plan.h"

#include <string.h>

#include "codec/copy_plan_internal.h"
#include "codec/geo_terms.h"

static const double SECONDS_MAX = 1e12;
static const int64_t ROUNDS_MAX = 1000;

/* Absent is "auto": drawn from the load, once that is known. */
static void decode_epsilon(const struct codec_node *top, struct codec_copy_plan *request)
{
    struct codec_node epsilon = codec_member(top, "epsilon");
    const char *word = json_string_value(epsilon.json);
    request->epsilon_is_auto = epsilon.json == NULL || (word != NULL && strcmp(word, "auto") == 0);
    if (request->epsilon_is_auto)
        return;
    if (word != NULL)
        codec_fault(&epsilon, "not_allowed", "must be \"auto\", or a number above 0 and at most 1");
    else
        request->terms.insurance.epsilon = codec_number(top, "epsilon", CODEC_ABOVE, 0, 1);
}

static void decode_pingan(const struct codec_node *top, struct codec_copy_plan *request)
{
    static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli", NULL};
    static const enum insurance_aim aims[][2] = {{INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY},
                                                 {INSURANCE_RELIABILITY, INSURANCE_EFFICIENCY},
                                                 {INSURANCE_EFFICIENCY, INSURANCE_EFFICIENCY},
                                                 {INSURANCE_RELIABILITY, INSURANCE_RELIABILITY}};
    static const char *const allocations[] = {"efa", "jga", NULL};
    struct insurance_terms *terms = &request->terms.insurance;
    decode_epsilon(top, request);
    int64_t rounds = codec_integer(top, "max_rounds", CODEC_OPTIONAL, 1, ROUNDS_MAX);
    if (rounds != RUN_UNKNOWN)
        terms->max_rounds = rounds;
    size_t principle = codec_choice(top, "principle", CODEC_OPTIONAL, principles, 0);
    terms->first = aims[principle][0];
    terms->second = aims[principle][1];
    terms->job_by_job = codec_choice(top, "allocation", CODEC_OPTIONAL, allocations, 0) == 1;
}

/* What says how PingAn insures means nothing to the others. */
static void refuse_pingan(const struct codec_node *top, enum geo_algorithm algorithm)
{
    static const char *const own[] = {"epsilon", "max_rounds", "principle", "allocation", NULL};
    for (size_t i = 0; own[i] != NULL; i++) {
        struct codec_node member = codec_member(top, own[i]);
        if (json_is_null(member.json))
            codec_fault(&member, "wrong_type", "must not be null");
        else if (member.json != NULL)
            codec_fault(&member, "conflict", "%s has none: it is a term of pingan",
                        geo_algorithm_name(algorithm));
    }
}

static void decode_terms(const struct codec_node *top, struct codec_copy_plan *request)
{
    static const char *const sources[] = {"used", "all", NULL};
    enum geo_algorithm algorithm = codec_geo_algorithm_decode(top, "algorithm", CODEC_OPTIONAL);
    request->terms = geo_terms_usual(algorithm);
    if (algorithm == GEO_PINGAN)
        decode_pingan(top, request);
    else
        refuse_pingan(top, algorithm);
    codec_geo_terms_decode(top, &request->terms);
    request->problem.slot_s =
        codec_number(top, "slot_s", CODEC_OPTIONAL | CODEC_ABOVE, 0, SECONDS_MAX);
    request->all_sources = codec_choice(top, "sources", CODEC_OPTIONAL, sources, 0) == 1;
}

void codec_copy_plan_decode(const struct codec_node *node,
                            const struct codec_copy_plan_limits *limits,
                            struct codec_copy_plan *request)
{
    static const char *const known[] = {
        "algorithm", "epsilon",    "slot_s", "max_rounds", "clusters", "bandwidth", "jobs",
        "principle", "allocation", "mantri", "dolly",      "spark",    "sources",   NULL};
    *request = (struct codec_copy_plan){0};
    struct copy_plan_decoding d = {
        .limits = limits, .request = request, .arena = node->reader->arena};
    codec_refuse_unknown(node, known);
    decode_terms(node, request);
    copy_plan_decode_clusters(&d, node);
    if (request->problem.clusters == NULL)
        return;
    copy_plan_decode_links(&d, node);
    copy_plan_decode_jobs(&d, node);
}
