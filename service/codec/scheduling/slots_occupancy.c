#include "codec/scheduling/slots_simulation_internal.h"

/* Who held the slots when, bar by bar, as for a Gantt chart. */

static struct strview name_of(const struct codec_slots_simulation *asked, size_t job)
{
    return asked->sent != NULL ? asked->sent[job].name
                               : codec_comparison_job_name(asked->names[job]);
}

static void
encode_bar(struct writer *w, const struct codec_slots_result *result, const struct slots_bar *bar)
{
    static const char *const kinds[SLOTS_KINDS] = {[SLOTS_MAP] = "map", [SLOTS_REDUCE] = "reduce"};
    const struct codec_slots_cluster *cluster = &result->asked->sent_cluster;
    const struct slots_span *span = bar->span;
    writer_begin_object(w);
    writer_member_text(w, "node",
                       cluster->n_nodes > 0 ? cluster->nodes[span->node].name
                                            : (struct strview){NULL, 0});
    writer_member_integer(w, "lane", (int64_t)bar->slot);
    writer_member_string(w, "task_kind", kinds[span->kind]);
    writer_member_text(w, "job", name_of(result->asked, result->comparison->order[span->job]));
    writer_member_number(w, "start_s", span->given_s);
    writer_member_number(w, "work_start_s", span->begun_s);
    writer_member_number(w, "end_s", span->end_s);
    writer_member_boolean(w, "is_copy", span->is_copy);
    writer_member_boolean(w, "stopped", !span->finished);
    writer_end_object(w);
}

void codec_slots_occupancy_encode(struct writer *w,
                                  const struct codec_slots_result *result,
                                  const struct slots_terms *terms,
                                  struct slots_spans *spans)
{
    bool shared = terms->policy->choose_shared != NULL || codec_slots_has_room(result->asked);
    if (!writer_member_object_or_null(w, "slot_occupancy", spans != NULL))
        return;
    struct slots_bar *bars = arena_array(w->arena, spans->tasks, sizeof *bars);
    if (bars == NULL ||
        !slots_spans_place(spans, result->asked->sent_cluster.n_nodes, shared, w->arena, bars)) {
        w->failed = true;
        return;
    }
    writer_member_array(w, "bars");
    for (size_t i = 0; i < spans->tasks; i++)
        encode_bar(w, result, &bars[i]);
    writer_end_array(w);
    writer_member_integer(w, "omitted", (int64_t)spans->omitted);
    writer_end_object(w);
}
