#include "codec/scheduling/policy_comparison.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/json/names.h"

/* Loads are shares of the capacity: below, arrivals are so far apart that nothing waits; above,
 * all jobs are as good as there at once. */
#define LOAD_MIN 1e-6
#define LOAD_MAX 1000

/* The last of the drawn arrivals comes at some multiple of the time that is expected. */
#define ARRIVALS_SPREAD 16
/* Of the length of a simulation; less is lost when doubles are added up. */
#define RESOLUTION 1e-13

enum { MEMBERS_MAX = 24 };

/* What a simulation keeps of each job of a workload beside the job: its place in order of arrival,
 * how long it takes alone, or its mean and longest task; its sizes for a
 * search; and what sorting takes. */
enum { BYTES_BESIDE_A_JOB = 80 };

const char *const codec_comparison_includes[] = {"jobs", "queues", "distributions", NULL};
const char *const codec_comparison_objectives[] = {[POLICY_SLOWDOWN_P50] = "p50",
                                                   [POLICY_SLOWDOWN_P90] = "p90",
                                                   [POLICY_SLOWDOWN_P95] = "p95",
                                                   [POLICY_SLOWDOWN_P99] = "p99",
                                                   [POLICY_VARIABILITY] = "variability",
                                                   [POLICY_MAKESPAN] = "makespan",
                                                   NULL};

void codec_comparison_begin(struct codec_comparison *common)
{
    *common = (struct codec_comparison){
        .baseline = SIZE_MAX, .repetitions = 1, .seed = 1, .objective = POLICY_SLOWDOWN_P95};
}

/* --- policies --- */

/* A policy that is unknown may have any term that another one has. */
static void refuse_other_terms(const struct codec_node *node,
                               const struct codec_policy_table *table,
                               const char *beside,
                               size_t word)
{
    const char *known[MEMBERS_MAX] = {"policy"};
    size_t n = 1;
    assert(table->n_terms + 3 < MEMBERS_MAX);
    if (beside != NULL)
        known[n++] = beside;
    for (size_t t = 0; t < table->n_terms; t++)
        if (word == table->n || (table->terms_of[word] & 1U << t) != 0)
            known[n++] = table->terms[t].name;
    codec_refuse_unknown(node, known);
}

static size_t decode_word(const struct codec_node *node, const struct codec_policy_table *table)
{
    const char *words[COMPARISON_POLICIES_MAX + 1] = {NULL};
    assert(table->n <= COMPARISON_POLICIES_MAX);
    for (size_t i = 0; i < table->n; i++)
        words[i] = table->name(i);
    return codec_choice(node, "policy", CODEC_REQUIRED, words, table->n);
}

size_t codec_policy_decode(const struct codec_node *node,
                           const struct codec_policy_table *table,
                           const char *beside,
                           const struct codec_comparison_limits *limits,
                           void *request,
                           size_t i)
{
    size_t word = decode_word(node, table);
    refuse_other_terms(node, table, beside, word);
    if (word == table->n)
        return word;
    void *terms = table->begin(request, i, word);
    for (size_t t = 0; t < table->n_terms; t++)
        if ((table->terms_of[word] & 1U << t) != 0 && table->terms[t].decode != NULL)
            table->terms[t].decode(node, limits, terms);
    return word;
}

void codec_policy_encode_terms(struct writer *w,
                               const struct codec_policy_table *table,
                               size_t word,
                               const void *terms)
{
    writer_member_string(w, "policy", table->name(word));
    for (size_t t = 0; t < table->n_terms; t++)
        if ((table->terms_of[word] & 1U << t) != 0 && table->terms[t].encode != NULL)
            table->terms[t].encode(w, terms);
}

static void decode_policy(const struct codec_node *node,
                          const struct codec_policy_table *table,
                          const struct codec_comparison_limits *limits,
                          void *request,
                          size_t i)
{
    struct codec_comparison *common = request;
    size_t faults = node->reader->err->n_faults;
    if (!codec_expect_object(node))
        return;
    common->names[i] = codec_name(node, "name", CODEC_OPTIONAL);
    bool unnamed = common->names[i].at == NULL && node->reader->err->n_faults == faults;
    size_t word = codec_policy_decode(node, table, "name", limits, request, i);
    if (word == table->n)
        return;
    common->words[i] = (unsigned)word;
    if (unnamed)
        common->names[i] = strview_of(table->name(word));
}

void codec_policies_decode(const struct codec_node *top,
                           const struct codec_policy_table *table,
                           const struct codec_comparison_limits *limits,
                           void *request)
{
    struct codec_comparison *common = request;
    struct codec_node list =
        codec_array(top, "policies", CODEC_REQUIRED, 1, COMPARISON_POLICIES_MAX);
    if (list.json == NULL)
        return;
    common->n_policies = json_value_items(list.json);
    for (size_t i = 0; i < common->n_policies; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_policy(&item, table, limits, request, i);
    }
    codec_refuse_same_names(&list, common->names, common->n_policies,
                            "another policy has this name: give one of them another `name`");
}

void codec_policies_encode(struct writer *w,
                           const struct codec_policy_table *table,
                           const void *request)
{
    const struct codec_comparison *common = request;
    writer_member_array(w, "policies");
    for (size_t i = 0; i < common->n_policies; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", common->names[i]);
        codec_policy_encode_terms(w, table, common->words[i], table->at(request, i));
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* --- other members --- */

/* An object is what simulations of kind `geo` have there. */
void codec_comparison_decode_workload(const struct codec_node *node,
                                      const void *limits,
                                      void *request)
{
    struct codec_comparison *common = request;
    struct codec_node workload = codec_member(node, "workload");
    (void)limits;
    if (json_value_is_object(workload.json))
        codec_fault_member(
            node, "workload", "unknown_field",
            "a workload that is described belongs to simulations of kind geo; here it "
            "is the id of a stored one");
    else
        codec_uuid(node, "workload", CODEC_OPTIONAL, common->workload);
}

bool codec_comparison_find_workload(const struct codec_node *top, char id[37])
{
    struct codec_node workload = codec_member(top, "workload");
    id[0] = '\0';
    if (json_value_is_text(workload.json))
        codec_uuid(top, "workload", CODEC_OPTIONAL, id);
    return id[0] != '\0';
}

void codec_comparison_encode_workload(struct writer *w, const void *request, const void *context)
{
    const struct codec_comparison *common = request;
    (void)context;
    if (common->workload[0] != '\0')
        writer_member_string(w, "workload", common->workload);
}

void codec_comparison_check_source(const struct codec_node *top)
{
    bool jobs = codec_member(top, "jobs").json != NULL;
    bool workload = codec_member(top, "workload").json != NULL;
    if (jobs && workload)
        codec_fault_member(
            top, "workload", "conflict",
            "must not be given together with jobs: give the jobs, or the workload that has them");
    if (!jobs && !workload)
        codec_fault_member(top, "jobs", "required", "is required when there is no workload");
}

void codec_comparison_decode_baseline(const struct codec_node *node,
                                      const void *limits,
                                      void *request)
{
    struct codec_comparison *common = request;
    struct strview name = codec_name(node, "baseline", CODEC_OPTIONAL);
    (void)limits;
    for (size_t i = 0; name.at != NULL && i < common->n_policies; i++)
        if (strview_equal(common->names[i], name))
            common->baseline = i;
    if (name.at != NULL && common->baseline == SIZE_MAX)
        codec_fault_member(node, "baseline", "unknown_policy",
                           "must be the name of a policy of the request");
}

void codec_comparison_encode_baseline(struct writer *w, const void *request, const void *context)
{
    const struct codec_comparison *common = request;
    (void)context;
    if (common->baseline != SIZE_MAX)
        writer_member_text(w, "baseline", common->names[common->baseline]);
}

void codec_comparison_decode_loads(const struct codec_node *node, const void *limits, void *request)
{
    struct codec_comparison *common = request;
    double *loads = common->loads;
    (void)limits;
    struct codec_node list = codec_array(node, "loads", CODEC_OPTIONAL, 1, COMPARISON_LOADS_MAX);
    if (list.json == NULL)
        return;
    common->n_loads = json_value_items(list.json);
    for (size_t i = 0; i < common->n_loads; i++) {
        struct codec_node item = codec_item(&list, i);
        loads[i] = codec_as_number(&item, CODEC_REQUIRED, LOAD_MIN, LOAD_MAX);
        for (size_t k = 0; k < i; k++)
            if (loads[k] == loads[i])
                codec_fault(&item, "duplicate", "this load was given before");
    }
}

void codec_comparison_encode_loads(struct writer *w, const void *request, const void *context)
{
    const struct codec_comparison *common = request;
    (void)context;
    if (common->n_loads > 0)
        writer_member_numbers(w, "loads", common->loads, common->n_loads);
}

/* --- how much it is --- */

struct policy_comparison codec_comparison_plan(const struct codec_comparison *common,
                                               const bool draws[])
{
    return (struct policy_comparison){.n_policies = codec_comparison_entries(common),
                                      .draws = draws,
                                      .loads = common->loads,
                                      .n_loads = common->n_loads,
                                      .repetitions = common->repetitions,
                                      .seed = (uint64_t)common->seed};
}

static size_t loads_of(const struct codec_comparison *common)
{
    return common->n_loads > 0 ? common->n_loads : 1;
}

/* The member to make smaller is one that was made larger. */
static const char *largest_member(const struct codec_comparison *common)
{
    return common->repetitions > 1  ? "repetitions"
           : common->n_loads > 1    ? "loads"
           : common->n_policies > 1 ? "policies"
                                    : codec_comparison_source(common);
}

static void check_runs(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       const struct codec_comparison *common,
                       const struct codec_comparison_size *size)
{
    double runs = (double)common->repetitions * (double)loads_of(common);
    double task_runs = runs * size->probed;
    size_t entries = codec_comparison_entries(common);
    if (runs * (double)entries > (double)limits->runs)
        codec_fault_member(top, largest_member(common), "out_of_range",
                           "policies x loads x repetitions may be %zu (simulation_runs_max), they "
                           "are %zu x %zu x %zu",
                           limits->runs, entries, loads_of(common), common->repetitions);
    else if (task_runs > (double)limits->task_runs)
        codec_fault_member(
            top, largest_member(common), "out_of_range",
            "the tasks of all simulations together, with all that counts for tasks, are %.0f; "
            "%zu are allowed (simulation_job_task_runs_max)",
            task_runs, limits->task_runs);
}

static void check_rows(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       const struct codec_comparison *common,
                       const struct codec_comparison_size *size)
{
    double rows =
        (double)size->jobs * (double)codec_comparison_entries(common) * (double)loads_of(common);
    if ((common->include & COMPARISON_INCLUDE_JOBS) != 0 && rows > (double)limits->job_rows)
        codec_fault_member(top, "include", "too_large",
                           "jobs x policies x loads are %.0f, at most %zu of them can be included "
                           "(simulation_job_rows_max)",
                           rows, limits->job_rows);
}

double codec_comparison_longest_s(const struct codec_comparison *common,
                                  const struct codec_comparison_size *size)
{
    double longest_s = size->last_s;
    for (size_t i = 0; i < common->n_loads; i++)
        longest_s =
            fmax(longest_s, ARRIVALS_SPREAD * size->work_s / (common->loads[i] * size->slots));
    return longest_s + size->work_s;
}

/* Arrivals and durations are added up in doubles. */
enum { TOO_SHORT_ROOM = 184 };

static void describe_too_short(double shortest_s, double longest_s, char text[TOO_SHORT_ROOM])
{
    (void)snprintf(text, TOO_SHORT_ROOM,
                   "the shortest task takes %s, too short to be told from nothing after up to %s",
                   quantity_duration(shortest_s).text, quantity_duration(longest_s).text);
}

static void check_resolution(const struct codec_node *top,
                             const struct codec_comparison *common,
                             const struct codec_comparison_size *size)
{
    double longest_s = codec_comparison_longest_s(common, size);
    char text[TOO_SHORT_ROOM];
    describe_too_short(size->shortest_s, longest_s, text);
    if (size->shortest_s < RESOLUTION * longest_s)
        codec_fault_member(top, "jobs", "out_of_range", "%s", text);
}

enum pv_code codec_comparison_check_loaded(const struct codec_comparison *common,
                                           const struct codec_comparison_size *size,
                                           struct pv_error *err)
{
    double longest_s = codec_comparison_longest_s(common, size);
    char text[TOO_SHORT_ROOM];
    describe_too_short(size->shortest_s, longest_s, text);
    if (size->shortest_s < RESOLUTION * longest_s)
        return pv_fail(err, PV_E_INVALID, "the workload: %s", text);
    return PV_OK;
}

size_t codec_comparison_load_bytes(const struct workload_summary *workload,
                                   const struct workload_load_terms *terms)
{
    double bytes =
        (double)workload_load_bytes(workload, terms) + (double)workload->jobs * BYTES_BESIDE_A_JOB;
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX;
}

static void check_memory(const struct codec_node *top,
                         const struct codec_comparison_limits *limits,
                         const struct codec_comparison *common,
                         const struct codec_comparison_size *size)
{
    struct codec_node list = codec_member(top, "policies");
    struct codec_node item = codec_item(&list, size->memory_policy);
    double needed = (double)size->memory_bytes + (double)size->load_bytes;
    const struct quantity_text allowed = quantity_bytes((double)limits->memory_bytes);
    if (size->load_bytes > limits->memory_bytes) {
        codec_fault_member(top, codec_comparison_source(common), "too_large",
                           "its jobs take %s of memory, %s are allowed "
                           "(simulation_memory_bytes_max)",
                           quantity_bytes((double)size->load_bytes).text, allowed.text);
    } else if (size->memory_bytes > limits->memory_bytes - size->load_bytes) {
        codec_fault(&item, "too_large",
                    "its simulation may take %s of memory%s, %s are allowed "
                    "(simulation_memory_bytes_max)",
                    quantity_bytes(needed).text,
                    size->load_bytes > 0 ? ", the jobs of the workload included" : "",
                    allowed.text);
    }
}

void codec_comparison_check(const struct codec_node *top,
                            const struct codec_comparison_limits *limits,
                            const struct codec_comparison *common,
                            const struct codec_comparison_size *size)
{
    bool loaded = common->workload[0] != '\0';
    if (!loaded && size->tasks > (double)limits->tasks) {
        codec_fault_member(top, "jobs", "too_many_items",
                           "their tasks together are %.0f, and %zu are allowed "
                           "(simulation_tasks_max)",
                           size->tasks, limits->tasks);
        return;
    }
    check_runs(top, limits, common, size);
    check_rows(top, limits, common, size);
    check_memory(top, limits, common, size);
    if (!loaded)
        check_resolution(top, common, size);
}
