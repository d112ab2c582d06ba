#include "operation/turns.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(turns, .timeout = 5);

/* Places for ten, slices of ten nanoseconds. Teams are named by one letter. */
enum { PLACES = 10, SLICE = 10, MEMORY = 1000 };

static struct turn places[PLACES];

static struct turns make(size_t workers)
{
    memset(places, 0, sizeof places);
    return (struct turns){.items = places,
                          .n = PLACES,
                          .workers = workers,
                          .slice_ns = SLICE,
                          .paused_bytes_max = MEMORY};
}

static size_t come(struct turns *turns, const char *team, uint64_t now)
{
    size_t at = 0;
    while (at < turns->n && turns->items[at].state != TURN_NONE)
        at++;
    cr_assert_lt(at, turns->n, "no free place");
    turns->items[at] = (struct turn){.state = TURN_WAITING, .since_ns = now};
    strcpy(turns->items[at].team_id, team);
    return at;
}

static size_t come_and_work(struct turns *turns, const char *team, uint64_t now)
{
    size_t at = come(turns, team, now);
    cr_assert_eq(turns_give(turns, now), at);
    return at;
}

static bool works(const struct turns *turns, size_t at)
{
    return turns->items[at].state == TURN_WORKING;
}

/* One that is over gives way, and the next has its turn. The next one. */
static size_t change(struct turns *turns, size_t at, uint64_t now)
{
    cr_assert(turns_is_over(turns, at, now));
    cr_assert(turns_pause(turns, at, 1, now));
    size_t next = turns_give(turns, now);
    cr_assert_neq(next, at, "who gives way is not the next");
    return next;
}

Test(turns, a_team_alone_has_all_workers)
{
    struct turns turns = make(3);
    for (uint64_t i = 0; i < 3; i++)
        come_and_work(&turns, "a", i);
    for (size_t i = 0; i < 3; i++)
        cr_assert_not(turns_is_over(&turns, i, 1000), "nobody waits");
}

Test(turns, another_team_works_after_a_slice_and_who_gave_way_goes_on)
{
    struct turns turns = make(2);
    size_t first = come_and_work(&turns, "a", 0);
    size_t second = come_and_work(&turns, "a", 1);
    size_t quiet = come(&turns, "b", 5);
    cr_assert_eq(turns_give(&turns, 5), turns.n, "both workers are taken");
    cr_assert_not(turns_is_over(&turns, first, 9), "not before its slice is over");
    cr_assert_eq(change(&turns, first, 10), quiet);
    cr_assert_not(turns_is_over(&turns, quiet, 100),
                  "a has one, too: b need not give its own away");
    cr_assert_eq(change(&turns, second, 11), first, "those of a take turns with the other");
    turns.items[quiet] = (struct turn){.state = TURN_NONE};
    cr_assert_eq(turns_give(&turns, 12), second);
    cr_assert(works(&turns, first) && works(&turns, second));
}

Test(turns, more_teams_than_workers_take_turns)
{
    struct turns turns = make(1);
    size_t at[3] = {come_and_work(&turns, "a", 0), come(&turns, "b", 1), come(&turns, "c", 2)};
    uint64_t now = 0;
    for (size_t i = 0; i < 9; i++) {
        now += SLICE;
        cr_assert_eq(change(&turns, at[i % 3], now), at[(i + 1) % 3]);
    }
}

Test(turns, many_operations_of_one_team_have_no_more_than_one_of_another)
{
    struct turns turns = make(1);
    size_t quiet = come_and_work(&turns, "b", 0);
    for (uint64_t i = 1; i < 6; i++)
        come(&turns, "a", i);
    size_t had[PLACES] = {0};
    size_t at = quiet;
    for (uint64_t now = SLICE; now <= 20 * SLICE; now += SLICE) {
        had[at]++;
        at = change(&turns, at, now);
    }
    cr_assert_eq(had[quiet], 10);
    for (size_t i = 1; i < 6; i++)
        cr_assert_eq(had[i], 2);
}

Test(turns, short_operations_that_keep_coming_do_not_keep_a_long_one_waiting)
{
    struct turns turns = make(1);
    size_t lengthy = come_and_work(&turns, "a", 0);
    size_t brief = come(&turns, "b", 5);
    for (uint64_t now = SLICE; now < 10 * SLICE; now += 2 * SLICE) {
        cr_assert_eq(change(&turns, lengthy, now), brief);
        turns.items[come(&turns, "b", now + 1)].since_ns = now + 1;
        turns.items[brief] = (struct turn){.state = TURN_NONE};
        brief = brief == 1 ? 2 : 1;
        cr_assert_eq(turns_give(&turns, now + 2), lengthy, "it worked before the next one came");
        turns.items[lengthy].since_ns = now + 2;
    }
}

Test(turns, what_waits_in_the_middle_is_bounded_by_memory_but_for_one)
{
    struct turns turns = make(2);
    size_t large = come_and_work(&turns, "a", 0);
    size_t small = come_and_work(&turns, "a", 0);
    come(&turns, "b", 1);
    come(&turns, "c", 2);
    cr_assert(turns_pause(&turns, large, 5 * MEMORY, SLICE), "one may, however large");
    cr_assert_not(turns_pause(&turns, small, 1, SLICE));
    turns.items[large].bytes = MEMORY - 1;
    cr_assert_not(turns_pause(&turns, small, 2, SLICE));
    cr_assert(turns_pause(&turns, small, 1, SLICE));
}

Test(turns, a_busy_process_takes_one_at_a_time_and_keeps_room_for_other_teams)
{
    struct turns turns = make(2);
    cr_assert_eq(turns_room(&turns), TURNS_IDLE);
    come_and_work(&turns, "a", 0);
    come_and_work(&turns, "a", 0);
    cr_assert_eq(turns_room(&turns), TURNS_BUSY);
    cr_assert_not(turns_bars(&turns, "a"));
    size_t waits = come(&turns, "a", 0);
    cr_assert_eq(turns_room(&turns), TURNS_FULL, "one waits for its first turn");
    turns.items[waits].began = true;
    cr_assert_eq(turns_room(&turns), TURNS_BUSY);
    turns.items[come(&turns, "a", 0)].began = true;
    cr_assert(turns_bars(&turns, "a"), "four held, six free");
    cr_assert_not(turns_bars(&turns, "b"));
    for (int i = 0; i < 5; i++)
        turns.items[come(&turns, "b", 0)].began = true;
    cr_assert(turns_bars(&turns, "b"));
    cr_assert_not(turns_bars(&turns, "c"), "who has nothing may have the last place");
    come(&turns, "c", 0);
    cr_assert_eq(turns_room(&turns), TURNS_FULL);
}

/* --- greedy teams --- */

/* What a runner does for one that is queued: take it if there is room. */
static bool is_taken(struct turns *turns, const char *team, uint64_t now)
{
    enum turns_room room = turns_room(turns);
    if (room == TURNS_FULL || (room == TURNS_BUSY && turns_bars(turns, team)))
        return false;
    come(turns, team, now);
    return true;
}

/* All that have had their slice and should give way do, as at a beat. */
static void beat(struct turns *turns, uint64_t now)
{
    while (turns_give(turns, now) < turns->n)
        ;
    for (size_t i = 0; i < turns->n; i++)
        if (turns_is_over(turns, i, now)) {
            cr_assert(turns_pause(turns, i, 1, now));
            cr_assert_lt(turns_give(turns, now), turns->n);
        }
}

/* Teams "a" to "e" have long operations without end; each beat is a slice. Its end. */
static uint64_t five_greedy_teams(struct turns *turns)
{
    static const char *const teams[] = {"a", "b", "c", "d", "e"};
    uint64_t now = 0;
    for (; now < 40 * SLICE; now += SLICE) {
        for (size_t i = 0; i < sizeof teams / sizeof *teams; i++)
            (void)is_taken(turns, teams[i], now);
        beat(turns, now);
    }
    for (size_t i = 0; i < turns->n; i++)
        cr_assert(turns->items[i].state == TURN_NONE || turns->items[i].began);
    return now;
}

Test(turns, however_much_five_teams_ask_for_a_sixth_works_after_a_slice)
{
    for (size_t workers = 1; workers <= 4; workers++) {
        struct turns turns = make(workers);
        uint64_t now = five_greedy_teams(&turns);
        size_t at = 0;
        cr_assert_gt(turns_count(&turns, TURN_NONE), 0u, "%zu workers", workers);
        while (turns.items[at].state != TURN_NONE)
            at++;
        cr_assert(is_taken(&turns, "f", now), "%zu workers", workers);
        beat(&turns, now + SLICE);
        cr_assert(works(&turns, at), "%zu workers", workers);
    }
}

Test(turns, a_team_whose_operations_come_one_by_one_has_no_more_than_its_share)
{
    struct turns turns = make(1);
    size_t had = 0;
    uint64_t now = 0;
    come_and_work(&turns, "a", now);
    turns.items[come(&turns, "b", now)].began = true;
    for (size_t beats = 0; beats < 60; beats++, now += SLICE) {
        if (beats % 2 == 0)
            (void)is_taken(&turns, "f", now);
        beat(&turns, now);
        for (size_t i = 0; i < turns.n; i++)
            if (works(&turns, i) && strcmp(turns.items[i].team_id, "f") == 0) {
                had++;
                turns_leave(&turns, i, now + 1);
            }
    }
    cr_assert_geq(had, 15u);
    cr_assert_leq(had, 31u);
    for (size_t i = 0; i < turns.n; i++)
        if (turns.items[i].state != TURN_NONE && turns.items[i].team_id[0] != 'f')
            cr_assert_gt(turns.items[i].since_ns, now - 5 * SLICE, "each had a turn of late");
}

/* More teams than are remembered: who has not worked for longest is forgotten, and so comes first.
 */
Test(turns, a_team_that_is_forgotten_comes_before_those_that_worked_of_late)
{
    struct turns turns = make(1);
    uint64_t now = 1;
    for (unsigned i = 0; i <= TURNS_TEAMS; i++, now++) {
        char team[37];
        (void)snprintf(team, sizeof team, "team %u", i);
        turns_leave(&turns, come_and_work(&turns, team, now), now);
    }
    size_t known = come(&turns, "team 1", now);
    size_t forgotten = come(&turns, "team 0", now + 1);
    cr_assert_eq(turns_give(&turns, now + 2), forgotten);
    cr_assert_not(works(&turns, known));
}
