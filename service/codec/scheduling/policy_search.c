#include "codec/scheduling/policy_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

enum { VALUES_MAX = 64 };

#define ERROR_CHANCE 0.05
#define ERROR_CHANCE_MIN 0.0001
#define ERROR_CHANCE_MAX 0.5

/* --- the member --- */

#define S struct codec_search
static const struct shape_member members[] = {
    {"policies", SHAPE_CODE},
    {"task_runs", SHAPE_SIZE(S, task_runs), .flags = SHAPE_KEEP, .least = 1,
     SHAPE_LIMIT(struct codec_comparison_limits, search_task_runs_max)},
    {"error_chance", SHAPE_NUMBER(S, error_chance), .flags = SHAPE_KEEP, .low = ERROR_CHANCE_MIN,
     .high = ERROR_CHANCE_MAX},
};
const struct shape codec_slots_search_shape = {.request = "SlotsSearch", SHAPE_OF(members, S)};
const struct shape codec_tasks_search_shape = {.request = "TasksSearch", SHAPE_OF(members, S)};

static void decode_families(const struct codec_node *search,
                            const struct codec_policy_table *families,
                            const struct codec_comparison_limits *limits,
                            void *request)
{
    struct codec_comparison *common = request;
    struct codec_node list =
        codec_array(search, "policies", CODEC_OPTIONAL, 1, SEARCH_FAMILIES_MAX);
    size_t n = list.json == NULL ? 0 : json_value_items(list.json);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (!codec_expect_object(&item))
            continue;
        size_t word = codec_policy_decode(&item, families, NULL, limits, request, i);
        common->search.words[i] = (unsigned)(word < families->n ? word : 0);
    }
    common->search.n_families = n;
}

void codec_search_decode(const struct codec_node *top,
                         const struct codec_policy_table *families,
                         const struct shape *shape,
                         const struct codec_comparison_limits *limits,
                         void *request)
{
    struct codec_comparison *common = request;
    struct codec_node search = codec_object(top, "search", CODEC_OPTIONAL);
    if (search.json == NULL)
        return;
    common->search = (struct codec_search){
        .asked = true, .task_runs = limits->search_task_runs, .error_chance = ERROR_CHANCE};
    shape_decode(&search, shape, limits, &common->search);
    decode_families(&search, families, limits, request);
}

void codec_search_encode(struct writer *w,
                         const struct codec_policy_table *families,
                         const void *request)
{
    const struct codec_comparison *common = request;
    const struct codec_search *search = &common->search;
    if (!search->asked)
        return;
    writer_member_object(w, "search");
    writer_member_array(w, "policies");
    for (size_t i = 0; i < search->n_families; i++) {
        writer_begin_object(w);
        codec_policy_encode_terms(w, families, search->words[i], families->at(request, i));
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_member_integer(w, "task_runs", (int64_t)search->task_runs);
    writer_member_number(w, "error_chance", search->error_chance);
    writer_end_object(w);
}

/* --- lists of values --- */

double *codec_search_numbers(
    const struct codec_node *family, const char *key, double low, double high, size_t *n)
{
    struct codec_node list;
    double *values =
        codec_list(family, key, CODEC_OPTIONAL, 1, VALUES_MAX, sizeof *values, &list, n);
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        values[i] = codec_as_number(&item, CODEC_REQUIRED, low, high);
    }
    return values;
}

uint64_t *codec_search_counts(const struct codec_node *family,
                              const char *key,
                              int64_t low,
                              int64_t high,
                              uint64_t infinite,
                              size_t *n)
{
    struct codec_node list;
    uint64_t *values =
        codec_list(family, key, CODEC_OPTIONAL, 1, VALUES_MAX, sizeof *values, &list, n);
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        struct strview word = {NULL, 0};
        if (infinite > 0 && json_value_is_text(item.json))
            word = codec_string(&item);
        if (word.at != NULL && strview_equal(word, strview_of("infinite")))
            values[i] = infinite;
        else if (word.at != NULL)
            codec_fault(&item, "not_allowed", "must be one of: infinite");
        else
            values[i] = (uint64_t)codec_as_integer(&item, low, high);
    }
    return values;
}

void codec_search_encode_numbers(struct writer *w, const char *key, const double at[], size_t n)
{
    if (n > 0)
        writer_member_numbers(w, key, at, n);
}

void codec_search_encode_counts(
    struct writer *w, const char *key, const uint64_t at[], uint64_t infinite, size_t n)
{
    if (n == 0)
        return;
    writer_member_array(w, key);
    for (size_t i = 0; i < n; i++)
        if (infinite > 0 && at[i] == infinite)
            writer_string(w, "infinite");
        else
            writer_integer(w, (int64_t)at[i]);
    writer_end_array(w);
}

/* --- rules across members --- */

static bool is_compared(const struct codec_comparison *common,
                        const struct codec_policy_table *policies,
                        const char *name)
{
    for (size_t i = 0; i < common->n_policies; i++)
        if (strcmp(policies->name(common->words[i]), name) == 0)
            return true;
    return false;
}

static void choose_families(const struct codec_policy_table *policies,
                            const struct codec_policy_table *families,
                            bool all,
                            void *request)
{
    struct codec_comparison *common = request;
    struct codec_search *search = &common->search;
    for (size_t word = 0; word < families->n; word++) {
        bool suits = all || is_compared(common, policies, families->name(word));
        if (families->terms_of[word] == 0 || !suits)
            continue;
        (void)families->begin(request, search->n_families, word);
        search->words[search->n_families++] = (unsigned)word;
    }
}

static bool is_taken(const struct codec_comparison *common, const char *name)
{
    for (size_t i = 0; i < common->n_policies; i++)
        if (strview_equal(common->names[i], strview_of(name)))
            return true;
    return false;
}

void codec_search_complete(const struct codec_node *top,
                           const struct codec_policy_table *policies,
                           const struct codec_policy_table *families,
                           void *request)
{
    enum { ROOM = 16 };
    struct codec_comparison *common = request;
    char *name = codec_allocate(top, ROOM, 1);
    if (name == NULL)
        return;
    (void)snprintf(name, ROOM, "search");
    for (size_t k = 2; is_taken(common, name); k++)
        (void)snprintf(name, ROOM, "search-%zu", k);
    common->names[common->n_policies] = strview_of(name);
    for (int all = 0; common->search.n_families == 0; all++)
        choose_families(policies, families, all > 0, request);
}

void codec_search_check(const struct codec_node *top,
                        const struct codec_comparison *common,
                        enum pv_code chosen,
                        const struct codec_search_size *size)
{
    struct codec_node search = codec_member(top, "search");
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    double least = ceil(size->work) * (double)loads;
    if (chosen == PV_E_MEMORY)
        (void)pv_no_memory(top->reader->err);
    else if (chosen == PV_E_LIMIT)
        codec_fault_member(&search, "policies", "too_many_items",
                           "have more than %d candidates, over all combinations of values",
                           SEARCH_CANDIDATES_MAX);
    else if (size->n == 0)
        codec_fault_member(&search, "policies", "out_of_range",
                           "none of the candidates can be simulated");
    else if ((double)common->search.task_runs < least)
        codec_fault_member(&search, "task_runs", "out_of_range",
                           "must be at least %.0f, to simulate all tasks once at %zu load%s, with "
                           "all that counts for tasks",
                           least, loads, PLURAL(loads));
}

enum pv_code codec_search_check_loaded(enum pv_code chosen, size_t n, struct pv_error *err)
{
    if (chosen == PV_E_LIMIT)
        return pv_fail(err, PV_E_INVALID,
                       "for the jobs of the workload the search has more than %d candidates, over "
                       "all combinations of values",
                       SEARCH_CANDIDATES_MAX);
    if (chosen == PV_OK && n == 0)
        return pv_fail(err, PV_E_INVALID, "none of the candidates of the search can be simulated");
    return chosen;
}
