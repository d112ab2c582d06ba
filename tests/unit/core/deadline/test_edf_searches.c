#include "core/deadline/edf_searches.h"

#include <criterion/criterion.h>
#include <math.h>

#include "edf_cases.h"

static struct arena scratch;
static struct arena results;

static void set_up(void)
{
    arena_init(&scratch, 0);
    arena_init(&results, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
    arena_fini(&results);
}

TestSuite(edf_searches, .init = set_up, .fini = tear_down, .timeout = 60);

enum { MOST = 40 };

enum search { ONE_DEADLINE, DEADLINES, ONE_RELEASE, RELEASES, LEFT_OUT, SEARCHES };

/* What they cost and what they found, over many sets of jobs. */
struct sums {
    uint64_t steps[SEARCHES];
    size_t found[SEARCHES];
    size_t exact[SEARCHES];
    size_t irreducible[SEARCHES];
    double later_s[SEARCHES];
};

static void count_list(struct sums *sums, enum search of, const struct edf_change_list *list)
{
    sums->found[of] += list->n;
    sums->exact[of] += list->exact;
    sums->irreducible[of] += list->irreducible;
    for (size_t i = 0; i < list->n; i++)
        sums->later_s[of] += list->items[i].later_s;
}

/* No search spends more than its budget, but for a step of every replay that it still begins: one
 * for each job, or for each move of a round. */
static void
count_steps(struct sums *sums, enum search of, const struct edf_trial *trial, uint64_t budget)
{
    size_t n = trial->plan.n_jobs;
    uint64_t begun = n < 16 ? 16 : n;
    uint64_t last = begun * (trial->plan.n_stages + trial->cores + 2 + n * n / 64);
    cr_assert_leq(trial->replay.steps, budget + last, "search %d: %zu steps, %zu", (int)of,
                  (size_t)trial->replay.steps, (size_t)(budget + last));
    sums->steps[of] += trial->replay.steps;
}

static void
search(const struct edf_job jobs[], size_t n, size_t cores, uint64_t budget, struct sums *sums)
{
    struct edf_remedies remedies;
    struct edf_trial trial;
    struct edf_change_list alone, list;
    struct edf_left_out left_out;
    cr_assert_eq(edf_find_remedies(jobs, n, cores, UINT64_MAX, &results, &scratch, &remedies, NULL),
                 PV_OK);
    cr_assert_eq(edf_trial_init(&trial, jobs, n, cores, &scratch, NULL), PV_OK);
    cr_assert_eq(edf_find_one_later_deadline(&trial, budget, &results, &scratch, &alone, NULL),
                 PV_OK);
    count_list(sums, ONE_DEADLINE, &alone);
    count_steps(sums, ONE_DEADLINE, &trial, budget);
    cr_assert_eq(edf_find_later_deadlines(&trial, budget, remedies.deadlines_s, &alone, &results,
                                          &scratch, &list, NULL),
                 PV_OK);
    count_list(sums, DEADLINES, &list);
    count_steps(sums, DEADLINES, &trial, budget);
    cr_assert_eq(edf_find_one_later_release(&trial, budget, &results, &scratch, &list, NULL),
                 PV_OK);
    count_list(sums, ONE_RELEASE, &list);
    count_steps(sums, ONE_RELEASE, &trial, budget);
    cr_assert_eq(edf_find_later_releases(&trial, budget, &results, &scratch, &list, NULL), PV_OK);
    count_list(sums, RELEASES, &list);
    count_steps(sums, RELEASES, &trial, budget);
    cr_assert_eq(edf_find_left_out(&trial, budget, &results, &scratch, &left_out, NULL), PV_OK);
    sums->found[LEFT_OUT] += left_out.n;
    sums->exact[LEFT_OUT] += left_out.exact;
    sums->irreducible[LEFT_OUT] += left_out.irreducible;
    count_steps(sums, LEFT_OUT, &trial, budget);
}

struct kind {
    size_t n;
    size_t sets;
    uint64_t budget;
    size_t spread; /* of deadlines: so many seconds a job */
    size_t parts;  /* of a second, in durations */
};

/* n jobs of one or two stages. Each number is drawn in a statement of its own, so that every compiler
 * makes the same jobs. */
static void make_jobs(const struct kind *kind,
                      struct numbers *numbers,
                      struct edf_stage stages[][2],
                      struct edf_job jobs[])
{
    static const size_t parent[] = {0};
    for (size_t j = 0; j < kind->n; j++) {
        for (size_t s = 0; s < 2; s++) {
            struct edf_stage *stage = &stages[j][s];
            *stage = (struct edf_stage){.id = (int64_t)s, .parents = parent, .n_parents = s};
            stage->tasks = 1 + numbers_below(numbers, 3);
            stage->task_duration_s =
                1 + (double)numbers_below(numbers, 10 * kind->parts) / (double)kind->parts;
            stage->delay_s = numbers_below(numbers, 4) == 3 ? 1 : 0;
        }
        jobs[j] = (struct edf_job){.stages = stages[j]};
        jobs[j].release_s = (double)numbers_below(numbers, 4 * kind->n);
        jobs[j].deadline_s = 12 + (double)numbers_below(numbers, kind->spread * kind->n);
        jobs[j].n_stages = 1 + numbers_below(numbers, 2);
    }
}

/* Sets in which some job is late. */
static struct sums search_sets(const struct kind *kind)
{
    struct numbers numbers = {40};
    struct sums sums = {0};
    for (size_t set = 0; set < kind->sets;) {
        struct edf_stage stages[MOST][2];
        struct edf_job jobs[MOST];
        struct edf_outcome outcomes[MOST];
        struct edf_metrics metrics;
        const size_t cores = 1 + numbers_below(&numbers, 3);
        make_jobs(kind, &numbers, stages, jobs);
        cr_assert_eq(edf_schedule(jobs, kind->n, cores, &scratch, outcomes, &metrics, NULL, NULL),
                     PV_OK);
        if (metrics.delayed == 0)
            continue;
        search(jobs, kind->n, cores, kind->budget, &sums);
        set++;
    }
    return sums;
}

/* What was measured; the results themselves are compared with all there are in test_edf_changes.c.
 * More steps come from bounds that rule out less, fewer from steps that are not counted; a search
 * that its budget cuts then proves and finds less. A search that does better is measured anew. */
struct measured {
    struct kind kind;
    struct sums sums;
};

static void require_no_worse(const struct measured *measured)
{
    const struct sums *was = &measured->sums;
    const struct sums is = search_sets(&measured->kind);
    for (int of = 0; of < SEARCHES; of++) {
        cr_expect_float_eq((double)is.steps[of], (double)was->steps[of],
                           0.005 * (double)was->steps[of], "search %d, %zu jobs: %zu steps", of,
                           measured->kind.n, (size_t)is.steps[of]);
        cr_expect_geq(is.exact[of], was->exact[of], "search %d, %zu jobs: %zu exact", of,
                      measured->kind.n, is.exact[of]);
        cr_expect_geq(is.irreducible[of], was->irreducible[of],
                      "search %d, %zu jobs: %zu irreducible", of, measured->kind.n,
                      is.irreducible[of]);
        if (of == LEFT_OUT)
            cr_expect_leq(is.found[of], was->found[of], "%zu jobs: %zu left out", measured->kind.n,
                          is.found[of]);
        else if (of != DEADLINES)
            cr_expect_geq(is.found[of], was->found[of], "search %d, %zu jobs: %zu found", of,
                          measured->kind.n, is.found[of]);
        if (is.found[of] == was->found[of] || of == DEADLINES)
            cr_expect_leq(is.later_s[of], was->later_s[of] * (1 + 1e-9),
                          "search %d, %zu jobs: %.17g s later", of, measured->kind.n,
                          is.later_s[of]);
    }
}

Test(edf_searches, few_jobs_are_searched_to_the_end)
{
    require_no_worse(&(struct measured){{5, 600, 100000000, 16, 4},
                                        {.steps = {67458, 155898, 47213, 88716, 31563},
                                         .exact = {600, 600, 600, 0, 600},
                                         .irreducible = {600, 600, 600, 86, 600},
                                         .found = {623, 1151, 123, 104, 768},
                                         .later_s = {14449, 18729.25, 1169.75, 1553.75, 0}}});
}

Test(edf_searches, seven_jobs_with_a_small_budget)
{
    require_no_worse(&(struct measured){{7, 200, 400, 16, 4},
                                        {.steps = {36524, 60497, 27462, 42270, 17824},
                                         .exact = {167, 90, 167, 0, 191},
                                         .irreducible = {167, 116, 200, 24, 197},
                                         .found = {235, 486, 41, 24, 265},
                                         .later_s = {8443.75, 8149.5, 351.75, 357.25, 0}}});
}

Test(edf_searches, nine_jobs_with_half_of_what_it_takes)
{
    require_no_worse(&(struct measured){{9, 100, 3000, 16, 4},
                                        {.steps = {20211, 154910, 16927, 41504, 13180},
                                         .exact = {100, 61, 100, 0, 100},
                                         .irreducible = {100, 100, 100, 4, 100},
                                         .found = {83, 297, 8, 5, 158},
                                         .later_s = {3169.25, 7122.25, 43.75, 67.25, 0}}});
}

Test(edf_searches, ten_jobs_are_still_few)
{
    require_no_worse(&(struct measured){{10, 100, 1500, 16, 4},
                                        {.steps = {33905, 92694, 26942, 43938, 15204},
                                         .exact = {99, 54, 95, 0, 100},
                                         .irreducible = {99, 85, 100, 6, 100},
                                         .found = {132, 246, 19, 8, 137},
                                         .later_s = {5667.25, 4770.75, 319.5, 96, 0}}});
}

Test(edf_searches, twenty_jobs_with_a_small_budget)
{
    require_no_worse(&(struct measured){{20, 60, 3000, 16, 4},
                                        {.steps = {76060, 162108, 66323, 79635, 32996},
                                         .exact = {47, 0, 43, 0, 56},
                                         .irreducible = {47, 42, 60, 4, 59},
                                         .found = {121, 308, 13, 4, 98},
                                         .later_s = {13787, 8870, 98.25, 87, 0}}});
}

Test(edf_searches, forty_jobs_with_a_small_budget)
{
    require_no_worse(
        &(struct measured){{40, 40, 20000, 16, 4},
                           {.steps = {284253, 709692, 249794, 148614, 93073},
                            .exact = {29, 0, 24, 0, 37},
                            .irreducible = {29, 30, 40, 8, 40},
                            .found = {95, 339, 36, 9, 74},
                            .later_s = {14430.750000000002, 14774.5, 719.5, 329.75, 0}}});
}

Test(edf_searches, twenty_jobs_most_of_which_are_late)
{
    require_no_worse(&(struct measured){{20, 60, 4000, 5, 4},
                                        {.steps = {47803, 232744, 41614, 65066, 100456},
                                         .exact = {52, 0, 50, 0, 40},
                                         .irreducible = {52, 15, 60, 1, 57},
                                         .found = {14, 690, 2, 1, 288},
                                         .later_s = {478.5, 58814, 9, 7, 0}}});
}

Test(edf_searches, fifteen_jobs_in_whole_seconds)
{
    require_no_worse(&(struct measured){{15, 100, 3000, 9, 1},
                                        {.steps = {44908, 255609, 36621, 81417, 45363},
                                         .exact = {96, 3, 93, 0, 96},
                                         .irreducible = {96, 44, 100, 4, 100},
                                         .found = {59, 612, 14, 4, 271},
                                         .later_s = {2080, 26148, 96, 65, 0}}});
}

Test(edf_searches, forty_jobs_few_of_which_are_late)
{
    require_no_worse(&(struct measured){{40, 40, 40000, 40, 4},
                                        {.steps = {322679, 1347260, 311326, 220524, 63946},
                                         .exact = {38, 0, 34, 0, 40},
                                         .irreducible = {38, 40, 40, 15, 40},
                                         .found = {100, 48, 98, 19, 47},
                                         .later_s = {19121.5, 530.25, 1672, 817.25, 0}}});
}

Test(edf_searches, forty_jobs_that_hardly_any_budget_helps)
{
    require_no_worse(&(struct measured){{40, 60, 6000, 2, 1},
                                        {.steps = {40095, 357828, 25940, 106437, 316822},
                                         .exact = {56, 0, 57, 0, 8},
                                         .irreducible = {56, 4, 60, 1, 24},
                                         .found = {9, 1586, 1, 1, 367},
                                         .later_s = {984.00000000000011, 172001, 18, 34, 0}}});
}

Test(edf_searches, sixteen_jobs_that_hardly_any_budget_helps)
{
    require_no_worse(&(struct measured){{16, 100, 700, 3, 1},
                                        {.steps = {16672, 69928, 12064, 43797, 62647},
                                         .exact = {85, 0, 90, 0, 17},
                                         .irreducible = {85, 5, 100, 2, 21},
                                         .found = {5, 1067, 3, 2, 113},
                                         .later_s = {169.00000000000006, 58496, 18, 11, 0}}});
}
