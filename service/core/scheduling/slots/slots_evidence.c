#include "core/scheduling/slots/slots_evidence.h"

#include <math.h>

#include "base/hash.h"

enum { CAPACITY_FIRST = 1024 };

/* Of one node and type. */
struct slots_evidence_figures {
    size_t node;
    size_t job;
    enum slots_kind kind;
    size_t tasks;
    double mean_s;
    double squares; /* of deviations from the mean, summed */
    size_t next;    /* of the type; SPECULATION_NONE: none */
};

bool slots_evidence_init(struct slots_evidence *evidence,
                         size_t n_nodes,
                         size_t n_jobs,
                         bool levels_given,
                         struct arena *arena)
{
    *evidence = (struct slots_evidence){
        .arena = arena,
        .n_nodes = n_nodes,
        .levels_given = levels_given,
        .types_of = arena_array(arena, n_jobs, sizeof *evidence->types_of),
        .table = arena_calloc(arena, CAPACITY_FIRST, sizeof *evidence->table),
        .capacity = CAPACITY_FIRST};
    if (evidence->types_of == NULL || evidence->table == NULL)
        return false;
    for (size_t i = 0; i < n_jobs; i++)
        evidence->types_of[i][SLOTS_MAP] = evidence->types_of[i][SLOTS_REDUCE] = SPECULATION_NONE;
    return true;
}

/* --- the table --- */

/* Where figures are, or would be. */
static size_t
place_of(const struct slots_evidence *evidence, size_t node, size_t job, enum slots_kind kind)
{
    uint64_t hash = hash_number(HASH_START, (uint64_t)node * UINT32_MAX + job * SLOTS_KINDS + kind);
    size_t place = (size_t)hash & (evidence->capacity - 1);
    for (; evidence->table[place] != 0; place = (place + 1) & (evidence->capacity - 1)) {
        const struct slots_evidence_figures *figures =
            &evidence->figures.items[evidence->table[place] - 1];
        if (figures->node == node && figures->job == job && figures->kind == kind)
            break;
    }
    return place;
}

static bool grow_table(struct slots_evidence *evidence)
{
    size_t capacity = 2 * evidence->capacity;
    uint32_t *table = arena_calloc(evidence->arena, capacity, sizeof *table);
    if (table == NULL)
        return false;
    evidence->table = table;
    evidence->capacity = capacity;
    for (size_t i = 0; i < evidence->figures.n; i++) {
        const struct slots_evidence_figures *figures = &evidence->figures.items[i];
        table[place_of(evidence, figures->node, figures->job, figures->kind)] = (uint32_t)(i + 1);
    }
    return true;
}

/* --- types --- */

static size_t find_type(struct slots_evidence *evidence, size_t job, enum slots_kind kind)
{
    size_t *type = &evidence->types_of[job][kind];
    if (*type != SPECULATION_NONE)
        return *type;
    struct slots_evidence_type *added = vector_add(evidence->arena, &evidence->types);
    if (added == NULL)
        return SPECULATION_NONE;
    *added = (struct slots_evidence_type){job, kind, SPECULATION_NONE, 0, false};
    *type = evidence->types.n - 1;
    return *type;
}

size_t slots_evidence_type(struct slots_evidence *evidence, size_t job, enum slots_kind kind)
{
    size_t type = find_type(evidence, job, kind);
    if (type != SPECULATION_NONE)
        evidence->types.items[type].seen = true;
    return type;
}

void slots_evidence_job_ended(struct slots_evidence *evidence, size_t job)
{
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        size_t *type = &evidence->types_of[job][kind];
        bool needed = *type != SPECULATION_NONE && !evidence->levels_given &&
                      evidence->types.items[*type].nodes == evidence->n_nodes;
        if (*type == SPECULATION_NONE || needed)
            continue;
        evidence->types.items[*type].job = SLOTS_NOBODY;
        *type = SPECULATION_NONE;
    }
}

/* They keep their order. */
void slots_evidence_begin(struct slots_evidence *evidence)
{
    size_t n = 0;
    for (size_t t = 0; t < evidence->types.n; t++) {
        struct slots_evidence_type type = evidence->types.items[t];
        if (type.job == SLOTS_NOBODY)
            continue;
        type.seen = false;
        evidence->types_of[type.job][type.kind] = n;
        evidence->types.items[n++] = type;
    }
    evidence->types.n = n;
}

/* --- figures --- */

static struct slots_evidence_figures *
find(struct slots_evidence *evidence, size_t node, size_t job, enum slots_kind kind)
{
    size_t place = place_of(evidence, node, job, kind);
    if (evidence->table[place] != 0)
        return &evidence->figures.items[evidence->table[place] - 1];
    size_t type = find_type(evidence, job, kind);
    if (type == SPECULATION_NONE || evidence->figures.n + 1 == UINT32_MAX ||
        (2 * evidence->figures.n >= evidence->capacity && !grow_table(evidence)))
        return NULL;
    struct slots_evidence_figures *added = vector_add(evidence->arena, &evidence->figures);
    if (added == NULL)
        return NULL;
    struct slots_evidence_type *of = &evidence->types.items[type];
    *added =
        (struct slots_evidence_figures){.node = node, .job = job, .kind = kind, .next = of->first};
    of->first = evidence->figures.n - 1;
    of->nodes++;
    evidence->table[place_of(evidence, node, job, kind)] = (uint32_t)evidence->figures.n;
    return added;
}

bool slots_evidence_add(struct slots_evidence *evidence,
                        size_t node,
                        size_t job,
                        enum slots_kind kind,
                        double task_s,
                        size_t count)
{
    struct slots_evidence_figures *figures = find(evidence, node, job, kind);
    if (figures == NULL)
        return false;
    double before = (double)figures->tasks;
    double added = (double)count;
    double off = task_s - figures->mean_s;
    figures->tasks += count;
    figures->mean_s += off * added / (before + added);
    figures->squares += off * off * before * added / (before + added);
    return true;
}

/* The first figures of a type that matters now. */
static size_t first_of(const struct slots_evidence *evidence, size_t type)
{
    const struct slots_evidence_type *of = &evidence->types.items[type];
    return of->seen || !evidence->levels_given ? of->first : SPECULATION_NONE;
}

static void count_figures(const struct slots_evidence *evidence, struct speculation_node nodes[])
{
    for (size_t t = 0; t < evidence->types.n; t++)
        for (size_t i = first_of(evidence, t); i != SPECULATION_NONE;
             i = evidence->figures.items[i].next)
            nodes[evidence->figures.items[i].node].n_finished++;
}

bool slots_evidence_take(struct slots_evidence *evidence,
                         struct arena *arena,
                         struct speculation_node nodes[])
{
    size_t n = 0;
    for (size_t i = 0; i < evidence->n_nodes; i++)
        nodes[i].n_finished = 0;
    count_figures(evidence, nodes);
    for (size_t i = 0; i < evidence->n_nodes; i++)
        n += nodes[i].n_finished;
    struct speculation_finished *finished = arena_array(arena, n, sizeof *finished);
    struct speculation_finished **ends = arena_array(arena, evidence->n_nodes, sizeof *ends);
    if (finished == NULL || ends == NULL)
        return false;
    for (size_t i = 0; i < evidence->n_nodes; i++) {
        nodes[i].finished = ends[i] = finished;
        finished += nodes[i].n_finished;
    }
    for (size_t t = 0; t < evidence->types.n; t++)
        for (size_t i = first_of(evidence, t); i != SPECULATION_NONE;) {
            const struct slots_evidence_figures *figures = &evidence->figures.items[i];
            double tasks = (double)figures->tasks;
            *ends[figures->node]++ = (struct speculation_finished){
                t, figures->tasks, figures->mean_s, sqrt(figures->squares / tasks)};
            i = figures->next;
        }
    return true;
}
