/*
 * Any bytes as the body of POST /v1/copy-plans. Refused bodies say where they are wrong; a plan
 * grants no more copies than there are idle slots, takes no more of a gate than it lets through,
 * has every task once, with a copy or waiting, and is a JSON reply. Bodies that leave something to
 * registered clusters are decoded and no more.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "codec/geo/copy_plan.h"
#include "core/geo/plan_make.h"
#include "fuzz_body.h"

enum { CLUSTERS_MAX = 6, JOBS_MAX = 4, TASKS_MAX = 16 };

static const struct codec_copy_plan_limits limits = {
    .clusters = CLUSTERS_MAX, .jobs = JOBS_MAX, .tasks = TASKS_MAX, .points = 8};

static void require_room(const struct geo_problem *problem, const struct geo_plan *plan)
{
    int64_t granted[CLUSTERS_MAX] = {0};
    for (size_t i = 0; i < plan->n_copies; i++) {
        FUZZ_REQUIRE(plan->copies[i].cluster < problem->n_clusters);
        FUZZ_REQUIRE(plan->copies[i].rate_bytes_per_s > 0 && plan->copies[i].duration_s > 0);
        granted[plan->copies[i].cluster]++;
    }
    for (size_t m = 0; m < problem->n_clusters; m++) {
        const struct geo_cluster *cluster = &problem->clusters[m];
        const struct geo_plan_use *use = &plan->use[m];
        /* Slots of copies that are to be ended are idle afterwards. */
        int64_t ended = 0;
        for (size_t i = 0; i < plan->n_cancellations; i++)
            ended += plan->cancellations[i].cluster == m;
        FUZZ_REQUIRE(use->slots == granted[m]);
        FUZZ_REQUIRE(granted[m] <= cluster->slots - cluster->busy_slots + ended);
        FUZZ_REQUIRE(use->ingress_bytes_per_s <= cluster->ingress_bytes_per_s * (1 + 1e-9));
        FUZZ_REQUIRE(use->egress_bytes_per_s <= cluster->egress_bytes_per_s * (1 + 1e-9));
    }
}

static void require_each_once(const struct geo_problem *problem, const struct geo_plan *plan)
{
    size_t seen[JOBS_MAX][TASKS_MAX];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < plan->n_tasks; i++) {
        FUZZ_REQUIRE(plan->tasks[i].n_clusters > 0);
        seen[plan->tasks[i].job][plan->tasks[i].task]++;
    }
    for (size_t i = 0; i < plan->n_waiting; i++)
        seen[plan->waiting[i].job][plan->waiting[i].task]++;
    for (size_t j = 0; j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            FUZZ_REQUIRE(seen[j][t] == 1);
}

static void
require_reply(const struct codec_copy_plan *asked, const struct geo_plan *plan, struct arena *arena)
{
    struct writer w;
    writer_init(&w, arena);
    codec_copy_plan_encode(&w, asked, plan);
    size_t n;
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

static void plan(struct codec_copy_plan *asked, struct arena *arena)
{
    struct geo_plan plan;
    struct pv_error err = {0};
    if (isnan(asked->problem.slot_s)) /* as the service has it */
        asked->problem.slot_s = 1;
    asked->load = geo_system_load_measure(&asked->problem);
    asked->epsilon_is_auto = geo_parameters_are_automatic(&asked->parameters);
    geo_parameters_resolve(&asked->parameters, &asked->problem);
    if (geo_plan_make(&asked->problem, &asked->parameters, NULL, NULL, arena, &plan, &err) !=
        PV_OK) {
        FUZZ_REQUIRE(err.code == PV_E_INVALID && err.n_faults > 0);
        return;
    }
    require_room(&asked->problem, &plan);
    require_each_once(&asked->problem, &plan);
    require_reply(asked, &plan, arena);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_copy_plan asked;
    codec_copy_plan_decode(top, &limits, &asked);
    bool taken = fuzz_body_is_taken(top);
    if (taken && asked.n_registered == 0)
        plan(&asked, arena);
}
