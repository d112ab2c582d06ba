#include "codec/models/model_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/scaling/laws/kinds.h"

static const double COUNT_MAX = 1e12;
static const double NUMBER_MAX = 1e300;

/* --- the kind --- */

static const char AUTO[] = "auto";

static void list_kinds(bool automatic, char known[], size_t n)
{
    (void)snprintf(known, n, "%s", automatic ? AUTO : "");
    for (size_t i = 0; model_kinds[i] != NULL; i++) {
        (void)strncat(known, known[0] == '\0' ? "" : ", ", n - strlen(known) - 1);
        (void)strncat(known, model_kinds[i]->name, n - strlen(known) - 1);
    }
}

static const struct model_kind *decode_kind(const struct codec_node *node, bool automatic)
{
    char name[32];
    char known[192];
    size_t faults = node->reader->err->n_faults;
    struct strview word = codec_text(node, "model", CODEC_REQUIRED, 1, 255);
    if (node->reader->err->n_faults != faults || word.at == NULL)
        return NULL;
    if (word.n < sizeof name) {
        memcpy(name, word.at, word.n);
        name[word.n] = '\0';
        const struct model_kind *kind = model_find_kind(name);
        if (kind != NULL)
            return kind;
    }
    list_kinds(automatic, known, sizeof known);
    codec_fault_member(node, "model", "not_allowed", "must be one of: %s", known);
    return NULL;
}

const struct model_kind *codec_model_kind_decode(const struct codec_node *node)
{
    return decode_kind(node, false);
}

const struct model_kind *codec_model_choice_decode(const struct codec_node *node, bool *automatic)
{
    struct codec_node member = codec_member(node, "model");
    *automatic = json_is_string(member.json) && strcmp(json_string_value(member.json), AUTO) == 0;
    return *automatic ? NULL : decode_kind(node, true);
}

/* --- out --- */

static void encode_knots(struct writer *w, const struct model_tables *tables)
{
    writer_member_array(w, "knots");
    for (size_t i = 0; i < tables->n_knots; i++) {
        writer_begin_array(w);
        writer_number(w, tables->knots[i].problem_size);
        writer_number(w, tables->knots[i].executors);
        writer_number(w, tables->knots[i].duration_s);
        writer_end_array(w);
    }
    writer_end_array(w);
}

static void encode_component(struct writer *w, const struct model_component *component)
{
    const struct model_law *law = &component->law;
    writer_begin_object(w);
    writer_member_string(w, "model", law->kind->name);
    writer_member_number(w, "weight", component->weight);
    writer_member_object(w, "parameters");
    for (size_t j = 0; j < law->kind->n_parameters; j++)
        if (!isnan(law->p[j]))
            writer_member_number(w, law->kind->rules[j].name, law->p[j]);
    writer_end_object(w);
    if ((law->kind->tables & MODEL_HAS_KNOTS) != 0)
        encode_knots(w, &law->tables);
    writer_end_object(w);
}

void codec_model_tables_encode(struct writer *w, const struct model *model)
{
    const struct model_tables *tables = &model->tables;
    unsigned has = model->kind->tables;
    if (has == 0)
        return;
    writer_member_object(w, "tables");
    if ((has & MODEL_HAS_KNOTS) != 0)
        encode_knots(w, tables);
    if ((has & MODEL_HAS_COMPONENTS) != 0) {
        writer_member_array(w, "components");
        for (size_t i = 0; i < tables->n_components; i++)
            encode_component(w, &tables->components[i]);
        writer_end_array(w);
    }
    writer_end_object(w);
}

/* --- in --- */

static void *take_room(const struct codec_node *list, size_t n, size_t size)
{
    void *room = arena_calloc(list->reader->arena, n, size);
    if (room == NULL)
        (void)pv_no_memory(list->reader->err);
    return room;
}

static void decode_knot(const struct codec_node *item, struct model_knot *knot)
{
    struct codec_node at[3];
    if (!json_is_array(item->json) || json_array_size(item->json) != 3) {
        codec_fault(item, "wrong_type", "must be [problem_size, executors, duration_s]");
        return;
    }
    for (size_t i = 0; i < 3; i++)
        at[i] = codec_item(item, i);
    knot->problem_size = codec_as_number(&at[0], CODEC_REQUIRED, 1, COUNT_MAX);
    knot->executors = codec_as_number(&at[1], CODEC_REQUIRED, 1, COUNT_MAX);
    knot->duration_s = codec_as_number(&at[2], CODEC_REQUIRED, 1e-12, NUMBER_MAX);
}

static bool ascends(const struct model_knot *a, const struct model_knot *b)
{
    return a->problem_size < b->problem_size ||
           (!(a->problem_size > b->problem_size) && a->executors < b->executors);
}

static void decode_knots(const struct codec_node *node, struct model_tables *tables)
{
    struct codec_node list = codec_array(node, "knots", CODEC_REQUIRED, 1, MODEL_KNOTS_MAX);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct model_knot *knots = take_room(&list, n, sizeof *knots);
    if (knots == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_knot(&item, &knots[i]);
        if (i > 0 && !ascends(&knots[i - 1], &knots[i]))
            codec_fault(&item, "out_of_range",
                        "must come after the one before: by problem_size, "
                        "then by executors");
    }
    tables->knots = knots;
    tables->n_knots = n;
}

static void decode_numbers(const struct codec_node *node, struct model_law *law)
{
    const struct model_kind *kind = law->kind;
    const char *known[MODEL_PARAMETERS_MAX + 1] = {NULL};
    struct codec_node list = codec_object(node, "parameters", CODEC_REQUIRED);
    if (list.json == NULL)
        return;
    for (size_t j = 0; j < kind->n_parameters; j++)
        known[j] = kind->rules[j].name;
    codec_refuse_unknown(&list, known);
    for (size_t j = 0; j < kind->n_parameters; j++) {
        const struct model_parameter_rule *rule = &kind->rules[j];
        law->p[j] = (double)NAN;
        if ((rule->forms & MODEL_OF_DURATIONS) != 0)
            law->p[j] = codec_number(&list, rule->name, CODEC_REQUIRED,
                                     fmax(rule->low, -NUMBER_MAX), fmin(rule->high, NUMBER_MAX));
    }
}

static void decode_component(const struct codec_node *item, struct model_component *component)
{
    static const char *const known[] = {"model", "weight", "parameters", NULL};
    static const char *const known_knots[] = {"model", "weight", "parameters", "knots", NULL};
    if (!codec_expect_object(item))
        return;
    const struct model_kind *kind = codec_model_kind_decode(item);
    component->weight = codec_number(item, "weight", CODEC_REQUIRED, -NUMBER_MAX, NUMBER_MAX);
    if (kind == NULL)
        return;
    bool simple = (kind->tables & ~(unsigned)MODEL_HAS_KNOTS) == 0;
    if (!simple || (kind->forms & MODEL_OF_DURATIONS) == 0) {
        codec_fault_member(item, "model", "not_allowed", "%s cannot be part of a combination",
                           kind->name);
        return;
    }
    component->law = (struct model_law){.kind = kind, .form = MODEL_OF_DURATIONS};
    codec_refuse_unknown(item, kind->tables != 0 ? known_knots : known);
    decode_numbers(item, &component->law);
    if (kind->tables != 0)
        decode_knots(item, &component->law.tables);
}

static void decode_components(const struct codec_node *node, struct model_tables *tables)
{
    struct codec_node list =
        codec_array(node, "components", CODEC_REQUIRED, 1, MODEL_COMPONENTS_MAX);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct model_component *components = take_room(&list, n, sizeof *components);
    if (components == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_component(&item, &components[i]);
    }
    tables->components = components;
    tables->n_components = n;
}

void codec_model_tables_decode(const struct codec_node *node, struct model *model)
{
    static const struct {
        const char *name;
        unsigned bit;
    } all[] = {{"knots", MODEL_HAS_KNOTS}, {"components", MODEL_HAS_COMPONENTS}};
    unsigned has = model->kind->tables;
    const char *known[3] = {NULL};
    size_t n_known = 0;
    if (has == 0 && codec_present(node, "tables"))
        codec_fault_member(node, "tables", "conflict", "%s has none", model->kind->name);
    if (has == 0)
        return;
    struct codec_node tables = codec_object(node, "tables", CODEC_REQUIRED);
    if (tables.json == NULL)
        return;
    for (size_t i = 0; i < 2; i++)
        if ((has & all[i].bit) != 0)
            known[n_known++] = all[i].name;
    codec_refuse_unknown(&tables, known);
    if ((has & MODEL_HAS_KNOTS) != 0)
        decode_knots(&tables, &model->tables);
    if ((has & MODEL_HAS_COMPONENTS) != 0)
        decode_components(&tables, &model->tables);
}
