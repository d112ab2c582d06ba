/*
 * Any bytes as the body of POST /v1/feasibility. Refused bodies say where they are wrong; a body
 * that is taken has a schedule that keeps the rules: every task once, one task a core at a time, no
 * task before its job's release or its stage's parents, the same instants with and without an
 * observer; its remedies hold, and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "codec/deadlines/feasibility.h"
#include "fuzz_body.h"

enum { TASKS_MAX = 300, CORES_MAX = 64, JOBS_MAX = 8 };

static const struct codec_job_set_limits limits = {
    .jobs = JOBS_MAX, .stages = 8, .tasks = TASKS_MAX, .cores = CORES_MAX};

struct placed {
    struct edf_placement rows[TASKS_MAX];
    size_t n;
};

static bool keep(void *context, const struct edf_placement *placement)
{
    struct placed *placed = context;
    FUZZ_REQUIRE(placed->n < TASKS_MAX);
    placed->rows[placed->n++] = *placement;
    return true;
}

/* In order of start, so a core's last task is the one to compare with. */
static void require_capacity(const struct codec_feasibility *asked, const struct placed *placed)
{
    double busy_until[CORES_MAX];
    for (size_t c = 0; c < CORES_MAX; c++)
        busy_until[c] = -INFINITY;
    for (size_t i = 0; i < placed->n; i++) {
        const struct edf_placement *row = &placed->rows[i];
        FUZZ_REQUIRE(row->core < asked->set.cores);
        FUZZ_REQUIRE(row->start_s >= busy_until[row->core]);
        FUZZ_REQUIRE(row->end_s >= row->start_s);
        FUZZ_REQUIRE(row->start_s >= asked->set.jobs[row->job].release_s);
        FUZZ_REQUIRE(i == 0 || row->start_s >= placed->rows[i - 1].start_s);
        busy_until[row->core] = row->end_s;
    }
    FUZZ_REQUIRE(placed->n == codec_job_set_tasks(&asked->set));
}

static void require_precedence(const struct codec_feasibility *asked, const struct placed *placed)
{
    for (size_t i = 0; i < placed->n; i++) {
        const struct edf_placement *child = &placed->rows[i];
        const struct edf_stage *stage = &asked->set.jobs[child->job].stages[child->stage];
        for (size_t k = 0; k < placed->n; k++) {
            const struct edf_placement *row = &placed->rows[k];
            for (size_t p = 0; row->job == child->job && p < stage->n_parents; p++)
                FUZZ_REQUIRE(stage->parents[p] != row->stage || row->end_s <= child->start_s);
            FUZZ_REQUIRE(i == k || row->job != child->job || row->stage != child->stage ||
                         row->task != child->task);
        }
    }
}

/* What the jobs that were launched by then, and had not ended, hold at any launch. */
static void require_memory(const struct codec_feasibility *asked,
                           const struct edf_outcome outcomes[])
{
    for (size_t i = 0; asked->memory != NULL && i < asked->set.n_jobs; i++) {
        int64_t free_bytes = asked->memory->bytes;
        FUZZ_REQUIRE(outcomes[i].launched_s >= asked->set.jobs[i].release_s);
        for (size_t k = 0; k < asked->set.n_jobs; k++)
            if (outcomes[k].launched_s <= outcomes[i].launched_s &&
                outcomes[i].launched_s < outcomes[k].completion_s)
                free_bytes -= asked->set.jobs[k].memory_bytes;
        FUZZ_REQUIRE(free_bytes >= 0);
    }
}

static size_t late(const struct codec_feasibility *asked, size_t cores, struct arena *scratch)
{
    struct edf_outcome outcomes[JOBS_MAX];
    struct edf_metrics metrics;
    FUZZ_REQUIRE(edf_schedule(asked->set.jobs, asked->set.n_jobs, cores, scratch, outcomes,
                              &metrics, NULL, NULL) == PV_OK);
    return metrics.delayed;
}

static void require_remedies(struct codec_feasibility *asked,
                             const struct edf_remedies *remedies,
                             struct arena *scratch)
{
    if (remedies->has_min_total_cores) {
        FUZZ_REQUIRE(late(asked, remedies->min_total_cores, scratch) == 0);
        for (size_t cores = 1; cores < remedies->min_total_cores && cores < 6; cores++)
            FUZZ_REQUIRE(late(asked, cores, scratch) > 0);
    } else if (remedies->exact) {
        FUZZ_REQUIRE(late(asked, TASKS_MAX, scratch) > 0);
    }
    for (size_t j = 0; j < asked->set.n_jobs; j++)
        if (!isnan(remedies->deadlines_s[j]))
            asked->set.jobs[j].deadline_s = remedies->deadlines_s[j];
    FUZZ_REQUIRE(late(asked, asked->set.cores, scratch) == 0);
}

/* How many are late once these have later deadlines or releases. */
static size_t late_with(const struct codec_feasibility *asked,
                        const struct edf_change changes[],
                        size_t n,
                        struct arena *scratch)
{
    struct edf_job before[JOBS_MAX];
    struct codec_feasibility changed = *asked;
    memcpy(before, asked->set.jobs, asked->set.n_jobs * sizeof *before);
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(changes[i].later_s >= 0);
        changed.set.jobs[changes[i].job].release_s = changes[i].release_s;
        changed.set.jobs[changes[i].job].deadline_s = changes[i].deadline_s;
    }
    size_t count = late(&changed, changed.set.cores, scratch);
    memcpy(asked->set.jobs, before, asked->set.n_jobs * sizeof *before);
    return count;
}

static size_t late_without(const struct codec_feasibility *asked,
                           const struct edf_left_out *left_out,
                           struct arena *scratch)
{
    struct edf_job kept[JOBS_MAX];
    struct codec_feasibility changed = *asked;
    changed.set.jobs = kept;
    changed.set.n_jobs = 0;
    for (size_t j = 0, i = 0; j < asked->set.n_jobs; j++) {
        if (i < left_out->n && left_out->jobs[i] == j)
            i++;
        else
            kept[changed.set.n_jobs++] = asked->set.jobs[j];
    }
    return changed.set.n_jobs == 0 ? 0 : late(&changed, changed.set.cores, scratch);
}

static void require_changes(const struct codec_feasibility *asked,
                            const struct edf_changes *changes,
                            struct arena *scratch)
{
    const struct edf_change_list *alone[] = {&changes->one_later_deadline,
                                             &changes->one_later_release};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < alone[k]->n; i++)
            FUZZ_REQUIRE(late_with(asked, &alone[k]->items[i], 1, scratch) == 0);
    FUZZ_REQUIRE(
        late_with(asked, changes->later_deadlines.items, changes->later_deadlines.n, scratch) == 0);
    if (changes->later_releases.n > 0)
        FUZZ_REQUIRE(late_with(asked, changes->later_releases.items, changes->later_releases.n,
                               scratch) == 0);
    if (changes->left_out.n > 0 || changes->left_out.exact)
        FUZZ_REQUIRE(late_without(asked, &changes->left_out, scratch) == 0);
}

static void require_reply(const struct codec_feasibility *asked,
                          const struct codec_feasibility_answer *answer,
                          struct arena *arena)
{
    struct writer w;
    writer_init(&w, arena);
    writer_begin_object(&w);
    codec_feasibility_encode(&w, asked, answer);
    writer_end_object(&w);
    size_t n;
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

static void require_lawful(struct codec_feasibility *asked, struct arena *arena)
{
    static struct placed placed;
    struct arena scratch;
    arena_init(&scratch, 0);
    struct edf_outcome outcomes[JOBS_MAX];
    struct edf_outcome quick[JOBS_MAX];
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct edf_changes changes;
    struct edf_job_delays delays[JOBS_MAX];
    const struct edf_observer observer = {keep, &placed};
    placed.n = 0;
    FUZZ_REQUIRE(edf_schedule(asked->set.jobs, asked->set.n_jobs, asked->set.cores, &scratch,
                              outcomes, &metrics, &observer, NULL) == PV_OK);
    FUZZ_REQUIRE(edf_schedule(asked->set.jobs, asked->set.n_jobs, asked->set.cores, &scratch, quick,
                              NULL, NULL, NULL) == PV_OK);
    for (size_t j = 0; j < asked->set.n_jobs; j++)
        FUZZ_REQUIRE(outcomes[j].completion_s == quick[j].completion_s);
    require_capacity(asked, &placed);
    require_precedence(asked, &placed);
    require_memory(asked, outcomes);
    FUZZ_REQUIRE(edf_find_remedies(asked->set.jobs, asked->set.n_jobs, asked->set.cores, 20000,
                                   arena, &scratch, &remedies, NULL) == PV_OK);
    FUZZ_REQUIRE(edf_find_changes(asked->set.jobs, asked->set.n_jobs, asked->set.cores,
                                  remedies.deadlines_s, 5000, arena, &scratch, &changes,
                                  NULL) == PV_OK);
    FUZZ_REQUIRE(edf_find_delays(asked->set.jobs, asked->set.n_jobs, asked->set.cores, outcomes,
                                 arena, &scratch, delays, NULL) == PV_OK);
    const struct codec_feasibility_answer answer = {outcomes, &metrics, &remedies, &changes,
                                                    delays};
    require_reply(asked, &answer, arena);
    require_changes(asked, &changes, &scratch);
    require_remedies(asked, &remedies, &scratch);
    arena_fini(&scratch);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_feasibility asked;
    codec_feasibility_decode(top, &limits, &asked);
    bool inline_only = fuzz_body_is_taken(top);
    for (size_t i = 0; inline_only && i < asked.set.n_jobs; i++)
        inline_only = asked.set.sources[i].application.at == NULL;
    FUZZ_REQUIRE(!inline_only || (asked.set.cores > 0) == (asked.set.cluster.at == NULL));
    if (inline_only && asked.set.cluster.at != NULL) /* as the one that is named would tell */
        asked.set.cores = 3;
    if (inline_only && codec_feasibility_take_memory(&asked, NULL) == PV_OK)
        require_lawful(&asked, arena);
}
