#include <stdint.h>
#include <string.h>

#include "base/plural.h"
#include "cli/commands/query.h"
#include "cli/commands/simulation_parts.h"
#include "cli/output/json_text.h"

/* What a search found: to people in sentences, in Markdown as a table; then candidates and rounds. */

enum { TERMS_TEXT = 1024, SENTENCE_TEXT = 4096, INDENT = 2, CANDIDATES_SHOWN = 5 };

/* Is this member of a candidate a term of its policy? */
static bool is_term(const char *key)
{
    static const char *const others[] = {"policy", "value",       "excess_percent",
                                         "jobs",   "repetitions", "round"};
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return true;
}

/* "groups 4; reserved_share 0.05"; "" without terms. */
static void terms_text(const json_t *candidate, char out[TERMS_TEXT])
{
    char cell[CELL_TEXT_MAX];
    const char *key;
    json_t *value;
    size_t at = 0;
    out[0] = '\0';
    json_object_foreach((json_t *)(uintptr_t)candidate, key, value)
    {
        if (!is_term(key) || at >= TERMS_TEXT)
            continue;
        cell_for_people(value, CELL_TEXT, cell);
        at += (size_t)snprintf(out + at, TERMS_TEXT - at, "%s%.64s %s", at > 0 ? "; " : "", key,
                               cell);
    }
}

/* --- what was found --- */

static void found_sentences(const json_t *load, char out[SENTENCE_TEXT])
{
    const json_t *search = json_at(load, "search");
    const double loss = json_number_at(search, "loss_percent_max", 0);
    const double left_out = json_number_at(search, "not_tried", 0);
    char words[SIMULATION_LOAD_TEXT];
    char terms[TERMS_TEXT];
    char bound[96] = "";
    char others[128] = "";
    simulation_load_words(load, words);
    terms_text(json_at(search, "best"), terms);
    /* A search that was cut short says so in its message. */
    if (loss > 0 && !json_true_at(search, "cut_short"))
        (void)snprintf(bound, sizeof bound,
                       " With the chance of error that was asked for, another one is better by at "
                       "most %.3g %%.",
                       loss);
    if (left_out > 0)
        (void)snprintf(others, sizeof others,
                       " %.0f candidate%s %s not tried: not possible here, or beyond the budget.",
                       left_out, PLURAL(left_out), PLURAL_VERB(left_out, "was", "were"));
    (void)snprintf(out, SENTENCE_TEXT, "- %s: %.256s is %s%s%s%s: %s.%s%s", words,
                   json_text_at(search, "name", ""), json_text_at(search, "best.policy", ""),
                   terms[0] == '\0' ? "" : " (", terms, terms[0] == '\0' ? "" : ")",
                   json_text_at(search, "message", ""), bound, others);
}

static void draw_found(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *loads = context;
    char text[SENTENCE_TEXT];
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        if (!json_is_object(json_at(load, "search")))
            continue;
        found_sentences(load, text);
        table_write_wrapped(out, terminal, INDENT, text);
    }
}

/* --- rows --- */

static void add_terms(json_t *row, const json_t *candidate)
{
    char terms[TERMS_TEXT];
    terms_text(candidate, terms);
    (void)json_object_set_new(row, "terms", terms[0] == '\0' ? json_null() : json_string(terms));
}

static void add_found(json_t *rows, const json_t *load)
{
    static const char *const members[] = {"name",      "best",      "loss_percent_max", "tried",
                                          "not_tried", "task_runs", "message"};
    json_t *row = simulation_row(rows, load);
    for (size_t i = 0; i < COUNT(members); i++)
        simulation_cell(row, members[i], json_at(json_at(load, "search"), members[i]));
    add_terms(row, json_at(load, "search.best"));
}

/* Objectives are compared only if they are of the same repetitions and jobs. */
static bool is_comparable(const json_t *candidate, const json_t *best)
{
    return json_equal(json_at(candidate, "repetitions"), json_at(best, "repetitions")) &&
           json_equal(json_at(candidate, "jobs"), json_at(best, "jobs"));
}

/* At most `most` of them. Returns the number that is left out. */
static size_t add_candidates(json_t *rows, const json_t *load, size_t most)
{
    const json_t *candidates = json_at(load, "search.candidates");
    const size_t n = json_array_size(candidates);
    for (size_t i = 0; i < n && i < most; i++) {
        const json_t *candidate = json_array_get(candidates, i);
        json_t *row = simulation_row(rows, load);
        if (is_comparable(candidate, json_array_get(candidates, 0)))
            simulation_cell(row, "value", json_at(candidate, "value"));
        (void)json_object_set_new(row, "rank", json_integer((json_int_t)i + 1));
        simulation_cell(row, "candidate", candidate);
        add_terms(row, candidate);
    }
    return n > most ? n - most : 0;
}

static void add_rounds(json_t *rows, const json_t *load)
{
    const json_t *rounds = json_at(load, "search.rounds");
    for (size_t i = 0; i < json_array_size(rounds); i++) {
        json_t *row = simulation_row(rows, load);
        (void)json_object_set_new(row, "number", json_integer((json_int_t)i + 1));
        simulation_cell(row, "round", json_array_get(rounds, i));
    }
}

static const struct column found_columns[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"policy", "name", CELL_TEXT, NULL},
    {"is", "best.policy", CELL_TEXT, NULL},
    {"terms", "terms", CELL_TEXT, NULL},
    {"objective", "best.value", CELL_NUMBER, NULL},
    {"worse by at most", "loss_percent_max", CELL_PERCENT, NULL},
    {"candidates", "tried", CELL_COUNT, NULL},
    {"not tried", "not_tried", CELL_COUNT, NULL},
    {"tasks simulated", "task_runs", CELL_COUNT, NULL},
    {"in words", "message", CELL_TEXT, NULL},
};

static const struct column candidate_columns[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"rank", "rank", CELL_COUNT, NULL},
    {"policy", "candidate.policy", CELL_TEXT, NULL},
    {"terms", "terms", CELL_TEXT, NULL},
    {"objective", "value", CELL_NUMBER, NULL},
    {"above best", "candidate.excess_percent", CELL_PERCENT, NULL},
    {"repetitions", "candidate.repetitions", CELL_COUNT, NULL},
    {"last round", "candidate.round", CELL_COUNT, NULL},
    {"jobs", "candidate.jobs", CELL_COUNT, NULL},
};

static const struct column round_columns[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"round", "number", CELL_COUNT, NULL},
    {"purpose", "round.purpose", CELL_TEXT, NULL},
    {"candidates", "round.candidates", CELL_COUNT, NULL},
    {"kept", "round.kept", CELL_COUNT, NULL},
    {"repetitions", "round.repetitions", CELL_COUNT, NULL},
    {"jobs", "round.jobs", CELL_COUNT, NULL},
};

/* How candidates compare, and how many are not shown; in `made`. */
static const char *candidate_remark(const json_t *candidates, size_t left_out, json_t *made)
{
    char text[320] = "";
    char more[96] = "";
    bool incomparable = false;
    for (size_t i = 0; i < json_array_size(candidates); i++)
        incomparable =
            incomparable || json_object_get(json_array_get(candidates, i), "value") == NULL;
    if (left_out > 0)
        (void)snprintf(more, sizeof more, "%s%zu more candidate%s: --all shows %s.",
                       incomparable ? " " : "", left_out, PLURAL(left_out),
                       PLURAL_VERB(left_out, "it", "them"));
    (void)snprintf(text, sizeof text, "%s%s",
                   incomparable
                       ? "`above best` compares the repetitions that a candidate and the best one "
                         "share. A candidate with other repetitions has no comparable objective."
                       : "",
                   more);
    json_t *remark = json_string(text);
    (void)json_array_append_new(made, remark);
    return json_string_value(remark);
}

void simulation_search(const json_t *result, bool all, json_t *made, struct section sections[])
{
    const json_t *loads = json_at(result, "loads");
    json_t *found = simulation_rows(made);
    json_t *candidates = simulation_rows(made);
    json_t *rounds = simulation_rows(made);
    size_t left_out = 0;
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        if (!json_is_object(json_at(load, "search")))
            continue;
        add_found(found, load);
        left_out += add_candidates(candidates, load, all ? SIZE_MAX : CANDIDATES_SHOWN);
        if (all)
            add_rounds(rounds, load);
    }
    sections[0] = (struct section){.title = "Result of the search",
                                   .value = found,
                                   .columns = found_columns,
                                   .n_columns = COUNT(found_columns),
                                   .draw = json_array_size(found) > 0 ? draw_found : NULL,
                                   .context = loads};
    sections[1] = simulation_table("Candidates of the search", result, candidates,
                                   candidate_columns, COUNT(candidate_columns));
    sections[2] = (struct section){.text = candidate_remark(candidates, left_out, made)};
    sections[3] = simulation_table("Rounds of the search", result, rounds, round_columns,
                                   COUNT(round_columns));
}
