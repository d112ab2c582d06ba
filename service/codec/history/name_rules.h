#ifndef CODEC_HISTORY_NAME_RULES_H
#define CODEC_HISTORY_NAME_RULES_H

#include "base/json_writer.h"
#include "codec/json/shape.h"
#include "core/history/name_folding.h"

/* Rules that fold names of recurring jobs, and names to try them on. */
enum { CODEC_FOLD_NAMES_MAX = 100, CODEC_FOLD_PROPERTIES_MAX = 64 };

extern const struct shape codec_name_rule_shape;
extern const struct shape codec_name_rules_shape;
extern const struct shape codec_name_fold_shape;

struct codec_name_rules {
    struct name_rule *rules;
    size_t n;
};

/* {"rules": [{"name", "pattern", "application"}]}: each well formed, names unique. */
void codec_name_rules_decode(const struct codec_node *node, struct codec_name_rules *rules);
/* {"customized", "rules": [...]} */
void codec_name_rules_encode(struct writer *w,
                             bool customized,
                             const struct name_rule rules[],
                             size_t n);

struct codec_name_fold {
    struct strview *names;
    size_t n_names;
    bool has_rules; /* else those in force are meant */
    struct codec_name_rules rules;
    struct run_label *properties; /* as a log would have them; its tags as one text */
    size_t n_properties;
};

/* {"names": [...], "rules"?: [...], "properties"?: {...}} */
void codec_name_fold_decode(const struct codec_node *node, struct codec_name_fold *asked);

/* One item: {"name", "application", "refusal"?, "exists", "rules": [names of those that applied]};
 * refusal: why the name is refused, or NULL. */
void codec_name_fold_encode(struct writer *w,
                            struct strview name,
                            bool exists,
                            const struct name_folding *folding,
                            const struct name_rule rules[],
                            const char *refusal);

#endif
