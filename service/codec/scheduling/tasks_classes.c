#include "codec/json/names.h"
#include "codec/scheduling/tasks_simulation_internal.h"

static const char *const usual[] = {"short", "long"};

/* --- those that are declared --- */

void codec_tasks_classes_decode(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_simulation *asked = object;
    struct codec_node list;
    (void)limits;
    asked->classes = codec_list(node, "classes", CODEC_OPTIONAL, 1, TASKS_CLASSES_MAX,
                                sizeof *asked->classes, &list, &asked->n_classes);
    for (size_t c = 0; c < asked->n_classes; c++) {
        struct codec_node item = codec_item(&list, c);
        asked->classes[c] = codec_as_name(&item);
        if (strview_is(asked->classes[c], "all"))
            codec_fault(&item, "not_allowed", "results call all jobs together so");
    }
    if (asked->n_classes > 0)
        codec_refuse_same_items(&list, asked->classes, asked->n_classes,
                                "this class was declared before");
    if (asked->classes != NULL && codec_member(node, "short_cutoff_s").json != NULL)
        codec_fault_member(node, "short_cutoff_s", "conflict",
                           "of the classes that are declared each job names its own");
}

void codec_tasks_classes_encode(struct writer *w, const void *object, const void *context)
{
    const struct codec_tasks_simulation *asked = object;
    (void)context;
    if (asked->n_classes == 0)
        return;
    writer_member_array(w, "classes");
    for (size_t c = 0; c < asked->n_classes; c++)
        writer_text(w, asked->classes[c]);
    writer_end_array(w);
}

size_t codec_tasks_class_find(const struct codec_tasks_simulation *asked, struct strview name)
{
    size_t c = 0;
    while (c < asked->n_classes && !strview_equal(asked->classes[c], name))
        c++;
    return c;
}

/* --- those of jobs --- */

static void
take_declared(const struct codec_node *item, const struct codec_tasks_simulation *asked, size_t j)
{
    struct codec_tasks_job *sent = &asked->sent[j];
    size_t class = codec_tasks_class_find(asked, sent->class);
    if (sent->class.at == NULL) {
        if (!codec_present(item, "class"))
            codec_fault_member(item, "class", "required",
                               "`classes` are declared, and each job names one of them");
        return;
    }
    if (class == asked->n_classes) {
        codec_fault_member(item, "class", "not_allowed", "must be a class that `classes` declares");
        return;
    }
    sent->job.priority = (uint32_t) class;
    sent->job.is_long = asked->n_classes > 1 && class + 1 == asked->n_classes;
}

static void
take_usual(const struct codec_node *item, const struct codec_tasks_simulation *asked, size_t j)
{
    struct codec_tasks_job *sent = &asked->sent[j];
    if (sent->class.at == NULL) {
        sent->job.is_long =
            tasks_are_long(sent->job.durations_s, sent->job.tasks, asked->short_cutoff_s);
        sent->class = strview_of(usual[sent->job.is_long]);
    } else if (!strview_is(sent->class, usual[0]) && !strview_is(sent->class, usual[1])) {
        codec_fault_member(item, "class", "not_allowed",
                           "must be \"short\", \"long\", or declared in `classes`");
    } else {
        sent->job.is_long = strview_is(sent->class, usual[1]);
    }
}

void codec_tasks_classes_of_jobs(const struct codec_node *top,
                                 const struct codec_tasks_simulation *asked)
{
    struct codec_node list = codec_member(top, "jobs");
    for (size_t j = 0; j < asked->n_sent; j++) {
        struct codec_node item = codec_item(&list, j);
        if (codec_member(top, "classes").json != NULL && asked->n_classes == 0)
            continue; /* they are at fault */
        if (asked->n_classes > 0)
            take_declared(&item, asked, j);
        else if (asked->sent[j].job.tasks > 0 && asked->sent[j].job.durations_s != NULL)
            take_usual(&item, asked, j);
    }
}
