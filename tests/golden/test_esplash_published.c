/*
 * eSplash beside what J. Wang's dissertation reports of it (UMass Boston 2017, section 5.3), on its
 * cluster and numbers of tasks, with assumed task times (esplash_runs.h):
 *
 *     test_esplash_published [--quick]
 *
 * --quick: one seed, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/scheduling/slots/slots_policy.h"
#include "esplash_runs.h"
#include "evidence.h"

enum { SEEDS = 12 };

static size_t seeds = SEEDS;
static struct arena arena;

static const char *const scenario_names[ESPLASH_SCENARIOS] = {"no straggler", "slow node",
                                                              "fast node", "restart"};
static const char *const copies_names[COPIES_KINDS] = {"none", "LATE", "eSplash", "strict"};

enum { SIMPLE, MIXED, WORKLOADS };
typedef struct esplash_found all_found[WORKLOADS][ESPLASH_SCENARIOS][COPIES_KINDS];

static void compare_all(const struct esplash_setting *setting, all_found found)
{
    for (size_t w = 0; w < WORKLOADS; w++)
        for (size_t s = 0; s < ESPLASH_SCENARIOS; s++)
            for (size_t c = 0; c < COPIES_KINDS; c++)
                found[w][s][c] = esplash_runs_compare(setting, w == MIXED, (enum esplash_scenario)s,
                                                      (enum esplash_copies)c, seeds, &arena);
}

/* --- by workload, straggler and who asks for copies --- */

/* Over the makespan without a straggler. */
static double increase(all_found found, size_t w, size_t s, size_t c)
{
    return found[w][s][c].makespan_s - found[w][ESPLASH_NO_STRAGGLER][c].makespan_s;
}

static void print_scenarios(all_found found)
{
    evidence_begin("eSplash, scenarios");
    printf(
        "| jobs | straggler | copies by | makespan s | increased by s | copies | killed | on the "
        "straggler | on a slower node | wasted s |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t w = 0; w < WORKLOADS; w++)
        for (size_t s = 0; s < ESPLASH_SCENARIOS; s++)
            for (size_t c = 0; c < COPIES_KINDS; c++) {
                const struct esplash_found *of = &found[w][s][c];
                printf("| %s | %s | %s | %.0f | %.0f | %.1f | %.1f | %.1f | %.1f | %.0f |\n",
                       w == SIMPLE ? "of one benchmark" : "mixed", scenario_names[s],
                       copies_names[c], of->makespan_s, increase(found, w, s, c), of->copies,
                       of->killed, of->on_straggler, of->on_slower, of->wasted_s);
            }
    evidence_end();
}

static void expect_scenario(const char *jobs, const char *scenario, const struct esplash_found of[])
{
    const struct esplash_found *late = &of[COPIES_LATE];
    const struct esplash_found *esplash = &of[COPIES_ESPLASH];
    evidence_expect(esplash->makespan_s < late->makespan_s &&
                        of[COPIES_STRICT].makespan_s < late->makespan_s,
                    "%s, %s: eSplash is faster than LATE", jobs, scenario);
    evidence_expect(esplash->wasted_s <= late->wasted_s / 4 &&
                        esplash->killed <= late->killed / 2.5 &&
                        of[COPIES_STRICT].wasted_s <= late->wasted_s / 20,
                    "%s, %s: eSplash wastes %.0f %% less time than LATE", jobs, scenario,
                    -mapreduce_change(esplash->wasted_s, late->wasted_s));
}

static void expect_scenarios(all_found found)
{
    for (size_t w = 0; w < WORKLOADS; w++)
        for (size_t s = 0; s < ESPLASH_SCENARIOS; s++) {
            const char *jobs = w == SIMPLE ? "of one benchmark" : "mixed";
            expect_scenario(jobs, scenario_names[s], found[w][s]);
            double none_s = increase(found, w, s, COPIES_NONE);
            evidence_expect(s == ESPLASH_NO_STRAGGLER ||
                                (increase(found, w, s, COPIES_ESPLASH) < none_s &&
                                 increase(found, w, s, COPIES_STRICT) < none_s),
                            "%s, %s: a straggler costs less with eSplash than without copies", jobs,
                            scenario_names[s]);
        }
}

/* --- beside what was published: both workloads together --- */

typedef double (*figure_fn)(all_found found, size_t w, size_t s, size_t c);

static double makespan(all_found found, size_t w, size_t s, size_t c)
{
    return found[w][s][c].makespan_s;
}

static double killed(all_found found, size_t w, size_t s, size_t c)
{
    return found[w][s][c].killed;
}

static double wasted(all_found found, size_t w, size_t s, size_t c)
{
    return found[w][s][c].wasted_s;
}

/* Over the makespan without a straggler and without copies. */
static double excess(all_found found, size_t w, size_t s, size_t c)
{
    return found[w][s][c].makespan_s - found[w][ESPLASH_NO_STRAGGLER][COPIES_NONE].makespan_s;
}

static const struct {
    const char *what;
    figure_fn figure;
    size_t scenario;
    size_t against;
    const char *published;
} rows[] = {
    {"makespan", makespan, ESPLASH_NO_STRAGGLER, COPIES_NONE, "-5.89 %"},
    {"makespan", makespan, ESPLASH_NO_STRAGGLER, COPIES_LATE, "-4.58 %"},
    {"killed copies", killed, ESPLASH_NO_STRAGGLER, COPIES_LATE, "-80 to -91.9 % (unnecessary)"},
    {"wasted time", wasted, ESPLASH_NO_STRAGGLER, COPIES_LATE, "-90.3 %"},
    {"increase", increase, ESPLASH_SLOW_NODE, COPIES_NONE, "-76.7 %"},
    {"increase", increase, ESPLASH_SLOW_NODE, COPIES_LATE, "-65.7 %"},
    {"above none, no straggler", excess, ESPLASH_SLOW_NODE, COPIES_LATE, ""},
    {"increase", increase, ESPLASH_FAST_NODE, COPIES_NONE, "-69.4 %"},
    {"increase", increase, ESPLASH_FAST_NODE, COPIES_LATE, "-66.7 %"},
    {"above none, no straggler", excess, ESPLASH_FAST_NODE, COPIES_LATE, ""},
    {"increase", increase, ESPLASH_RESTART, COPIES_NONE, "-42.4 %"},
    {"increase", increase, ESPLASH_RESTART, COPIES_LATE, "-45.8 %"},
    {"above none, no straggler", excess, ESPLASH_RESTART, COPIES_LATE, ""},
};

static double change(all_found found, size_t row, size_t copies)
{
    size_t s = rows[row].scenario;
    double here = 0, other = 0;
    for (size_t w = 0; w < WORKLOADS; w++) {
        here += rows[row].figure(found, w, s, copies);
        other += rows[row].figure(found, w, s, rows[row].against);
    }
    return mapreduce_change(here, other);
}

static void print_published(all_found yarn, all_found often)
{
    evidence_begin("eSplash, published");
    printf("| straggler | | against | every 15 s | strict | every 5 s | strict | published |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        printf("| %s | %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %s |\n",
               scenario_names[rows[r].scenario], rows[r].what, copies_names[rows[r].against],
               change(yarn, r, COPIES_ESPLASH), change(yarn, r, COPIES_STRICT),
               change(often, r, COPIES_ESPLASH), change(often, r, COPIES_STRICT),
               rows[r].published);
    evidence_end();
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        evidence_expect(rows[r].figure != excess || (change(yarn, r, COPIES_ESPLASH) < 0 &&
                                                     change(often, r, COPIES_ESPLASH) < 0),
                        "%s, %s: less with eSplash than with LATE",
                        scenario_names[rows[r].scenario], rows[r].what);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        evidence_expect(rows[r].figure != increase || rows[r].against != COPIES_NONE ||
                            change(yarn, r, COPIES_ESPLASH) < -40,
                        "%s: the straggler costs over 40 %% less than without copies",
                        scenario_names[rows[r].scenario]);
}

/* --- how far the node is slowed --- */

static void print_slowed(all_found yarn)
{
    static const double slowed_to[] = {0.05, 0.1, 0.2, 0.4};
    double late_over_none = 0;
    evidence_begin("eSplash, slowed to");
    printf(
        "| slowed to | straggler | none | LATE | eSplash | strict |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 4; i++)
        for (size_t s = ESPLASH_SLOW_NODE; s <= ESPLASH_FAST_NODE; s++) {
            const struct esplash_setting setting = {slowed_to[i], 15};
            double increased_s[COPIES_KINDS];
            printf("| %.2f | %s |", slowed_to[i], scenario_names[s]);
            for (size_t c = 0; c < COPIES_KINDS; c++) {
                struct esplash_found found =
                    esplash_runs_compare(&setting, true, (enum esplash_scenario)s,
                                         (enum esplash_copies)c, seeds, &arena);
                increased_s[c] = found.makespan_s - yarn[MIXED][ESPLASH_NO_STRAGGLER][c].makespan_s;
                printf(" %.0f |", increased_s[c]);
            }
            printf("\n");
            if (s == ESPLASH_FAST_NODE && i == 2)
                late_over_none =
                    mapreduce_change(increased_s[COPIES_LATE], increased_s[COPIES_NONE]);
        }
    evidence_end();
    evidence_expect(late_over_none > 0,
                    "a fast node slowed to 0.2 costs %.0f %% more with LATE than without copies",
                    late_over_none);
}

/* --- table 5.1 --- */

static void print_places(const char *what, const double at[], const char *published)
{
    printf("| %s | %.1f | %.1f | %.1f | %.1f | %s |\n", what, at[0], at[1], at[2], at[3],
           published);
}

static void compare_places(void)
{
    double finished[ESPLASH_PLACES] = {0};
    double stopped[ESPLASH_PLACES] = {0};
    esplash_runs_places(seeds, &arena, finished, stopped);
    evidence_begin("LATE, table 5.1");
    printf("| copies of LATE | 32 vcores | 16 | 8 | 4 | published |\n|---|---|---|---|---|---|\n");
    print_places("finished", finished, "0, 19, 6, 5");
    print_places("killed", stopped, "25, 7, 1, 0");
    evidence_end();
    evidence_expect(finished[0] < 0.1 * stopped[0],
                    "copies on the slowest node hardly ever end first");
    evidence_expect(stopped[0] > stopped[1] + stopped[2] + stopped[3],
                    "most of the copies that were killed ran on the slowest node");
}

int main(int argc, char **argv)
{
    static const struct esplash_setting like_yarn = {0.1, 15};
    static const struct esplash_setting every_5_s = {0.1, SLOTS_EPOCH_S};
    static all_found yarn, often;
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (quick)
        seeds = 1;
    arena_init(&arena, 0);
    compare_all(&like_yarn, yarn);
    compare_all(&every_5_s, often);
    print_scenarios(yarn);
    print_published(yarn, often);
    expect_scenarios(yarn);
    print_slowed(yarn);
    compare_places();
    arena_fini(&arena);
    return quick ? 0 : evidence_status();
}
