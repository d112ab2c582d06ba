/* What was found, in sentences: reasons of nodes, advice, and what the data does not say. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/history/warned_runs.h"
#include "core/spark/property_value.h"
#include "core/stragglers/stragglers_internal.h"

/* Less of the run, or of a second, is not worth a setting. */
static const double WORTH_SHARE = 0.02;
static const double WORTH_S = 1;

/* A sentence names so many nodes at most, a property so many. */
enum {
    ADVICE_MAX = 4,
    LABEL_BYTES = 272,
    NAMED_MAX = 5,
    EXCLUDED_MAX = 100,
    RANGE_BYTES = 2 * QUANTITY_TEXT_MAX + 8
};

static void put_label(const struct straggler_node *node, char out[LABEL_BYTES])
{
    if (node->name.at != NULL)
        strview_shorten(node->name, out, LABEL_BYTES);
    else
        (void)snprintf(out, LABEL_BYTES, "node %zu", node->place + 1);
}

/* --- reasons --- */

static const char *slow_reason(const struct straggler_node *node, struct arena *arena)
{
    char label[LABEL_BYTES];
    char instant[INSTANT_TEXT];
    put_label(node, label);
    const char *since = "";
    if (node->since_us != RUN_NO_INSTANT) {
        instant_format(node->since_us, instant);
        since = arena_printf(arena, ", and in all since %s", instant);
    }
    return since == NULL
               ? NULL
               : arena_printf(arena,
                              "Tasks on %s take %s times as long as those of the same stages on "
                              "an ordinary other node (%s to %s times), which what they read "
                              "does not explain. By itself %zu of %zu run%s %s it%s.",
                              label, quantity_number(node->speed.factor).text,
                              quantity_number(node->speed.low).text,
                              quantity_number(node->speed.high).text, node->slow_runs, node->runs,
                              PLURAL(node->runs), PLURAL_VERB(node->slow_runs, "shows", "show"),
                              since);
}

static const char *node_reason(const struct straggler_node *node, struct arena *arena)
{
    const struct node_speed *speed = &node->speed;
    switch (node->verdict) {
    case STRAGGLER_SLOW:
        return slow_reason(node, arena);
    case STRAGGLER_NORMAL:
        return arena_printf(arena,
                            "Its tasks take %s times as long as those of the same stages on an "
                            "ordinary other node (%s to %s times).",
                            quantity_number(speed->factor).text, quantity_number(speed->low).text,
                            quantity_number(speed->high).text);
    case STRAGGLER_TOO_FEW:
    case STRAGGLER_VERDICTS:
        break;
    }
    if (speed->studies == 0)
        return "No stage had tasks on it and on other nodes, and enough of them to see how they "
               "vary.";
    return arena_printf(arena,
                        "With %zu task%s in %zu stage%s it takes %s to %s times as long as an "
                        "ordinary other node: too wide a range for a verdict.",
                        speed->tasks, PLURAL(speed->tasks), speed->studies, PLURAL(speed->studies),
                        quantity_number(speed->low).text, quantity_number(speed->high).text);
}

/* --- advice --- */

/* The last finding made becomes advice. */
static void add_advice(struct stragglers *found,
                       const struct findings *made,
                       const char *key,
                       const char *value)
{
    found->advice[found->n_advice++] =
        (struct straggler_advice){made->items[made->n - 1], key, value};
}

static size_t count_verdict(const struct stragglers *found, enum straggler_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n_nodes; i++)
        n += found->nodes[i].verdict == verdict;
    return n;
}

/* The first n nodes; NULL: no memory. */
static char *
list_names(const struct stragglers *found, size_t n, const char *between, struct arena *arena)
{
    char *list = arena_printf(arena, "%s", "");
    for (size_t i = 0; i < n && list != NULL; i++) {
        char label[LABEL_BYTES];
        put_label(&found->nodes[i], label);
        list = arena_printf(arena, "%s%s%s", list, i == 0 ? "" : between, label);
    }
    return list;
}

static bool is_hash(struct strview name)
{
    return name.at != NULL && name.n > 5 && memcmp(name.at, "host:", 5) == 0;
}

/* Posted runs may name nodes as they like; in a list with commas this one would be two others. */
static bool divides_a_list(struct strview name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.at[i] == ',' || (unsigned char)name.at[i] <= ' ')
            return true;
    return false;
}

/* Can a resource manager know them by these names? */
static bool names_are_hosts(const struct stragglers *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct strview name = found->nodes[i].name;
        if (name.at == NULL || is_hash(name) || divides_a_list(name))
            return false;
    }
    return true;
}

static bool advise_nodes(const struct search *search, struct findings *made)
{
    struct stragglers *found = search->found;
    size_t slow = count_verdict(found, STRAGGLER_SLOW);
    if (slow == 0)
        return true;
    size_t named = slow < NAMED_MAX ? slow : NAMED_MAX;
    const char *names = list_names(found, named, ", ", search->arena);
    bool excluded = slow <= EXCLUDED_MAX && names_are_hosts(found, slow);
    const char *value = list_names(found, excluded ? slow : 0, ",", search->arena);
    if (names == NULL || value == NULL)
        return false;
    struct finding *finding = finding_add(
        made, "slow_nodes",
        "%zu node%s %s slow: %s%s. Look at what else runs there and at disks and network, or keep "
        "executors away (spark.yarn.exclude.nodes on YARN, a cordon on Kubernetes). "
        "spark.excludeOnFailure.enabled does not help: it excludes nodes on which tasks fail.%s",
        slow, PLURAL(slow), PLURAL_VERB(slow, "is", "are"), names, named < slow ? ", ..." : "",
        is_hash(found->nodes[0].name) ? " The names are hashes; logs that are sent while "
                                        "eventlog_host_names is keep have the "
                                        "names of hosts."
                                      : "");
    if (finding == NULL)
        return false;
    finding_count(finding, slow);
    add_advice(found, made, excluded ? "spark.yarn.exclude.nodes" : NULL, excluded ? value : NULL);
    return true;
}

/* "2 to 5", or "2" where both read the same. */
static void put_range(double a, double b, char out[RANGE_BYTES])
{
    const struct quantity_text low = quantity_number(fmin(a, b));
    const struct quantity_text high = quantity_number(fmax(a, b));
    bool same = strcmp(low.text, high.text) == 0;
    (void)snprintf(out, RANGE_BYTES, "%s%s%s", low.text, same ? "" : " to ", same ? "" : high.text);
}

static bool is_on(const struct run *run)
{
    return property_boolean(
        property_find(run->spark_properties, run->n_spark_properties, "spark.speculation"), false);
}

static bool advise_copies(const struct search *search, struct findings *made)
{
    struct stragglers *found = search->found;
    const struct straggler_copies *of = found->speculation.copies[COPY_SPARK];
    double least = fmin(of[STRAGGLER_PESSIMISTIC].saved_s, of[STRAGGLER_OPTIMISTIC].saved_s);
    double most = fmax(of[STRAGGLER_PESSIMISTIC].saved_s, of[STRAGGLER_OPTIMISTIC].saved_s);
    double worth = fmax(WORTH_SHARE * found->run->duration_s, WORTH_S);
    if (found->speculation.stages == 0 || isnan(found->run->duration_s))
        return true;
    bool pays = least >= worth;
    bool may = !pays && most >= worth;
    char saved[RANGE_BYTES];
    char copies[RANGE_BYTES];
    put_range(least, most, saved);
    put_range((double)of[STRAGGLER_OPTIMISTIC].copies, (double)of[STRAGGLER_PESSIMISTIC].copies,
              copies);
    struct finding *finding = finding_add(
        made,
        pays  ? "speculation_pays"
        : may ? "speculation_may_pay"
              : "speculation_does_not_pay",
        "Copies of slow tasks by Spark's rule (quantile %s, multiplier %s) would have saved %s s "
        "of the last run's %s; copies made: %s.%s",
        quantity_number(found->rule.quantile).text, quantity_number(found->rule.multiplier).text,
        saved, quantity_duration(found->run->duration_s).text, copies,
        may ? " How much depends on whether its tasks were slow by chance, which the log does not "
              "say."
            : "");
    if (finding == NULL)
        return false;
    finding_number(finding, "saved_least_s", least);
    finding_number(finding, "saved_most_s", most);
    bool set = (pays || may) && !is_on(found->run);
    add_advice(found, made, set ? "spark.speculation" : NULL, set ? "true" : NULL);
    return true;
}

static bool advise_skew(const struct search *search, struct findings *made)
{
    struct stragglers *found = search->found;
    double extra = 0;
    double read = 0;
    bool shuffled = false;
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct straggler_stage *stage = &found->stages[i];
        extra += stage->slow.sum.extra_s;
        read += stage->slow.sum.read_s;
        shuffled = shuffled ||
                   (stage->slow.sum.read_s > 0 && stage->stage->metrics.shuffle_read_bytes > 0);
    }
    if (read < WORTH_S || read < 0.5 * extra)
        return true;
    struct finding *finding = finding_add(
        made, "skew",
        "%s of the %s that slow tasks of the last run took longer are explained by what they "
        "read: divide the data more evenly; copies do not help there.",
        quantity_duration(read).text, quantity_duration(extra).text);
    if (finding == NULL)
        return false;
    finding_number(finding, "read_s", read);
    finding_number(finding, "extra_s", extra);
    add_advice(found, made, shuffled ? "spark.sql.adaptive.skewJoin.enabled" : NULL,
               shuffled ? "true" : NULL);
    return true;
}

static const char *rule_words(enum share_rule rule)
{
    static const char *const words[SHARE_RULES] = {
        [SHARE_FIFO] = "the first stage first",
        [SHARE_FAIR] = "equal shares (FAIR)",
        [SHARE_SHORTEST] = "the stage with least work left first",
        [SHARE_LONGEST] = "the stage with most work left first"};
    return words[rule];
}

/* What the best division of each group saves; the group that gains most has the word. */
static bool advise_sharing(const struct search *search, struct findings *made)
{
    struct stragglers *found = search->found;
    const struct straggler_group *most = NULL;
    double saved = 0;
    double largest = 0;
    for (size_t g = 0; g < found->n_groups; g++) {
        const struct straggler_group *group = &found->groups[g];
        double gain =
            group->rules[group->rule_of_run].makespan_s - group->rules[group->best].makespan_s;
        saved += gain;
        if (gain > largest) {
            largest = gain;
            most = group;
        }
    }
    double worth = fmax(WORTH_SHARE * found->run->duration_s, WORTH_S);
    if (most == NULL || !(saved >= worth))
        return true;
    struct finding *finding = finding_add(
        made, "concurrent_stages",
        "Stages that ran at the same time would have ended %s sooner with the cores divided in "
        "another way: in the group that begins with stage %" PRId64 ", %s.",
        quantity_duration(saved).text, most->stage_ids[0], rule_words(most->best));
    if (finding == NULL)
        return false;
    finding_number(finding, "saved_s", saved);
    bool fair = most->best == SHARE_FAIR;
    add_advice(found, made, fair ? "spark.scheduler.mode" : NULL, fair ? "FAIR" : NULL);
    return true;
}

/* --- warnings --- */

struct gaps {
    size_t runs_without; /* of which no stage says where its tasks ran */
    size_t thinned;
    size_t unnamed;        /* runs with a node without a name */
    size_t stages_without; /* of the last run: with tasks, but not where they ran */
    size_t cores_unknown;  /* nodes of the last run */
    size_t tasks;          /* of the last run */
};

static void count_run(const struct run *run, struct gaps *gaps)
{
    size_t with = 0;
    bool unnamed = false;
    for (size_t i = 0; i < run->n_stages; i++)
        with += straggler_has_nodes(&run->stages[i]);
    for (size_t k = 0; k < run->n_nodes; k++)
        unnamed = unnamed || run->nodes[k].name.at == NULL;
    gaps->runs_without += with == 0;
    gaps->thinned += run->tasks_thinned;
    gaps->unnamed += unnamed;
}

static struct gaps count_gaps(const struct search *search)
{
    const struct run *last = search->runs;
    struct gaps gaps = {.runs_without = 0};
    for (size_t r = 0; r < search->n; r++)
        count_run(&search->runs[r], &gaps);
    for (size_t i = 0; i < last->n_stages; i++) {
        const struct run_stage *stage = &last->stages[i];
        gaps.stages_without += !stage->skipped && stage->n_tasks > 0 && !straggler_has_nodes(stage);
    }
    for (size_t k = 0; k < last->n_nodes; k++)
        gaps.cores_unknown += last->nodes[k].cores < 1;
    for (size_t i = 0; i < search->found->n_stages; i++)
        gaps.tasks += (size_t)search->found->stages[i].stage->n_tasks;
    return gaps;
}

static void warn_runs(const struct search *search, const struct gaps *gaps)
{
    struct findings *warnings = &search->found->warnings;
    if (gaps->runs_without > 0)
        finding_count(finding_add(warnings, "no_node_figures",
                                  "%zu of %zu run%s %s not say which node each task ran on: posted "
                                  "by hand without it, or stored before it was kept.",
                                  gaps->runs_without, search->n, PLURAL(search->n),
                                  PLURAL_VERB(gaps->runs_without, "does", "do")),
                      gaps->runs_without);
    if (gaps->thinned > 0)
        finding_count(finding_add(warnings, "runs_thinned",
                                  "Of %zu run%s only a summary of the tasks of long stages is "
                                  "left: these stages are not looked at.",
                                  gaps->thinned, PLURAL(gaps->thinned)),
                      gaps->thinned);
    if (gaps->unnamed > 0 && search->n > 1)
        finding_count(finding_add(warnings, "nodes_unnamed",
                                  "%zu run%s %s nodes without names, which are not known again in "
                                  "other runs: only those of the last run are judged.",
                                  gaps->unnamed, PLURAL(gaps->unnamed),
                                  PLURAL_VERB(gaps->unnamed, "has", "have")),
                      gaps->unnamed);
}

static void warn_last_run(const struct search *search, const struct gaps *gaps)
{
    const struct run *last = search->runs;
    struct findings *warnings = &search->found->warnings;
    if (gaps->stages_without > 0 && last->n_nodes > 0)
        finding_count(finding_add(warnings, "stages_without_nodes",
                                  "Of %zu stage%s of the last run it is not known on which nodes "
                                  "the tasks ran.",
                                  gaps->stages_without, PLURAL(gaps->stages_without)),
                      gaps->stages_without);
    if (last->n_nodes == 1)
        (void)finding_add(warnings, "single_node",
                          "The last run had one node: no other node can be compared with it or "
                          "take copies of tasks.");
    if (gaps->cores_unknown > 0)
        finding_count(finding_add(warnings, "node_cores_unknown",
                                  "Of %zu node%s of the last run it is not known how many cores "
                                  "executors had there, so copies of tasks cannot be replayed.",
                                  gaps->cores_unknown, PLURAL(gaps->cores_unknown)),
                      gaps->cores_unknown);
    if (search->found->too_large)
        finding_count(finding_add(warnings, "too_many_tasks",
                                  "The last run has %zu task%s on %zu node%s: too many to be "
                                  "replayed (straggler_replay_steps_max, "
                                  "straggler_replay_looks_max).",
                                  gaps->tasks, PLURAL(gaps->tasks), last->n_nodes,
                                  PLURAL(last->n_nodes)),
                      gaps->tasks);
    if (is_on(last) || last->tasks_speculative > 0)
        (void)finding_add(warnings, "speculation_was_on",
                          "The last run had copies of slow tasks already: the saving shown is in "
                          "addition to theirs.");
}

/* Stages that shared the cores with others, or waited for executors, are not what was replayed. */
static void warn_replay(const struct search *search)
{
    static const double FAR = 0.25;
    struct stragglers *found = search->found;
    double measured = found->speculation.measured_s;
    double replayed = found->speculation.replayed_s;
    if (found->speculation.stages == 0 || fabs(replayed - measured) <= FAR * measured)
        return;
    struct finding *finding = finding_add(
        &found->warnings, "replay_far_off",
        "Stages of the last run took %s together, their replays without copies %s: they "
        "ran "
        "beside others or waited for something but tasks, so what copies would save is uncertain.",
        quantity_duration(measured).text, quantity_duration(replayed).text);
    finding_number(finding, "measured_s", measured);
    finding_number(finding, "replayed_s", replayed);
}

static void warn_nodes(const struct search *search)
{
    struct stragglers *found = search->found;
    size_t few = count_verdict(found, STRAGGLER_TOO_FEW);
    if (few > 0)
        finding_count(finding_add(&found->warnings, "too_few_tasks",
                                  "%zu node%s had too few tasks beside other nodes for a verdict.",
                                  few, PLURAL(few)),
                      few);
}

enum pv_code straggler_explain(const struct search *search, struct pv_error *err)
{
    struct stragglers *found = search->found;
    struct findings made = {.arena = search->arena};
    struct warned_runs warned = {.runs = 0};
    for (size_t i = 0; i < found->n_nodes; i++) {
        found->nodes[i].reason = node_reason(&found->nodes[i], search->arena);
        if (found->nodes[i].reason == NULL)
            return pv_no_memory(err);
    }
    found->advice = arena_calloc(search->arena, ADVICE_MAX, sizeof *found->advice);
    if (found->advice == NULL || !advise_nodes(search, &made) || !advise_copies(search, &made) ||
        !advise_skew(search, &made) || !advise_sharing(search, &made))
        return pv_no_memory(err);
    const struct gaps gaps = count_gaps(search);
    warn_runs(search, &gaps);
    for (size_t i = 0; i < search->n; i++)
        warned_runs_add_run(&warned, &search->runs[i]);
    warned_runs_explain(&warned, false, &found->warnings);
    warn_last_run(search, &gaps);
    warn_replay(search);
    warn_nodes(search);
    return findings_check(&found->warnings, err);
}
