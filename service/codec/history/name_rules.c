#include "codec/history/name_rules.h"

/* The core's pointer into the rule becomes one into the request. */
static void check_rule(const struct codec_node *item, const void *limits, void *object)
{
    const struct name_rule *rule = object;
    struct pv_error wrong;
    (void)limits;
    pv_error_clear(&wrong);
    if (rule->name.at != NULL && rule->pattern.at != NULL && rule->application.at != NULL &&
        name_rule_check(rule, &wrong) != PV_OK)
        codec_fault_member(item, wrong.faults[0].at + 1, wrong.faults[0].code, "%s",
                           wrong.faults[0].detail);
}

#define R struct name_rule
static const struct shape_member rule_members[] = {
    {"name", SHAPE_NAME(R, name), .flags = CODEC_REQUIRED},
    {"pattern", SHAPE_TEXT(R, pattern), .flags = CODEC_REQUIRED, .least = 1,
     .most = NAME_PATTERN_BYTES_MAX},
    {"application", SHAPE_NAME(R, application), .flags = CODEC_REQUIRED},
    {"property", SHAPE_NAME(R, property), .flags = SHAPE_OMIT_UNKNOWN},
};
const struct shape codec_name_rule_shape = {.request = "NameRule",
                                            .reply = "NameRule",
                                            SHAPE_OF(rule_members, R),
                                            .check = check_rule,
                                            .unique = "name",
                                            .twice = "another rule has this name"};

#define S struct codec_name_rules
static const struct shape_member members[] = {
    {"rules", SHAPE_OBJECTS(S, rules, n, &codec_name_rule_shape), .flags = CODEC_REQUIRED,
     .most = NAME_RULES_MAX},
};
const struct shape codec_name_rules_shape = {.request = "NameRulesPut", SHAPE_OF(members, S)};

void codec_name_rules_decode(const struct codec_node *node, struct codec_name_rules *rules)
{
    shape_decode(node, &codec_name_rules_shape, NULL, rules);
}

void codec_name_rules_encode(struct writer *w,
                             bool customized,
                             const struct name_rule rules[],
                             size_t n)
{
    writer_begin_object(w);
    writer_member_boolean(w, "customized", customized);
    writer_member_array(w, "rules");
    for (size_t i = 0; i < n; i++)
        shape_encode(w, &codec_name_rule_shape, &rules[i], 0, NULL);
    writer_end_array(w);
    writer_end_object(w);
}

/* --- trying them --- */

static void decode_names(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_name_fold *asked = object;
    struct codec_node list;
    (void)limits;
    asked->names = codec_list(node, "names", CODEC_REQUIRED, 1, CODEC_FOLD_NAMES_MAX,
                              sizeof *asked->names, &list, &asked->n_names);
    for (size_t i = 0; i < asked->n_names; i++) {
        struct codec_node item = codec_item(&list, i);
        asked->names[i] = codec_as_name(&item);
    }
}

#define F struct codec_name_fold
static const struct shape_member fold_members[] = {
    {"names", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_names},
    {"rules", SHAPE_OBJECTS(F, rules.rules, rules.n, &codec_name_rule_shape),
     SHAPE_GIVEN(F, has_rules), .most = NAME_RULES_MAX},
    {"properties", SHAPE_LABELS(F, properties, n_properties), .most = CODEC_FOLD_PROPERTIES_MAX},
};
const struct shape codec_name_fold_shape = {.request = "NameRulesPreviewRequest",
                                            SHAPE_OF(fold_members, F)};

void codec_name_fold_decode(const struct codec_node *node, struct codec_name_fold *asked)
{
    shape_decode(node, &codec_name_fold_shape, NULL, asked);
}

void codec_name_fold_encode(struct writer *w,
                            struct strview name,
                            bool exists,
                            const struct name_folding *folding,
                            const struct name_rule rules[],
                            const char *refusal)
{
    writer_begin_object(w);
    writer_member_text(w, "name", name);
    writer_key(w, "application");
    if (refusal == NULL)
        writer_text(w, folding->application);
    else
        writer_null(w);
    if (refusal != NULL)
        writer_member_text(w, "refusal", strview_of(refusal));
    writer_member_boolean(w, "exists", exists);
    writer_member_array(w, "rules");
    for (size_t i = 0; i < folding->n_applied; i++)
        writer_text(w, rules[folding->applied[i]].name);
    writer_end_array(w);
    writer_end_object(w);
}
