#include "api/history/event_log_name.h"

#include <string.h>

#include "codec/json/reader.h"
#include "core/joblog/common/secret_scan.h"
#include "core/joblog/spark/properties.h"

#define NAME_IT ": name the application, with --application NAME or in the path of the call"

static enum pv_code event_log_name_refuse(const char *code, const char *why, struct pv_error *err)
{
    return pv_fault(err, PV_PLACE_POINTER, "", code, "%s", why);
}

static enum pv_code event_log_name_check(struct strview name, struct pv_error *err)
{
    if (name.at == NULL || name.n == 0)
        return event_log_name_refuse(
            "no_name", "the log does not say what its application is called" NAME_IT, err);
    if (!codec_is_name(name))
        return event_log_name_refuse("invalid_name",
                                     "what the log calls its application is blank, is longer than "
                                     "255 characters or holds control"
                                     " characters" NAME_IT,
                                     err);
    return PV_OK;
}

/* Looked at when dates and ids are folded away: what still looks random then is no name. */
static enum pv_code screen(struct strview application, struct pv_error *err)
{
    const char *evidence = secret_found(application, NULL);
    if (evidence == NULL)
        return PV_OK;
    return pv_fault(err, PV_PLACE_POINTER, "", "name_suspicious",
                    "holds %s, and is the name of the application in the log: nothing of the log "
                    "is stored" NAME_IT,
                    evidence);
}

/* Labels ascend by key: where the new one goes, or n + 1 when its key is taken. */
static size_t place_of(const struct run *run, struct strview key)
{
    size_t at = 0;
    for (; at < run->n_labels; at++) {
        struct strview there = run->labels[at].key;
        size_t n = there.n < key.n ? there.n : key.n;
        int order = memcmp(there.at, key.at, n);
        if (order == 0 && there.n == key.n)
            return run->n_labels + 1;
        if (order > 0 || (order == 0 && there.n > key.n))
            break;
    }
    return at;
}

static enum pv_code
add_label(struct arena *arena, struct run *run, size_t labels_max, struct pv_error *err)
{
    struct run_label label = {strview_of(LOG_NAME_LABEL), arena_copy(arena, run->log_name)};
    size_t at = place_of(run, label.key);
    if (at > run->n_labels || run->n_labels >= labels_max)
        return PV_OK;
    struct run_label *labels = arena_array(arena, run->n_labels + 1, sizeof *labels);
    if (labels == NULL || label.value.at == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < run->n_labels; i++)
        labels[i < at ? i : i + 1] = run->labels[i];
    labels[at] = label;
    run->labels = labels;
    run->n_labels++;
    return PV_OK;
}

/* The values of the properties that rules are about, one for each rule; NULL: the log has none. */
static enum pv_code find_values(const struct name_rules *rules,
                                struct strview properties,
                                struct arena *arena,
                                const struct strview **out,
                                struct pv_error *err)
{
    char text[1024];
    struct strview *values = NULL;
    for (size_t i = 0; properties.n > 0 && i < rules->n; i++) {
        struct strview property = rules->rules[i].property;
        if (property.n == 0 || !properties_find_text(properties, property, text, sizeof text) ||
            !codec_is_name(strview_of(text)))
            continue;
        if (values == NULL && (values = arena_calloc(arena, rules->n, sizeof *values)) == NULL)
            return pv_no_memory(err);
        values[i] = arena_copy(arena, strview_of(text));
        if (values[i].at == NULL)
            return pv_no_memory(err);
    }
    *out = values;
    return PV_OK;
}

enum pv_code log_name_fold(const struct name_rules *rules,
                           bool exists,
                           struct strview name,
                           struct strview properties,
                           struct arena *arena,
                           struct name_folding *folding,
                           struct pv_error *err)
{
    const struct strview *values = NULL;
    PV_TRY(event_log_name_check(name, err));
    if (exists) {
        PV_TRY(name_fold(rules->rules, rules->n, name, NULL, arena, folding, err));
        exists = !name_is_session(folding->application);
    }
    PV_TRY(find_values(rules, properties, arena, &values, err));
    PV_TRY(name_fold(rules->rules, exists ? 0 : rules->n, name, values, arena, folding, err));
    return screen(folding->application, err);
}

enum pv_code log_name_application(struct store_tx *tx,
                                  struct arena *arena,
                                  struct run *run,
                                  size_t labels_max,
                                  struct strview *application,
                                  struct pv_error *err)
{
    struct name_folding folding;
    bool exists = false;
    struct name_rules rules;
    if (run->log_name.n > 0)
        PV_TRY(store_names_there(tx, arena, &run->log_name, 1, &exists, err));
    PV_TRY(store_name_rules_get(tx, arena, &rules, err));
    PV_TRY(log_name_fold(&rules, exists, run->log_name, run->log_properties, arena, &folding, err));
    if (name_is_session(folding.application)) {
        run->warnings.arena = arena;
        (void)finding_add(&run->warnings, "interactive_session",
                          "a shell, notebook or server that says nothing about what ran in it: its"
                          " runs are kept apart from jobs");
    }
    if (folding.n_applied > 0 && !screen_is_suspicious(run->log_name))
        PV_TRY(add_label(arena, run, labels_max, err));
    *application = folding.application;
    return PV_OK;
}
