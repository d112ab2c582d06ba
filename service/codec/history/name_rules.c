#include "codec/history/name_rules.h"

#include "codec/json/names.h"

static void *allocate(struct codec_reader *reader, size_t n, size_t size)
{
    void *made = arena_calloc(reader->arena, n, size);
    if (made == NULL)
        (void)pv_no_memory(reader->err);
    return made;
}

/* The core's pointer into the rule becomes one into the request. */
static void check_rule(const struct codec_node *item, const struct name_rule *rule)
{
    struct pv_error wrong;
    pv_error_clear(&wrong);
    if (name_rule_check(rule, &wrong) != PV_OK)
        codec_fault_member(item, wrong.faults[0].at + 1, wrong.faults[0].code, "%s",
                           wrong.faults[0].detail);
}

static void decode_rule(const struct codec_node *item, struct name_rule *rule)
{
    static const char *const known[] = {"name", "pattern", "application", NULL};
    if (!codec_expect_object(item))
        return;
    codec_refuse_unknown(item, known);
    size_t faults = item->reader->err->n_faults;
    rule->name = codec_name(item, "name", CODEC_REQUIRED);
    rule->pattern = codec_text(item, "pattern", CODEC_REQUIRED, 1, NAME_PATTERN_BYTES_MAX);
    rule->application = codec_name(item, "application", CODEC_REQUIRED);
    if (item->reader->err->n_faults == faults)
        check_rule(item, rule);
}

static void
decode_rules(const struct codec_node *node, unsigned flags, struct codec_name_rules *rules)
{
    *rules = (struct codec_name_rules){NULL, 0};
    struct codec_node list = codec_array(node, "rules", flags, 0, NAME_RULES_MAX);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    rules->rules = allocate(node->reader, n, sizeof *rules->rules);
    struct strview *names = allocate(node->reader, n, sizeof *names);
    if (rules->rules == NULL || names == NULL)
        return;
    rules->n = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_rule(&item, &rules->rules[i]);
        names[i] = rules->rules[i].name;
    }
    codec_refuse_same_names(&list, names, n, "another rule has this name");
}

void codec_name_rules_decode(const struct codec_node *node, struct codec_name_rules *rules)
{
    static const char *const known[] = {"rules", NULL};
    codec_refuse_unknown(node, known);
    decode_rules(node, CODEC_REQUIRED, rules);
}

void codec_name_rules_encode(struct writer *w,
                             bool customized,
                             const struct name_rule rules[],
                             size_t n)
{
    writer_begin_object(w);
    writer_member_boolean(w, "customized", customized);
    writer_member_array(w, "rules");
    for (size_t i = 0; i < n; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", rules[i].name);
        writer_member_text(w, "pattern", rules[i].pattern);
        writer_member_text(w, "application", rules[i].application);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* --- trying them --- */

static struct strview decode_name(const struct codec_node *item)
{
    const char *text = json_string_value(item->json);
    struct strview name = {text, json_string_length(item->json)};
    if (text == NULL) {
        codec_fault(item, "wrong_type", "must be a string");
        return (struct strview){NULL, 0};
    }
    if (!codec_is_name(name)) {
        codec_fault(item, "invalid_name", "is 1 to 255 characters without control characters");
        return (struct strview){NULL, 0};
    }
    name = arena_copy(item->reader->arena, name);
    if (name.at == NULL)
        (void)pv_no_memory(item->reader->err);
    return name;
}

void codec_name_fold_decode(const struct codec_node *node, struct codec_name_fold *asked)
{
    static const char *const known[] = {"names", "rules", NULL};
    *asked = (struct codec_name_fold){.has_rules = codec_present(node, "rules")};
    codec_refuse_unknown(node, known);
    decode_rules(node, CODEC_OPTIONAL, &asked->rules);
    struct codec_node list = codec_array(node, "names", CODEC_REQUIRED, 1, CODEC_FOLD_NAMES_MAX);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    asked->names = allocate(node->reader, n, sizeof *asked->names);
    if (asked->names == NULL)
        return;
    asked->n_names = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        asked->names[i] = decode_name(&item);
    }
}

void codec_name_fold_encode(struct writer *w,
                            struct strview name,
                            bool exists,
                            const struct name_folding *folding,
                            const struct name_rule rules[])
{
    writer_begin_object(w);
    writer_member_text(w, "name", name);
    writer_member_text(w, "application", folding->application);
    writer_member_boolean(w, "exists", exists);
    writer_member_array(w, "rules");
    for (size_t i = 0; i < folding->n_applied; i++)
        writer_text(w, rules[folding->applied[i]].name);
    writer_end_array(w);
    writer_end_object(w);
}
