#include "core/advice/label_group_explain.h"

#include "base/plural.h"

/* What a message shows of a list of labels, in bytes; the evidence has all of it. */
enum { SHOWN_BYTES = 200 };

/* How many bytes of the text "%.*s" is to show: no character is cut in two. */
static int shown(const char *text)
{
    return (int)strview_clip(strview_of(text), SHOWN_BYTES).n;
}

/* "iterations=10, machine=m5"; a label that the runs do not have: "machine absent". */
static const char *list_labels(const struct label_group *group, struct arena *arena)
{
    const char *text = "";
    for (size_t k = 0; k < group->n_keys && text != NULL; k++) {
        struct strview key = group->keys[k];
        struct strview value = run_label_value(group->labels, key);
        text = arena_printf(arena, "%s%s%.*s%s%.*s", text, k == 0 ? "" : ", ", (int)key.n, key.at,
                            value.at == NULL ? " absent" : "=", (int)value.n,
                            value.at == NULL ? "" : value.at);
    }
    return text;
}

/* The keys asked for that explain nothing; "" where all do. */
static const char *list_unused(const struct label_group *group,
                               const struct advice_question *question,
                               struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < question->n_labels && text != NULL; i++) {
        struct strview key = question->labels[i].key;
        if (!label_group_has_key(group, key))
            text = arena_printf(arena, "%s%s%.*s", text, text[0] == '\0' ? "" : ", ", (int)key.n,
                                key.at);
    }
    return text;
}

static void
warn_of_group(const struct label_group *group, const char *labels, struct findings *warnings)
{
    struct finding *note;
    if (group->runs == 0)
        note =
            finding_add(warnings, "labels_unknown",
                        "None of the latest runs has the labels asked for (%.*s): the prediction "
                        "is from runs of all labels, though these labels explain the time.",
                        shown(labels), labels);
    else if (group->ignored)
        note =
            finding_add(warnings, "label_group_not_used",
                        "None of the %zu run%s with %.*s can be replayed and they are too few for "
                        "a model: the prediction is from runs of all labels, though these labels "
                        "explain the time.",
                        group->runs, PLURAL(group->runs), shown(labels), labels);
    else if (!group->asked)
        note = finding_add(warnings, "labels_of_latest_run",
                           "Labels explain the time, and the request names none of them: the "
                           "prediction is for runs like the latest (%.*s), one of %zu label "
                           "groups.",
                           shown(labels), labels, group->groups);
    else
        return;
    finding_text(note, "labels", labels);
    finding_number(note, "label_groups", (double)group->groups);
    finding_number(note, "runs", (double)group->runs);
}

enum pv_code label_group_explain(const struct label_group *group,
                                 const struct advice_question *question,
                                 struct arena *arena,
                                 struct advice *advice,
                                 struct pv_error *err)
{
    const char *labels = list_labels(group, arena);
    const char *unused = list_unused(group, question, arena);
    if (labels == NULL || unused == NULL)
        return pv_no_memory(err);
    if (group->n_keys > 0)
        warn_of_group(group, labels, &advice->warnings);
    if (unused[0] != '\0') {
        struct finding *note =
            finding_add(&advice->warnings, "labels_not_used",
                        "Among the latest runs these labels do not explain the time beyond problem "
                        "size and executors, so runs were not chosen by them: %.*s.",
                        shown(unused), unused);
        finding_text(note, "labels", unused);
    }
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
