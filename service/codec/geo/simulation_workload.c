#include "codec/geo/simulation_internal.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"

enum { CLASSES_MAX = 20, BUILT_IN = 2, WORKFLOWS_USUAL = 200 };
#define SCALE_MAX 1e6
#define SUM_TOLERANCE 1e-6

static const char *const survey_words[] = {"2mass", "dss", NULL};
static const struct geosim_montage_figures *const survey_figures[BUILT_IN] = {&geosim_montage_2mass,
                                                                              &geosim_montage_dss};

static const char *const workflow_sources[] = {"montage", "recorded", NULL};

/* --- templates --- */

static void keep_text(const struct codec_node *node, struct strview *text)
{
    struct writer w;
    writer_init(&w, node->reader->arena);
    codec_wfformat_copy(&w, node->json);
    text->at = writer_finish(&w, &text->n);
    if (text->at == NULL)
        (void)pv_no_memory(node->reader->err);
}

static void decode_templates(const struct codec_node *node,
                             const struct codec_simulation_limits *limits,
                             struct codec_simulation *asked)
{
    struct codec_node list;
    size_t n;
    struct geosim_recording *recordings = codec_list(
        node, "templates", CODEC_OPTIONAL, 0, limits->templates, sizeof *recordings, &list, &n);
    asked->templates = codec_allocate(node, n, sizeof *asked->templates);
    asked->operations.names =
        codec_allocate(node, limits->operations, sizeof *asked->operations.names);
    asked->operations.most = limits->operations;
    if (asked->templates == NULL || asked->operations.names == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        codec_wfformat_decode(&item, limits->workflow_tasks, &asked->operations, &recordings[i]);
        if (node->reader->err->n_faults == 0 && node->reader->err->code == PV_OK)
            keep_text(&item, &asked->templates[i]);
    }
    asked->n_templates = n;
    asked->workload.recordings = recordings;
    asked->workload.n_recordings = n;
    asked->workload.n_operations = asked->operations.n;
}

/* --- Montage --- */

static void
decode_class(const struct codec_node *node, size_t most, struct geosim_size_class *class)
{
    static const char *const known[] = {"share", "task_range", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    class->share = codec_number(node, "share", CODEC_REQUIRED, 0, 1);
    struct codec_node pair = codec_array(node, "task_range", CODEC_REQUIRED, 2, 2);
    if (pair.json == NULL)
        return;
    struct codec_node first = codec_item(&pair, 0);
    struct codec_node second = codec_item(&pair, 1);
    int64_t low = codec_as_integer(&first, 1, (int64_t)most);
    int64_t high = codec_as_integer(&second, 1, (int64_t)most);
    if (low == RUN_UNKNOWN || high == RUN_UNKNOWN)
        return;
    if (low > high)
        codec_fault(&pair, "out_of_range", "begins above its end");
    class->least = (size_t)low;
    class->most = (size_t)high;
}

static void decode_sizes(const struct codec_node *node,
                         const struct codec_simulation_limits *limits,
                         struct geosim_workload_parameters *terms)
{
    struct codec_node list;
    size_t n;
    double sum = 0;
    struct geosim_size_class *classes =
        codec_list(node, "sizes", CODEC_OPTIONAL, 1, CLASSES_MAX, sizeof *classes, &list, &n);
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_class(&item, limits->workflow_tasks, &classes[i]);
        sum += classes[i].share;
    }
    if (fabs(sum - 1) > SUM_TOLERANCE)
        codec_fault(&list, "not_a_distribution", "the shares add up to %s, not to 1",
                    quantity_digits(sum, 9).text);
    terms->sizes = classes;
    terms->n_sizes = n;
}

static void use_figures(const struct codec_node *node,
                        const struct geosim_montage_figures *figures[],
                        size_t n,
                        struct geosim_workload_parameters *terms)
{
    if (figures == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    terms->figures = figures;
    terms->n_figures = n;
    terms->n_operations = n * MONTAGE_STEPS;
    terms->n_recordings = 0;
}

static void use_surveys(const struct codec_node *node, struct codec_simulation *asked)
{
    const struct geosim_montage_figures **figures =
        arena_array(node->reader->arena, BUILT_IN, sizeof *figures);
    size_t n = 0;
    for (size_t i = 0; i < BUILT_IN && figures != NULL; i++)
        if ((asked->montage_surveys & 1U << i) != 0)
            figures[n++] = survey_figures[i];
    use_figures(node, figures, n, &asked->workload);
}

static void use_templates(const struct codec_node *node, struct codec_simulation *asked)
{
    struct arena *arena = node->reader->arena;
    const struct geosim_montage_figures **figures = codec_allocate(node, 1, sizeof *figures);
    struct geosim_montage_figures *measured = codec_allocate(node, 1, sizeof *measured);
    struct pv_error why;
    pv_error_clear(&why);
    if (figures == NULL || measured == NULL)
        return;
    enum pv_code code = geosim_montage_measure(asked->workload.recordings, asked->n_templates,
                                               asked->operations.names, arena, measured, &why);
    if (code == PV_E_INVALID)
        codec_fault_member(node, "templates", "no_montage", "%.150s", why.detail);
    else if (code != PV_OK)
        (void)pv_fail(node->reader->err, code, "%s", why.detail);
    figures[0] = measured;
    use_figures(node, figures, 1, &asked->workload);
}

static void refuse_of_montage(const struct codec_node *node, const char *key)
{
    if (codec_present(node, key))
        codec_fault_member(
            node, key, "conflict",
            "recorded workflows are taken as they are: only the workflow_source montage has it");
}

static void decode_source(const struct codec_node *node,
                          const struct codec_simulation_limits *limits,
                          struct codec_simulation *asked)
{
    bool templates = asked->n_templates > 0;
    size_t source =
        codec_choice(node, "workflow_source", CODEC_OPTIONAL, workflow_sources, templates ? 1 : 0);
    if (source == 1) {
        refuse_of_montage(node, "sizes");
        refuse_of_montage(node, "montage_surveys");
        if (!templates)
            codec_fault_member(node, "templates", "required", "is required for recorded workflows");
        return;
    }
    decode_sizes(node, limits, &asked->workload);
    asked->by_template_figures = templates;
    if (templates && codec_present(node, "montage_surveys"))
        codec_fault_member(node, "montage_surveys", "conflict",
                           "the templates are measured instead");
    else if (!templates && codec_member(node, "montage_surveys").json == NULL)
        asked->montage_surveys = 1; /* 2MASS */
    else if (!templates)
        asked->montage_surveys =
            codec_words(node, "montage_surveys", CODEC_OPTIONAL, 1, survey_words);
    if (node->reader->err->n_faults > 0 || node->reader->err->code != PV_OK)
        return;
    if (templates)
        use_templates(node, asked);
    else
        use_surveys(node, asked);
}

/* --- the whole --- */

static double expected_tasks(const struct geosim_workload_parameters *terms)
{
    double mean = 0;
    for (size_t i = 0; i < terms->n_recordings; i++)
        mean += (double)terms->recordings[i].n_tasks / (double)terms->n_recordings;
    for (size_t i = 0; i < terms->n_sizes && terms->n_recordings == 0; i++)
        mean += terms->sizes[i].share *
                ((double)terms->sizes[i].least + (double)terms->sizes[i].most) / 2;
    return mean * (double)terms->n_workflows;
}

static void check_sizes(const struct codec_node *node,
                        const struct codec_simulation_limits *limits,
                        const struct geosim_workload_parameters *terms)
{
    double tasks = expected_tasks(terms);
    for (size_t i = 0; i < terms->n_sizes && terms->n_recordings == 0; i++)
        if (terms->sizes[i].most > limits->workflow_tasks)
            codec_fault_member(node, "sizes", "out_of_range",
                               "a workflow may have at most %zu task%s "
                               "(simulation_workflow_tasks_max), by default some have %zu",
                               limits->workflow_tasks, PLURAL(limits->workflow_tasks),
                               terms->sizes[i].most);
    if (tasks > (double)limits->tasks)
        codec_fault_member(node, "workflows", "out_of_range",
                           "that is %.0f tasks, a workload may have %zu (simulation_tasks_max)",
                           tasks, limits->tasks);
}

/* The member to make smaller is one that was made larger. */
static void check_task_runs(const struct codec_node *top,
                            const struct codec_simulation_limits *limits,
                            const struct codec_simulation *asked)
{
    double tasks = expected_tasks(&asked->workload);
    double runs = (double)(asked->n_policies * asked->n_rates * asked->repetitions);
    const char *member = asked->repetitions > 1 ? "repetitions"
                         : asked->n_rates > 1   ? "arrival_rates_per_s"
                                                : "policies";
    if (tasks * runs > (double)limits->task_runs)
        codec_fault_member(
            top, member, "out_of_range",
            "policies x arrival_rates_per_s x repetitions x expected tasks may be %zu "
            "(simulation_task_runs_max), they are %zu x %zu x %zu x %.0f = %.0f",
            limits->task_runs, asked->n_policies, asked->n_rates, asked->repetitions, tasks,
            tasks * runs);
}

#define A struct codec_simulation
static const struct shape_member members[] = {
    {"workflows", SHAPE_SIZE(A, workload.n_workflows), .flags = SHAPE_KEEP, .least = 1,
     SHAPE_LIMIT(struct codec_simulation_limits, workflows)},
    {"workflow_source", SHAPE_CODE}, /* below, what depends on each other */
    {"templates", SHAPE_CODE},
    {"sizes", SHAPE_CODE},
    {"montage_surveys", SHAPE_CODE},
    {"runtime_scale", SHAPE_NUMBER(A, workload.scaling.work), .flags = CODEC_ABOVE,
     .high = SCALE_MAX},
    {"size_scale", SHAPE_NUMBER(A, workload.scaling.bytes), .flags = CODEC_ABOVE,
     .high = SCALE_MAX},
    {"medium_share", SHAPE_NUMBER(A, workload.medium_share), .flags = SHAPE_KEEP, .high = 1},
};
const struct shape codec_simulation_workload_shape = {.request = "SimulationWorkload",
                                                      SHAPE_OF(members, A)};

void simulation_decode_workload(const struct codec_node *top,
                                const struct codec_simulation_limits *limits,
                                struct codec_simulation *asked)
{
    struct geosim_workload_parameters *terms = &asked->workload;
    size_t usual = WORKFLOWS_USUAL < limits->workflows ? WORKFLOWS_USUAL : limits->workflows;
    *terms = (struct geosim_workload_parameters){.n_workflows = usual,
                                                 .medium_share = 0.5,
                                                 .sizes = geosim_size_classes,
                                                 .n_sizes = GEOSIM_SIZE_CLASSES};
    struct codec_node node = codec_object(top, "workload", CODEC_OPTIONAL);
    shape_decode(&node, &codec_simulation_workload_shape, limits, asked);
    decode_templates(&node, limits, asked);
    decode_source(&node, limits, asked);
    bool built_in = asked->n_templates == 0;
    if (isnan(terms->scaling.work))
        terms->scaling.work = built_in ? geosim_montage_scaling.work : 1;
    if (isnan(terms->scaling.bytes))
        terms->scaling.bytes = built_in ? geosim_montage_scaling.bytes : 1;
    if (node.reader->err->n_faults == 0)
        check_sizes(&node, limits, terms);
    if (top->reader->err->n_faults == 0)
        check_task_runs(top, limits, asked);
}

/* --- with all defaults --- */

static void encode_montage(struct writer *w, const struct codec_simulation *asked)
{
    const struct geosim_workload_parameters *terms = &asked->workload;
    writer_member_array(w, "sizes");
    for (size_t i = 0; i < terms->n_sizes; i++) {
        writer_begin_object(w);
        writer_member_number(w, "share", terms->sizes[i].share);
        writer_member_array(w, "task_range");
        writer_integer(w, (int64_t)terms->sizes[i].least);
        writer_integer(w, (int64_t)terms->sizes[i].most);
        writer_end_array(w);
        writer_end_object(w);
    }
    writer_end_array(w);
    if (asked->by_template_figures)
        return;
    writer_member_array(w, "montage_surveys");
    for (size_t i = 0; i < BUILT_IN; i++)
        if ((asked->montage_surveys & 1U << i) != 0)
            writer_string(w, survey_words[i]);
    writer_end_array(w);
}

void simulation_encode_workload(struct writer *w, const void *object, const void *context)
{
    const struct codec_simulation *asked = object;
    (void)context;
    const struct geosim_workload_parameters *terms = &asked->workload;
    writer_member_object(w, "workload");
    writer_member_integer(w, "workflows", (int64_t)terms->n_workflows);
    writer_member_string(w, "workflow_source", workflow_sources[terms->n_recordings > 0]);
    if (terms->n_recordings == 0)
        encode_montage(w, asked);
    writer_member_number(w, "runtime_scale", terms->scaling.work);
    writer_member_number(w, "size_scale", terms->scaling.bytes);
    writer_member_number(w, "medium_share", terms->medium_share);
    if (asked->n_templates > 0) {
        writer_member_array(w, "templates");
        for (size_t i = 0; i < asked->n_templates; i++)
            writer_raw(w, asked->templates[i]);
        writer_end_array(w);
    }
    writer_end_object(w);
}
