#include "api/scheduling/decision_summary.h"

#include <assert.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static struct decision_group *find_group(struct decision_summary *summary,
                                         const struct decision_made *made)
{
    for (size_t i = 0; i < summary->n; i++) {
        const struct decision_made *other = &summary->groups[i].made;
        if (is_same(other->kind, made->kind) && is_same(other->choice, made->choice) &&
            is_same(other->rule, made->rule))
            return &summary->groups[i];
    }
    assert(summary->n < DECISION_GROUPS_MAX);
    struct decision_group *group = &summary->groups[summary->n++];
    *group = (struct decision_group){.made = *made};
    return group;
}

void decision_summary_add(struct decision_summary *summary, const struct decision_made *made)
{
    bool differs = made->recorded && made->differs;
    struct decision_group *group = find_group(summary, made);
    group->count++;
    group->different += differs;
    summary->recorded += made->recorded;
    summary->different += differs;
}

void decision_summary_write(struct writer *w, const struct decision_summary *summary)
{
    writer_member_object(w, "summary");
    writer_member_integer(w, "lines", (int64_t)summary->lines);
    writer_member_integer(w, "refused", (int64_t)summary->refused);
    writer_member_integer(w, "recorded", (int64_t)summary->recorded);
    writer_member_integer(w, "different", (int64_t)summary->different);
    writer_member_integer(w, "contradicting", (int64_t)summary->contradicting);
    writer_member_array(w, "decisions");
    for (size_t i = 0; i < summary->n; i++) {
        const struct decision_group *group = &summary->groups[i];
        writer_begin_object(w);
        writer_member_string(w, "kind", group->made.kind);
        writer_member_string(w, "choice", group->made.choice);
        writer_member_string(w, "rule", group->made.rule);
        writer_member_integer(w, "count", (int64_t)group->count);
        writer_member_integer(w, "different", (int64_t)group->different);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}
