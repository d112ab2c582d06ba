/* Whether two logs are of one run: by their start, their cluster and their first events. */
#include "core/history/log_origin.h"

#include <criterion/criterion.h>
#include <string.h>

#define CLUSTER "\0\0\0\0\0\0\0\7"
#define OTHER_CLUSTER "\0\0\0\0\0\0\0\10"
#define NO_CLUSTER "\0\0\0\0\0\0\0\0"
#define VIEW(text)                                                                                 \
    (struct strview)                                                                               \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static struct arena arena;

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(log_origin, .init = begin, .fini = end);

static struct run run_of(int64_t started_us, struct strview beginning, const char *warning)
{
    struct run run = {.started_us = started_us, .log_beginning = beginning};
    run.warnings.arena = &arena;
    if (warning != NULL)
        (void)finding_add(&run.warnings, warning, "so it is");
    return run;
}

static bool agree(struct run a, struct run b)
{
    unsigned char x[LOG_ORIGIN_BYTES_MAX], y[LOG_ORIGIN_BYTES_MAX];
    struct strview left = {(const char *)x, log_origin_write(&a, x)};
    struct strview right = {(const char *)y, log_origin_write(&b, y)};
    cr_assert_eq(log_origin_agrees(left, right), log_origin_agrees(right, left));
    return log_origin_agrees(left, right);
}

static struct run log_of(int64_t started_us, struct strview beginning)
{
    return run_of(started_us, beginning, NULL);
}

Test(log_origin, runs_that_start_at_other_instants_are_two)
{
    struct strview events = VIEW(CLUSTER "aaaabbbb");
    cr_expect(agree(log_of(1, events), log_of(1, events)));
    cr_expect(!agree(log_of(1, events), log_of(2, events)));
    cr_expect(agree(log_of(RUN_NO_INSTANT, events), log_of(2, events)));
    cr_expect(agree(run_of(1, events, "no_application_start"), log_of(2, events)),
              "a start that is only estimated parts no runs");
}

Test(log_origin, runs_of_two_clusters_are_two)
{
    cr_expect(!agree(log_of(1, VIEW(CLUSTER "aaaa")), log_of(1, VIEW(OTHER_CLUSTER "aaaa"))));
    cr_expect(!agree(log_of(1, VIEW(CLUSTER)), log_of(1, VIEW(OTHER_CLUSTER))));
    cr_expect(agree(log_of(1, VIEW(CLUSTER "aaaa")), log_of(1, VIEW(NO_CLUSTER "aaaa"))));
}

Test(log_origin, a_copy_that_was_cut_has_the_first_of_the_events)
{
    struct run whole = log_of(1, VIEW(CLUSTER "aaaabbbbcccc"));
    cr_expect(agree(whole, log_of(1, VIEW(CLUSTER "aaaabbbb"))));
    cr_expect(agree(whole, log_of(1, VIEW(CLUSTER))));
    cr_expect(!agree(whole, log_of(1, VIEW(CLUSTER "aaaabbbx"))));
    cr_expect(!agree(whole, log_of(1, VIEW(CLUSTER "bbbbcccc"))));
}

Test(log_origin, of_a_damaged_log_half_of_the_events_are_enough)
{
    struct run whole = log_of(1, VIEW(CLUSTER "aaaabbbbcccc"));
    cr_expect(agree(whole, run_of(1, VIEW(NO_CLUSTER "bbbbccccdddd"), "damaged_lines")));
    cr_expect(!agree(whole, run_of(1, VIEW(NO_CLUSTER "ccccddddeeee"), "damaged_lines")));
    cr_expect(!agree(whole, run_of(1, VIEW(OTHER_CLUSTER "aaaabbbbcccc"), "damaged_lines")));
}

Test(log_origin, a_compacted_log_has_lost_the_first_events)
{
    struct run whole = log_of(1, VIEW(CLUSTER "aaaabbbb"));
    cr_expect(agree(whole, run_of(1, VIEW(CLUSTER "xxxxyyyy"), "compacted_log")));
    cr_expect(!agree(whole, run_of(1, VIEW(OTHER_CLUSTER "xxxxyyyy"), "compacted_log")));
}

Test(log_origin, what_is_unknown_agrees_with_everything)
{
    unsigned char x[LOG_ORIGIN_BYTES_MAX];
    struct run run = log_of(1, VIEW(CLUSTER "aaaa"));
    struct strview known = {(const char *)x, log_origin_write(&run, x)};
    cr_expect(log_origin_agrees(known, (struct strview){NULL, 0}));
    cr_expect(agree(run, log_of(1, (struct strview){NULL, 0})));
    cr_expect(agree(run, log_of(1, VIEW("short"))), "what no reader makes is passed over");
    cr_expect(!agree(run, log_of(2, (struct strview){NULL, 0})));
}

static bool knows(struct run a, struct run b)
{
    unsigned char x[LOG_ORIGIN_BYTES_MAX], y[LOG_ORIGIN_BYTES_MAX];
    struct strview left = {(const char *)x, log_origin_write(&a, x)};
    struct strview right = {(const char *)y, log_origin_write(&b, y)};
    return log_origin_knows(left, right);
}

Test(log_origin, what_an_origin_lost)
{
    struct run whole = log_of(1, VIEW(CLUSTER "aaaa")), lost = log_of(1, VIEW(NO_CLUSTER "aaaa"));
    struct run guessed = run_of(1, VIEW(CLUSTER "aaaa"), "no_application_start");
    cr_expect(knows(whole, lost) && !knows(lost, whole) && knows(lost, lost));
    cr_expect(knows(whole, guessed) && !knows(guessed, whole) && knows(guessed, guessed));
    cr_expect(knows(log_of(1, (struct strview){NULL, 0}), whole), "of an older program");
}

Test(log_origin, lengths_of_a_beginning)
{
    cr_expect(log_beginning_fits(LOG_CLUSTER_BYTES) && log_beginning_fits(LOG_BEGINNING_BYTES_MAX));
    cr_expect(!log_beginning_fits(0) && !log_beginning_fits(LOG_CLUSTER_BYTES + 1) &&
              !log_beginning_fits(LOG_BEGINNING_BYTES_MAX + LOG_EVENT_BYTES));
}
