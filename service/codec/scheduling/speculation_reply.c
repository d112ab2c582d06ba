#include <math.h>

#include "codec/scheduling/speculation.h"

static const struct strview NOBODY = {NULL, 0};

static struct strview node_name(const struct codec_speculation *asked, size_t node)
{
    return node != SPECULATION_NONE ? asked->nodes[node].name : NOBODY;
}

static struct strview task_id(const struct codec_speculation *asked, struct speculation_place place)
{
    return asked->nodes[place.node].running[place.task].id;
}

/* The members `task` and `node`; both null where there is none. */
static void encode_place(struct writer *w,
                         const struct codec_speculation *asked,
                         const struct speculation_place *place)
{
    writer_member_text(w, "task", place != NULL ? task_id(asked, *place) : NOBODY);
    writer_member_text(w, "node", place != NULL ? node_name(asked, place->node) : NOBODY);
}

static void encode_level(struct writer *w, const char *key, size_t level)
{
    writer_member_count(w, key, level > 0 ? (int64_t)level : -1);
}

/* --- kind "esplash" --- */

static const struct esplash_candidate *chosen_of(const struct esplash_decision *decision)
{
    size_t candidate = decision->action.candidate;
    return candidate != SPECULATION_NONE ? &decision->candidates[candidate] : NULL;
}

struct codec_speculation_action codec_esplash_action(const struct codec_speculation *asked,
                                                     const struct esplash_decision *decision)
{
    const struct esplash_candidate *chosen = chosen_of(decision);
    return (struct codec_speculation_action){
        .task = chosen != NULL ? task_id(asked, chosen->place) : NOBODY,
        .host = node_name(asked, decision->action.host),
    };
}

void codec_esplash_action_encode(struct writer *w,
                                 const struct codec_speculation *asked,
                                 const struct esplash_decision *decision)
{
    const struct esplash_candidate *chosen = chosen_of(decision);
    writer_member_object(w, "action");
    encode_place(w, asked, chosen != NULL ? &chosen->place : NULL);
    encode_level(w, "min_level", chosen != NULL ? chosen->min_level : 0);
    writer_member_text(w, "host", node_name(asked, decision->action.host));
    writer_member_number(w, "value_s", chosen != NULL ? chosen->value_s : (double)NAN);
    writer_end_object(w);
}

static void encode_nodes(struct writer *w,
                         const struct codec_speculation *asked,
                         const struct node_levels *levels,
                         const struct esplash_decision *decision)
{
    writer_member_array(w, "nodes");
    for (size_t i = 0; i < asked->n_nodes; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", asked->nodes[i].name);
        encode_level(w, "level", levels->level[i]);
        writer_member_number(w, "straggler_value", decision->nodes[i].straggler_value);
        writer_member_boolean(w, "straggler", decision->nodes[i].straggler);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* Nodes group after group: first[g] is the place of the first one of group g. false: no memory. */
static bool order_members(
    struct writer *w, const struct node_levels *levels, size_t n, size_t **members, size_t **first)
{
    *members = arena_array(w->arena, n, sizeof **members);
    *first = arena_calloc(w->arena, levels->n_groups + 1, sizeof **first);
    if (*members == NULL || *first == NULL) {
        w->failed = true;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        (*first)[levels->group[i]]++;
    for (size_t g = 0, end = 0; g <= levels->n_groups; g++) {
        end += (*first)[g];
        (*first)[g] = end;
    }
    for (size_t i = n; i-- > 0;)
        (*members)[--(*first)[levels->group[i]]] = i;
    return true;
}

static void encode_groups(struct writer *w,
                          const struct codec_speculation *asked,
                          const struct node_levels *levels)
{
    size_t *members;
    size_t *first;
    if (!writer_member_array_or_null(w, "groups", levels->group != NULL))
        return;
    if (order_members(w, levels, asked->n_nodes, &members, &first)) {
        for (size_t g = 0; g < levels->n_groups; g++) {
            writer_begin_array(w);
            for (size_t m = first[g]; m < first[g + 1]; m++)
                writer_text(w, asked->nodes[members[m]].name);
            writer_end_array(w);
        }
    }
    writer_end_array(w);
}

static void encode_table(struct writer *w,
                         const struct codec_speculation *asked,
                         const struct esplash_decision *decision)
{
    writer_member_array(w, "table");
    for (size_t r = 0; r < decision->n_table; r++) {
        const struct esplash_statistics *row = &decision->table[r];
        writer_begin_object(w);
        encode_level(w, "level", row->level);
        writer_member_text(w, "type", asked->types[row->type]);
        writer_member_integer(w, "tasks", (int64_t)row->tasks);
        writer_member_number(w, "mean_s", row->mean_s);
        writer_member_number(w, "deviation_s", row->deviation_s);
        writer_member_number(w, "progress_rate_per_s", row->progress_rate_per_s);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_candidate(struct writer *w,
                             const struct codec_speculation *asked,
                             const struct esplash_candidate *candidate)
{
    static const char *const reasons[] = {[ESPLASH_ASSESSED] = NULL,
                                          [ESPLASH_NO_STATISTICS] = "no_statistics",
                                          [ESPLASH_NO_HOST] = "no_host"};
    encode_place(w, asked, &candidate->place);
    encode_level(w, "min_level", candidate->min_level);
    if (writer_member_array_or_null(w, "expected_s", candidate->expected_s != NULL)) {
        for (size_t l = 0; l < candidate->n_expected; l++)
            writer_number(w, candidate->expected_s[l]);
        writer_end_array(w);
    }
    writer_member_number(w, "value_s", candidate->value_s);
    writer_member_string(w, "reason", reasons[candidate->reason]);
}

static void encode_candidates(struct writer *w,
                              const struct codec_speculation *asked,
                              const struct esplash_decision *decision)
{
    writer_member_array(w, "candidates");
    for (size_t i = 0; i < decision->n_candidates; i++) {
        writer_begin_object(w);
        encode_candidate(w, asked, &decision->candidates[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_member_array(w, "rechecks");
    for (size_t i = 0; i < decision->n_rechecks; i++) {
        writer_begin_object(w);
        encode_candidate(w, asked, &decision->rechecks[i]);
        writer_member_boolean(w, "keep", esplash_keeps(&decision->rechecks[i]));
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_esplash_encode(struct writer *w,
                          const struct codec_speculation *asked,
                          const struct node_levels *levels,
                          const struct esplash_decision *decision,
                          const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_string(w, "kind", "esplash");
    codec_esplash_action_encode(w, asked, decision);
    writer_member_integer(w, "highest_level", (int64_t)levels->highest);
    writer_member_number(w, "silhouette", levels->silhouette);
    encode_nodes(w, asked, levels, decision);
    encode_groups(w, asked, levels);
    encode_table(w, asked, decision);
    encode_candidates(w, asked, decision);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}

/* --- kind "late" --- */

static const struct late_candidate *slowest_of(const struct late_decision *decision)
{
    return decision->action != SPECULATION_NONE ? &decision->candidates[decision->action] : NULL;
}

struct codec_speculation_action codec_late_action(const struct codec_speculation *asked,
                                                  const struct late_decision *decision)
{
    const struct late_candidate *chosen = slowest_of(decision);
    return (struct codec_speculation_action){.task = chosen != NULL ? task_id(asked, chosen->place)
                                                                    : NOBODY};
}

void codec_late_action_encode(struct writer *w,
                              const struct codec_speculation *asked,
                              const struct late_decision *decision)
{
    const struct late_candidate *chosen = slowest_of(decision);
    writer_member_object(w, "action");
    encode_place(w, asked, chosen != NULL ? &chosen->place : NULL);
    writer_member_number(w, "value_s", chosen != NULL ? chosen->value_s : (double)NAN);
    writer_end_object(w);
}

void codec_late_encode(struct writer *w,
                       const struct codec_speculation *asked,
                       const struct late_decision *decision,
                       const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_string(w, "kind", "late");
    codec_late_action_encode(w, asked, decision);
    writer_member_array(w, "candidates");
    for (size_t i = 0; i < decision->n_candidates; i++) {
        const struct late_candidate *candidate = &decision->candidates[i];
        writer_begin_object(w);
        encode_place(w, asked, &candidate->place);
        writer_member_number(w, "remaining_s", candidate->remaining_s);
        writer_member_number(w, "copy_s", candidate->copy_s);
        writer_member_number(w, "value_s", candidate->value_s);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}
