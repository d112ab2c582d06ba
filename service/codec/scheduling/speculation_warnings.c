#include "base/plural.h"
#include "codec/scheduling/speculation.h"

/* So much of a name stands in a message; evidence has all of it. */
enum { NAME_BYTES = 64 };

struct warned {
    const struct codec_speculation *asked;
    const struct speculation_gaps *gaps;
    struct findings *warnings;
};

static const char *node_name(const struct warned *of, size_t node)
{
    return node != SPECULATION_NONE ? of->asked->nodes[node].name.at : NULL;
}

static const char *type_name(const struct warned *of, size_t type)
{
    return type != SPECULATION_NONE ? of->asked->types[type].at : NULL;
}

static void warn_no_levels(const struct warned *of)
{
    const struct speculation_gaps *gaps = of->gaps;
    struct finding *finding =
        finding_add(of->warnings, "no_common_task_types",
                    "There is no type of tasks of which every node has finished one, so levels "
                    "cannot be found: "
                    "all nodes are on one level. %zu node%s %s finished nothing, %zu type%s %s "
                    "been finished by "
                    "one node only.",
                    gaps->unproven_nodes, PLURAL(gaps->unproven_nodes),
                    PLURAL_VERB(gaps->unproven_nodes, "has", "have"), gaps->lone_types,
                    PLURAL(gaps->lone_types), PLURAL_VERB(gaps->lone_types, "has", "have"));
    finding_number(finding, "nodes_without_finished_tasks", (double)gaps->unproven_nodes);
    finding_text(finding, "node", node_name(of, gaps->unproven_node));
    finding_number(finding, "types_of_one_node", (double)gaps->lone_types);
    finding_text(finding, "type", type_name(of, gaps->lone_type));
}

static void warn_unproven_nodes(const struct warned *of)
{
    size_t n = of->gaps->unproven_nodes;
    if (n == 0)
        return;
    struct strview first = strview_clip(of->asked->nodes[of->gaps->unproven_node].name, NAME_BYTES);
    struct finding *finding =
        finding_add(of->warnings, "nodes_without_finished_tasks",
                    "%zu node%s %s finished no task, the first is %.*s: what is normal there is "
                    "known from other "
                    "nodes only.",
                    n, PLURAL(n), PLURAL_VERB(n, "has", "have"), (int)first.n, first.at);
    finding_count(finding, n);
    finding_text(finding, "node", node_name(of, of->gaps->unproven_node));
}

static void warn_lone_types(const struct warned *of)
{
    size_t n = of->gaps->lone_types;
    if (n == 0)
        return;
    struct strview first = strview_clip(of->asked->types[of->gaps->lone_type], NAME_BYTES);
    struct finding *finding =
        finding_add(of->warnings, "types_of_one_node",
                    "%zu type%s of tasks %s been finished by one node only, the first is %.*s: how "
                    "long they take "
                    "on other nodes is not known.",
                    n, PLURAL(n), PLURAL_VERB(n, "has", "have"), (int)first.n, first.at);
    finding_count(finding, n);
    finding_text(finding, "type", type_name(of, of->gaps->lone_type));
    finding_text(finding, "node", node_name(of, of->gaps->lone_node));
}

static void warn_unknown_types(const struct warned *of)
{
    size_t n = of->gaps->unknown_types;
    if (n == 0)
        return;
    struct strview first = strview_clip(of->asked->types[of->gaps->unknown_type], NAME_BYTES);
    struct finding *finding = finding_add(of->warnings, "types_without_finished_tasks",
                                          "Tasks of %zu type%s run of which no node has finished "
                                          "any, the first is %.*s: how long a copy "
                                          "takes is not known.",
                                          n, PLURAL(n), (int)first.n, first.at);
    finding_count(finding, n);
    finding_text(finding, "type", type_name(of, of->gaps->unknown_type));
}

static void warn_crowded_nodes(const struct warned *of)
{
    size_t n = of->gaps->crowded_nodes;
    if (n == 0)
        return;
    struct strview first = strview_clip(of->asked->nodes[of->gaps->crowded_node].name, NAME_BYTES);
    struct finding *finding = finding_add(of->warnings, "more_tasks_than_containers",
                                          "On %zu node%s running tasks and free containers "
                                          "together are more than the containers, the "
                                          "first is %.*s.",
                                          n, PLURAL(n), (int)first.n, first.at);
    finding_count(finding, n);
    finding_text(finding, "node", node_name(of, of->gaps->crowded_node));
}

void codec_speculation_warn(const struct codec_speculation *asked,
                            const struct node_levels *levels,
                            const struct speculation_gaps *gaps,
                            struct findings *warnings)
{
    const struct warned of = {asked, gaps, warnings};
    if (levels != NULL && levels->group != NULL && levels->common_types == 0) {
        warn_no_levels(&of);
    } else {
        warn_unproven_nodes(&of);
        warn_lone_types(&of);
    }
    warn_unknown_types(&of);
    warn_crowded_nodes(&of);
}
