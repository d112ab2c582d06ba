#include "codec/models/model_internal.h"

#include <math.h>
#include <string.h>

#include "core/scaling/laws/deviations.h"
#include "core/scaling/laws/kinds.h"

/* --- the kind --- */

static const char AUTO[] = "auto";

static const struct model_kind *decode_kind(const struct codec_node *node, bool automatic)
{
    const char *words[64] = {AUTO};
    size_t n = automatic ? 1 : 0;
    for (size_t i = 0; model_kinds[i] != NULL && n + 1 < sizeof words / sizeof *words; i++)
        words[n++] = model_kinds[i]->name;
    words[n] = NULL;
    size_t kind = codec_choice(node, "model", CODEC_REQUIRED, words, SIZE_MAX);
    return kind == SIZE_MAX ? NULL : model_kinds[kind - (automatic ? 1 : 0)];
}

const struct model_kind *codec_model_kind_decode(const struct codec_node *node)
{
    return decode_kind(node, false);
}

const struct model_kind *codec_model_choice_decode(const struct codec_node *node, bool *automatic)
{
    struct codec_node member = codec_member(node, "model");
    *automatic = json_value_is_text(member.json) && strcmp(json_value_text(member.json), AUTO) == 0;
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

static void encode_deviations(struct writer *w, const struct model_tables *tables)
{
    writer_member_array(w, "local_deviations");
    for (size_t i = 0; i < tables->n_deviations; i++) {
        writer_begin_array(w);
        writer_number(w, tables->deviations[i].problem_size);
        writer_number(w, tables->deviations[i].executors);
        writer_number(w, tables->deviations[i].coefficient);
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
    if ((has & MODEL_HAS_DEVIATIONS) != 0)
        encode_deviations(w, tables);
    writer_end_object(w);
}

/* --- in --- */

/* A place and what holds there: [problem_size, executors, number]. */
struct table_row {
    double problem_size;
    double executors;
    double number;
};

static void decode_row(
    const struct codec_node *item, const char *what, double low, double high, struct table_row *row)
{
    struct codec_node at[3];
    if (!json_value_is_array(item->json) || json_value_items(item->json) != 3) {
        codec_fault(item, "wrong_type", "must be [problem_size, executors, %s]", what);
        return;
    }
    for (size_t i = 0; i < 3; i++)
        at[i] = codec_item(item, i);
    row->problem_size =
        codec_as_number(&at[0], CODEC_REQUIRED, CODEC_PROBLEM_SIZE_MIN, CODEC_PROBLEM_SIZE_MAX);
    row->executors = codec_as_number(&at[1], CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
    row->number = codec_as_number(&at[2], CODEC_REQUIRED, low, high);
}

static void check_ascent(const struct codec_node *item,
                         const struct table_row *before,
                         const struct table_row *row)
{
    if (before->problem_size < row->problem_size ||
        (!(before->problem_size > row->problem_size) && before->executors < row->executors))
        return;
    codec_fault(item, "out_of_range",
                "must come after the one before: by problem_size, then by executors");
}

static void decode_knots(const struct codec_node *node, struct model_tables *tables)
{
    struct codec_node list;
    struct table_row before = {0, 0, 0};
    size_t n;
    struct model_knot *knots =
        codec_list(node, "knots", CODEC_REQUIRED, 1, MODEL_KNOTS_MAX, sizeof *knots, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        struct table_row row = {0, 0, 0};
        decode_row(&item, "duration_s", 1e-12, MODEL_NUMBER_MAX, &row);
        check_ascent(&item, &before, &row);
        knots[i] = (struct model_knot){row.problem_size, row.executors, row.number};
        before = row;
    }
    tables->knots = knots;
    tables->n_knots = n;
}

/* Models of earlier versions have none. */
static void decode_deviations(const struct codec_node *node, struct model_tables *tables)
{
    struct codec_node list;
    struct table_row before = {0, 0, 0};
    size_t n;
    struct model_deviation *deviations = codec_list(node, "local_deviations", CODEC_OPTIONAL, 0,
                                                    DEVIATIONS_MAX, sizeof *deviations, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        struct table_row row = {0, 0, 0};
        decode_row(&item, "coefficient", -MODEL_NUMBER_MAX, MODEL_NUMBER_MAX, &row);
        check_ascent(&item, &before, &row);
        deviations[i] = (struct model_deviation){row.problem_size, row.executors, row.number};
        before = row;
    }
    tables->deviations = deviations;
    tables->n_deviations = n;
}

static void decode_numbers(const struct codec_node *node, struct model_law *law)
{
    const struct model_kind *kind = law->kind;
    struct codec_node list = codec_object(node, "parameters", CODEC_REQUIRED);
    if (list.json == NULL)
        return;
    codec_model_refuse_parameters(&list, kind);
    for (size_t j = 0; j < kind->n_parameters; j++) {
        const struct model_parameter_rule *rule = &kind->rules[j];
        law->p[j] = (double)NAN;
        if ((rule->forms & MODEL_OF_DURATIONS) != 0)
            law->p[j] =
                codec_number(&list, rule->name, CODEC_REQUIRED, fmax(rule->low, -MODEL_NUMBER_MAX),
                             fmin(rule->high, MODEL_NUMBER_MAX));
    }
}

static void decode_component(const struct codec_node *item, struct model_component *component)
{
    static const char *const known[] = {"model", "weight", "parameters", NULL};
    static const char *const known_knots[] = {"model", "weight", "parameters", "knots", NULL};
    if (!codec_expect_object(item))
        return;
    const struct model_kind *kind = codec_model_kind_decode(item);
    component->weight =
        codec_number(item, "weight", CODEC_REQUIRED, -MODEL_NUMBER_MAX, MODEL_NUMBER_MAX);
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
    struct codec_node list;
    size_t n;
    struct model_component *components = codec_list(
        node, "components", CODEC_REQUIRED, 1, MODEL_COMPONENTS_MAX, sizeof *components, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_component(&item, &components[i]);
    }
    tables->components = components;
    tables->n_components = n;
}

void codec_model_tables_decode(const struct codec_node *node, struct model *model)
{
    static const char *const known[] = {"knots", "components", "local_deviations", NULL};
    static const unsigned bits[] = {MODEL_HAS_KNOTS, MODEL_HAS_COMPONENTS, MODEL_HAS_DEVIATIONS};
    unsigned has = model->kind->tables;
    if (has == 0 && codec_present(node, "tables"))
        codec_fault_member(node, "tables", "conflict", "%s has none", model->kind->name);
    if (has == 0)
        return;
    struct codec_node tables = codec_object(node, "tables", CODEC_REQUIRED);
    if (tables.json == NULL)
        return;
    codec_refuse_unknown(&tables, known);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if ((has & bits[i]) == 0 && json_value_member(tables.json, known[i]) != NULL)
            codec_fault_member(&tables, known[i], "unknown_field", "%s has no such table",
                               model->kind->name);
    if ((has & MODEL_HAS_KNOTS) != 0)
        decode_knots(&tables, &model->tables);
    if ((has & MODEL_HAS_COMPONENTS) != 0)
        decode_components(&tables, &model->tables);
    if ((has & MODEL_HAS_DEVIATIONS) != 0)
        decode_deviations(&tables, &model->tables);
}
