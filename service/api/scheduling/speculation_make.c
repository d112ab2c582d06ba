#include "api/scheduling/speculation_make.h"

static enum pv_code make_esplash(const struct codec_speculation *asked,
                                 struct arena *arena,
                                 struct speculation_made *made,
                                 struct pv_error *err)
{
    if (asked->level != NULL)
        made->levels = node_levels_given(asked->level, asked->n_nodes);
    else
        PV_TRY(node_levels_find(&asked->cluster, asked->level_count, arena, &made->levels, err));
    return esplash_decide(&asked->cluster, &made->levels, &asked->terms, arena, &made->esplash,
                          err);
}

enum pv_code speculation_make(const struct codec_speculation *asked,
                              struct arena *arena,
                              struct speculation_made *made,
                              struct pv_error *err)
{
    bool esplash = asked->kind == CODEC_SPECULATION_ESPLASH;
    struct speculation_gaps gaps;
    *made = (struct speculation_made){.warnings = {.arena = arena}};
    PV_TRY(speculation_find_gaps(&asked->cluster, arena, &gaps, err));
    if (esplash)
        PV_TRY(make_esplash(asked, arena, made, err));
    else
        PV_TRY(late_decide(&asked->cluster, arena, &made->late, err));
    codec_speculation_warn(asked, esplash ? &made->levels : NULL, &gaps, &made->warnings);
    return findings_check(&made->warnings, err);
}

void speculation_encode(struct writer *w,
                        const struct codec_speculation *asked,
                        const struct speculation_made *made)
{
    if (asked->kind == CODEC_SPECULATION_ESPLASH)
        codec_esplash_encode(w, asked, &made->levels, &made->esplash, &made->warnings);
    else
        codec_late_encode(w, asked, &made->late, &made->warnings);
}

void speculation_encode_action(struct writer *w,
                               const struct codec_speculation *asked,
                               const struct speculation_made *made)
{
    if (asked->kind == CODEC_SPECULATION_ESPLASH)
        codec_esplash_action_encode(w, asked, &made->esplash);
    else
        codec_late_action_encode(w, asked, &made->late);
}
