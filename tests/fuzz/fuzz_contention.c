/*
 * Any bytes as the body of POST /v1/contention. Refused bodies say where they are wrong; shares are
 * numbers, none below 0, together no more than there are cores, and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>

#include "codec/deadlines/contention.h"
#include "core/deadline/explain.h"
#include "fuzz_body.h"

enum { APPLICATIONS_MAX = 32 };

static const struct codec_contention_limits limits = {.applications = APPLICATIONS_MAX,
                                                      .cores = 1e6};

static void require_shares(const struct codec_contention *asked,
                           const struct contention_share shares[],
                           const struct contention_outcome *outcome)
{
    double saturating = 0;
    double cores = 0;
    for (size_t i = 0; i < asked->n; i++) {
        FUZZ_REQUIRE(shares[i].saturating_cores >= 0 && shares[i].cores >= 0);
        FUZZ_REQUIRE(isnan(shares[i].weight) ||
                     (shares[i].weight >= 0 && isfinite(shares[i].weight)));
        FUZZ_REQUIRE(!outcome->contention || shares[i].cores == shares[i].saturating_cores);
        saturating += shares[i].saturating_cores;
        cores += shares[i].cores;
    }
    double most = asked->terms.max_cores * (1 + 1e-9);
    FUZZ_REQUIRE(saturating <= most && cores <= most);
    FUZZ_REQUIRE(outcome->requested_cores > 0 || cores == 0);
}

static void require_lawful(const struct codec_contention *asked, struct arena *arena)
{
    struct contention_share shares[APPLICATIONS_MAX];
    struct contention_outcome outcome;
    FUZZ_REQUIRE(contention_resolve(asked->strategy, &asked->terms, asked->applications, asked->n,
                                    arena, shares, &outcome, NULL) == PV_OK);
    require_shares(asked, shares, &outcome);
    struct writer w;
    writer_init(&w, arena);
    struct findings reasons = {.arena = arena};
    contention_explain(asked->strategy, &asked->terms, &outcome, &reasons);
    codec_contention_encode(&w, asked, shares, &outcome, &reasons);
    size_t n;
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_contention asked;
    codec_contention_decode(top, &limits, &asked);
    bool taken = fuzz_body_is_taken(top);
    FUZZ_REQUIRE(!taken || asked.cluster.name.at != NULL || asked.cluster.sized != NULL ||
                 !isnan(asked.terms.max_cores));
    if (isnan(asked.terms.max_cores)) /* as the cluster that is named would tell */
        asked.terms.max_cores = 12;
    if (taken)
        require_lawful(&asked, arena);
}
