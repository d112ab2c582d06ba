#include "codec/geo/copy_plan.h"

#include "codec/geo/copy_plan_internal.h"
#include "codec/geo/planner_parameters.h"

static void decode_parameters(const struct codec_node *top, struct codec_copy_plan *request)
{
    static const char *const sources[] = {"effective", "all", NULL};
    request->parameters =
        geo_parameters_default(codec_geo_planner_decode(top, "algorithm", CODEC_OPTIONAL));
    codec_geo_parameters_decode(top, &request->parameters);
    request->problem.slot_s =
        codec_number(top, "slot_s", CODEC_OPTIONAL | CODEC_ABOVE, 0, CODEC_SLOT_S_MAX);
    request->all_sources = codec_choice(top, "sources_listed", CODEC_OPTIONAL, sources, 0) == 1;
}

void codec_copy_plan_decode(const struct codec_node *node,
                            const struct codec_copy_plan_limits *limits,
                            struct codec_copy_plan *request)
{
    static const char *const known[] = {"algorithm", "slot_s",         "clusters", "bandwidth",
                                        "jobs",      "sources_listed", NULL};
    *request = (struct codec_copy_plan){0};
    struct copy_plan_decoding d = {
        .limits = limits, .request = request, .arena = node->reader->arena};
    codec_geo_refuse_unknown(node, known);
    decode_parameters(node, request);
    copy_plan_decode_clusters(&d, node);
    if (request->problem.clusters == NULL)
        return;
    copy_plan_decode_links(&d, node);
    copy_plan_decode_jobs(&d, node);
}
