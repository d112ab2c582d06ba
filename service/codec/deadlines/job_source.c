#include "codec/deadlines/job_source.h"

#include <math.h>

bool codec_job_source_decode(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             void (*check)(const struct codec_node *stage),
                             struct strview *application,
                             double *problem_size,
                             struct run *run)
{
    *application = codec_name(node, "application", CODEC_OPTIONAL);
    *problem_size = codec_number(node, "problem_size", CODEC_OPTIONAL, CODEC_PROBLEM_SIZE_MIN,
                                 CODEC_PROBLEM_SIZE_MAX);
    if (json_value_member(node->json, "application") != NULL) {
        if (json_value_member(node->json, "stages") != NULL)
            codec_fault_member(node, "application", "conflict",
                               "must be left out where stages are given");
        return false;
    }
    if (!isnan(*problem_size))
        codec_fault_member(node, "problem_size", "conflict",
                           "is allowed only with application, not with stages");
    struct codec_node list = codec_array(node, "stages", CODEC_REQUIRED, 1, (size_t)limits->stages);
    size_t faults = node->reader->err->n_faults;
    for (size_t i = 0; i < json_value_items(list.json); i++) {
        struct codec_node stage = codec_item(&list, i);
        if (codec_expect_object(&stage))
            check(&stage);
    }
    *run = (struct run){.duration_s = (double)NAN};
    if (list.json != NULL && node->reader->err->n_faults == faults)
        codec_stages_decode(&list, limits, run);
    return run->has_stages && node->reader->err->n_faults == faults;
}
