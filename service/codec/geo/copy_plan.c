#include "codec/geo/copy_plan.h"

#include "codec/geo/copy_plan_internal.h"
#include "codec/geo/pingan.h"
#include "codec/geo/planner_parameters.h"

static const double SECONDS_MAX = 1e12;

static void decode_terms(const struct codec_node *top, struct codec_copy_plan *request)
{
    static const char *const sources[] = {"effective", "all", NULL};
    enum geo_algorithm algorithm = codec_geo_algorithm_decode(top, "algorithm", CODEC_OPTIONAL);
    request->terms = geo_terms_usual(algorithm);
    if (algorithm == GEO_PINGAN)
        request->epsilon_is_auto = codec_insurance_decode(top, &request->terms.insurance);
    else
        codec_insurance_refuse(top, algorithm);
    codec_geo_terms_decode(top, &request->terms);
    request->problem.slot_s =
        codec_number(top, "slot_s", CODEC_OPTIONAL | CODEC_ABOVE, 0, SECONDS_MAX);
    request->all_sources = codec_choice(top, "sources_listed", CODEC_OPTIONAL, sources, 0) == 1;
}

void codec_copy_plan_decode(const struct codec_node *node,
                            const struct codec_copy_plan_limits *limits,
                            struct codec_copy_plan *request)
{
    static const char *const known[] = {
        "algorithm", "epsilon",    "slot_s", "max_rounds", "clusters", "bandwidth",      "jobs",
        "principle", "allocation", "mantri", "dolly",      "spark",    "sources_listed", NULL};
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
