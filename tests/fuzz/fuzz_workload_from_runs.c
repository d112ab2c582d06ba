/*
 * Any bytes as the JSON body of POST /v1/workloads. Refused bodies say where they are wrong; one that
 * is taken names 1 to CODEC_WORKLOAD_APPLICATIONS_MAX applications, no two alike, and a window that
 * has a length.
 */
#include "codec/workloads/workload.h"
#include "fuzz_body.h"

static void require_names(const struct codec_workload_from_runs *asked)
{
    FUZZ_REQUIRE(asked->n_applications >= 1);
    FUZZ_REQUIRE(asked->n_applications <= CODEC_WORKLOAD_APPLICATIONS_MAX);
    for (size_t i = 0; i < asked->n_applications; i++) {
        FUZZ_REQUIRE(codec_is_name(asked->applications[i]));
        FUZZ_REQUIRE(asked->applications[i].n <= WORKLOAD_NAME_MAX);
        for (size_t k = 0; k < i; k++)
            FUZZ_REQUIRE(!strview_equal(asked->applications[i], asked->applications[k]));
    }
}

void fuzz_body(const struct codec_node *top)
{
    struct codec_workload_from_runs asked;
    codec_workload_from_runs_decode(top, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    require_names(&asked);
    FUZZ_REQUIRE(asked.since_us == RUN_NO_INSTANT || asked.until_us == RUN_NO_INSTANT ||
                 asked.since_us < asked.until_us);
    FUZZ_REQUIRE(asked.name.at == NULL || codec_is_name(asked.name));
}
