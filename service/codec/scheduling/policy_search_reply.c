#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/scheduling/policy_search.h"

/* Candidates that are listed. */
enum { LISTED = 20 };

/* Above, the bound says nothing: in two digits it is 1. */
#define CHANCE_SHOWN_MAX 0.99

static void
encode_terms(struct writer *w, const struct codec_search_report *report, size_t candidate)
{
    size_t word = 0;
    const void *terms = report->terms(report->context, candidate, &word);
    codec_policy_encode_terms(w, report->policies, word, terms);
}

static void encode_candidate(struct writer *w,
                             const struct codec_search_report *report,
                             const struct policy_search_rank *rank)
{
    writer_begin_object(w);
    encode_terms(w, report, rank->candidate);
    writer_member_number(w, "value", rank->value);
    writer_member_number(w, "excess_percent", 100 * rank->excess);
    writer_member_integer(w, "jobs", (int64_t)rank->jobs);
    writer_member_integer(w, "repetitions", (int64_t)rank->repetitions);
    writer_member_integer(w, "round", (int64_t)rank->round + 1);
    writer_end_object(w);
}

static void encode_round(struct writer *w, const struct policy_search_round *round)
{
    writer_begin_object(w);
    writer_member_string(w, "purpose", round->confirms ? "confirmation" : "halving");
    writer_member_integer(w, "candidates", (int64_t)round->candidates);
    writer_member_integer(w, "kept", (int64_t)round->kept);
    writer_member_integer(w, "jobs", (int64_t)round->jobs);
    writer_member_integer(w, "repetitions", (int64_t)round->repetitions);
    writer_end_object(w);
}

/* How sure it is that the best one is the best. */
static void describe(const struct codec_comparison *common,
                     const struct policy_search_found *found,
                     char *text,
                     size_t room)
{
    size_t n = (size_t)snprintf(text, room, "of %zu candidate%s this one does best", found->n,
                                PLURAL(found->n));
    text += n;
    room -= n;
    if (found->n == 1)
        return;
    if (isnan(found->error_chance))
        (void)snprintf(text, room,
                       "; the budget did not suffice to say how likely another one is better, so "
                       "a larger task_runs may select another one");
    else if (found->error_chance == 0)
        (void)snprintf(text, room, "; none of the others was better in what was simulated");
    else if (found->cut_short && found->error_chance > CHANCE_SHOWN_MAX)
        (void)snprintf(
            text, room,
            "; the search was cut short, and nothing is guaranteed: a larger task_runs may "
            "select another one");
    else if (found->cut_short)
        (void)snprintf(text, room,
                       "; the search ended before this was as sure as asked for: the chance that "
                       "another one is better is at most %s, the difference at most %s with "
                       "a chance of error of %s",
                       quantity_probability(found->error_chance).text,
                       quantity_share(found->loss).text,
                       quantity_probability(common->search.error_chance).text);
    else
        (void)snprintf(text, room, "; the chance that another one is better is at most %s",
                       quantity_probability(found->error_chance).text);
}

void codec_search_encode_found(struct writer *w,
                               const struct codec_comparison *common,
                               const struct codec_search_report *report,
                               const struct policy_search_found *found)
{
    char text[512];
    if (!writer_member_object_or_null(w, "search", found != NULL))
        return;
    describe(common, found, text, sizeof text);
    writer_member_text(w, "name", common->names[common->n_policies]);
    writer_member_string(w, "message", text);
    writer_key(w, "best");
    writer_begin_object(w);
    encode_terms(w, report, found->ranks[0].candidate);
    writer_member_number(w, "value", found->ranks[0].value);
    writer_end_object(w);
    writer_member_number(w, "error_chance", found->error_chance);
    writer_member_number(w, "loss_percent_max", 100 * found->loss);
    writer_member_integer(w, "tried", (int64_t)found->n);
    writer_member_integer(w, "not_tried", (int64_t)found->left_out);
    writer_member_integer(w, "task_runs", (int64_t)found->task_runs);
    writer_member_boolean(w, "cut_short", found->cut_short);
    writer_member_array(w, "rounds");
    for (size_t r = 0; r < found->n_rounds; r++)
        encode_round(w, &found->rounds[r]);
    writer_end_array(w);
    writer_member_array(w, "candidates");
    for (size_t i = 0; i < found->n && i < LISTED; i++)
        encode_candidate(w, report, &found->ranks[i]);
    writer_end_array(w);
    writer_end_object(w);
}
