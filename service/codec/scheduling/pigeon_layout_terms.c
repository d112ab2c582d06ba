#include "base/quantity_text.h"
#include "codec/json/names.h"
#include "codec/scheduling/tasks_simulation_internal.h"
#include "core/scheduling/tasks/pigeon_plan.h"
#include "core/scheduling/tasks/tasks_policy.h"

#define REPORT_MIN_S 0.001
/* Reports are numbered in 64 bits. */
#define REPORTS_MAX 1e15

/* --- a class --- */

static void decode_weight(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_pigeon_class *class = object;
    (void)limits;
    class->weight = codec_tasks_weight_decode(node, PIGEON_WEIGHT);
}

static void encode_weight(struct writer *w, const void *object, const void *context)
{
    const struct codec_pigeon_class *class = object;
    (void)context;
    codec_tasks_weight_encode(w, class->weight);
}

#define C struct codec_pigeon_class
static const struct shape_member members[] = {
    {"name", SHAPE_NAME(C, name), .flags = CODEC_REQUIRED},
    {"reserved_share", SHAPE_NUMBER(C, reserved_share), .flags = SHAPE_KEEP, .low = 0,
     .high = TASKS_RESERVED_SHARE_MAX},
    {"weight", SHAPE_CODE, .decode = decode_weight, .encode = encode_weight},
};
const struct shape codec_pigeon_class_shape = {.request = "PigeonClass", SHAPE_OF(members, C)};

static void decode_classes(const struct codec_node *policy, struct codec_pigeon_layout *layout)
{
    struct codec_node list;
    layout->classes = codec_list(policy, "classes", CODEC_OPTIONAL, 1, PIGEON_CLASSES_MAX,
                                 sizeof *layout->classes, &list, &layout->n_classes);
    struct strview names[PIGEON_CLASSES_MAX];
    for (size_t i = 0; i < layout->n_classes; i++) {
        struct codec_node item = codec_item(&list, i);
        if (codec_expect_object(&item))
            shape_decode(&item, &codec_pigeon_class_shape, NULL, &layout->classes[i]);
        names[i] = layout->classes[i].name;
    }
    if (layout->n_classes > 0)
        codec_refuse_same_names(&list, names, layout->n_classes,
                                "this class has its terms already");
}

/* --- the layout --- */

void codec_pigeon_layout_decode(const struct codec_node *policy,
                                const struct codec_comparison_limits *limits,
                                void *terms)
{
    struct tasks_terms *tasks = terms;
    (void)limits;
    if (codec_member(policy, "classes").json == NULL &&
        codec_member(policy, "report_every_s").json == NULL &&
        codec_member(policy, "failures").json == NULL)
        return;
    struct codec_pigeon_layout *layout = codec_allocate(policy, 1, sizeof *layout);
    if (layout == NULL)
        return;
    decode_classes(policy, layout);
    if (codec_member(policy, "report_every_s").json != NULL)
        layout->layout.report_every_s =
            codec_number(policy, "report_every_s", CODEC_REQUIRED, REPORT_MIN_S, CODEC_SECONDS_MAX);
    codec_pigeon_failures_decode(policy, layout);
    tasks->layout = &layout->layout;
}

void codec_pigeon_classes_encode(struct writer *w, const void *terms)
{
    const struct codec_pigeon_layout *layout = codec_pigeon_layout_of(terms);
    if (layout == NULL || layout->layout.n_classes < 2)
        return;
    writer_member_array(w, "classes");
    for (uint32_t c = 0; c + 1 < layout->layout.n_classes; c++) {
        const struct pigeon_class *class = &layout->layout.classes[c];
        const struct codec_pigeon_class sent = {layout->names[c], class->reserved_share,
                                                class->weight};
        shape_encode(w, &codec_pigeon_class_shape, &sent, 0, NULL);
    }
    writer_end_array(w);
}

void codec_pigeon_report_encode(struct writer *w, const void *terms)
{
    const struct codec_pigeon_layout *layout = codec_pigeon_layout_of(terms);
    if (layout != NULL && layout->layout.report_every_s > 0)
        writer_member_number(w, "report_every_s", layout->layout.report_every_s);
}

/* --- with the rest of the request --- */

static void check_groups(const struct codec_node *top, const struct codec_node *policy)
{
    struct codec_node cluster = codec_member(top, "cluster");
    bool listed = codec_member(&cluster, "groups").json != NULL;
    bool counted = cluster.json == NULL || codec_member(&cluster, "workers").json != NULL;
    bool given = codec_member(policy, "groups").json != NULL;
    if (listed && given)
        codec_fault_member(policy, "groups", "conflict",
                           "must be left out: the groups are those of the cluster");
    if (!listed && counted && !given)
        codec_fault_member(policy, "groups", "required",
                           "is required, or a list of the groups in the cluster");
}

static void check_class(const struct codec_node *item,
                        const struct codec_tasks_simulation *asked,
                        struct strview name)
{
    static const char *const terms[] = {"reserved_share", "weight"};
    size_t c = codec_tasks_class_find(asked, name);
    if (c == asked->n_classes)
        codec_fault_member(item, "name", "not_allowed",
                           "must be a class that `classes` of the request declares");
    for (size_t t = 0; t < 2 && c + 1 == asked->n_classes; t++)
        if (codec_member(item, terms[t]).json != NULL)
            codec_fault_member(item, terms[t], "conflict",
                               "the lowest class takes what is left: it has no terms");
}

static void check_classes(const struct codec_node *policy,
                          const struct codec_tasks_simulation *asked,
                          const struct tasks_terms *terms)
{
    static const char *const of_two[] = {"reserved_share", "weight"};
    const struct codec_pigeon_layout *layout = codec_pigeon_layout_of(terms);
    struct codec_node list = codec_member(policy, "classes");
    for (size_t t = 0; t < 2; t++)
        if (codec_member(policy, of_two[t]).json != NULL)
            codec_fault_member(policy, of_two[t], "conflict",
                               "`classes` are declared: each has its own in the policy's");
    for (size_t i = 0; layout != NULL && i < layout->n_classes; i++) {
        struct codec_node item = codec_item(&list, i);
        if (layout->classes[i].name.at != NULL)
            check_class(&item, asked, layout->classes[i].name);
    }
}

void codec_pigeon_terms_check(const struct codec_node *top,
                              const struct codec_tasks_simulation *asked)
{
    struct codec_node list = codec_member(top, "policies");
    bool missing = codec_member(top, "classes").json == NULL;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        struct codec_node policy = codec_item(&list, p);
        const struct tasks_terms *terms = &asked->policies[p];
        if (terms->policy != &pigeon_policy)
            continue;
        check_groups(top, &policy);
        if (asked->n_classes > 0)
            check_classes(&policy, asked, terms);
        if (missing && codec_member(&policy, "classes").json != NULL) {
            missing = false;
            codec_fault_member(top, "classes", "required",
                               "policies have terms of classes, which must be declared");
        }
    }
}

static bool any_bound(const struct codec_tasks_simulation *asked)
{
    for (size_t j = 0; j < asked->n_jobs; j++)
        if (asked->jobs[j].bindings != NULL)
            return true;
    return false;
}

/* All declared classes, with the policy's terms or the usual ones. */
static void complete_classes(const struct codec_node *top,
                             const struct codec_tasks_simulation *asked,
                             struct codec_pigeon_layout *layout)
{
    struct pigeon_class *classes = codec_allocate(top, asked->n_classes, sizeof *classes);
    if (classes == NULL)
        return;
    for (size_t c = 0; c < asked->n_classes; c++)
        classes[c] = (struct pigeon_class){0, PIGEON_WEIGHT};
    for (size_t i = 0; i < layout->n_classes; i++) {
        const struct codec_pigeon_class *sent = &layout->classes[i];
        classes[codec_tasks_class_find(asked, sent->name)] =
            (struct pigeon_class){sent->reserved_share, sent->weight};
    }
    layout->layout.classes = classes;
    layout->layout.n_classes = (uint32_t)asked->n_classes;
    layout->names = asked->classes;
}

void codec_pigeon_layouts_complete(const struct codec_node *top,
                                   struct codec_tasks_simulation *asked)
{
    bool all = asked->groups != NULL || asked->n_classes > 0 || any_bound(asked);
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        struct tasks_terms *terms = &asked->policies[p];
        if (terms->policy != &pigeon_policy || (!all && terms->layout == NULL))
            continue;
        struct codec_pigeon_layout *layout = codec_allocate(top, 1, sizeof *layout);
        if (layout == NULL)
            return;
        if (terms->layout != NULL)
            *layout = *codec_pigeon_layout_of(terms);
        layout->layout.groups = asked->groups;
        layout->layout.n_groups = asked->n_groups;
        terms->layout = &layout->layout;
        if (asked->n_classes > 0)
            complete_classes(top, asked, layout);
        codec_pigeon_failures_complete(top, asked, p, layout);
    }
    if (top->reader->err->n_faults == 0 && top->reader->err->code == PV_OK &&
        asked->common.n_loads == 0)
        codec_pigeon_losses_check(top, asked);
}

void codec_pigeon_reports_check(const struct codec_node *top,
                                const struct codec_tasks_simulation *asked,
                                double longest_s)
{
    struct codec_node list = codec_member(top, "policies");
    double least_s = 2 * asked->communication_s;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        struct codec_node policy = codec_item(&list, p);
        const struct pigeon_layout *layout = asked->policies[p].layout;
        if (layout == NULL || layout->report_every_s == 0)
            continue;
        if (layout->report_every_s < least_s)
            codec_fault_member(&policy, "report_every_s", "out_of_range",
                               "must be at least two messages long, %s s",
                               quantity_digits(least_s, 6).text);
        else if (layout->report_every_s * REPORTS_MAX < longest_s)
            codec_fault_member(&policy, "report_every_s", "out_of_range",
                               "in up to %s s there would be too many reports",
                               quantity_digits(longest_s, 3).text);
    }
}
