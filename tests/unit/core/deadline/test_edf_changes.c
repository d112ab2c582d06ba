#include "core/deadline/edf_changes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "edf_cases.h"
#include "rounds.h"

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

TestSuite(edf_changes, .init = set_up, .fini = tear_down, .timeout = 60);

/* Bigger sets than the cases' for some: one struct for all. */
enum { MOST = 24 };

struct jobs {
    struct edf_job items[MOST];
    size_t n;
    size_t cores;
};

static bool run(const struct jobs *jobs, struct edf_outcome outcomes[])
{
    struct edf_metrics metrics;
    cr_assert_eq(
        edf_schedule(jobs->items, jobs->n, jobs->cores, &scratch, outcomes, &metrics, NULL, NULL),
        PV_OK);
    return metrics.delayed == 0;
}

static bool all_met(const struct jobs *jobs)
{
    struct edf_outcome outcomes[MOST];
    return run(jobs, outcomes);
}

static struct edf_changes find(const struct jobs *jobs, uint64_t budget)
{
    struct edf_remedies remedies;
    struct edf_changes changes;
    cr_assert_eq(edf_find_remedies(jobs->items, jobs->n, jobs->cores, budget, &results, &scratch,
                                   &remedies, NULL),
                 PV_OK);
    cr_assert_eq(edf_find_changes(jobs->items, jobs->n, jobs->cores, remedies.deadlines_s, budget,
                                  &results, &scratch, &changes, NULL),
                 PV_OK);
    cr_assert_null(scratch.head, "scratch is back at its mark");
    return changes;
}

/* A third of the sets has no memory, the others wait for it in one order or the other. */
static void give_memory(struct jobs *jobs, struct numbers *numbers)
{
    static const struct edf_memory memories[] = {{10, EDF_FIRST_COME}, {10, EDF_EARLIEST_DEADLINE}};
    size_t of = numbers_below(numbers, 3);
    for (size_t j = 0; of < 2 && j < jobs->n; j++) {
        jobs->items[j].memory = &memories[of];
        jobs->items[j].memory_bytes = (int64_t)numbers_below(numbers, 11);
    }
}

/* A random set that is not feasible. */
static struct jobs make(struct edf_case *c, struct numbers *numbers, bool fine)
{
    for (;;) {
        edf_case_make(c, numbers, fine);
        if (numbers_below(numbers, 3) == 0)
            edf_case_delay(c, numbers, fine);
        struct jobs jobs = {.n = c->n, .cores = 1 + numbers_below(numbers, 3)};
        memcpy(jobs.items, c->jobs, c->n * sizeof *c->jobs);
        give_memory(&jobs, numbers);
        if (!all_met(&jobs))
            return jobs;
    }
}

static struct jobs changed(const struct jobs *jobs, const struct edf_change changes[], size_t n)
{
    struct jobs other = *jobs;
    for (size_t i = 0; i < n; i++) {
        other.items[changes[i].job].release_s = changes[i].release_s;
        other.items[changes[i].job].deadline_s = changes[i].deadline_s;
    }
    return other;
}

static const struct edf_change *find_change(const struct edf_change_list *list, size_t job)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].job == job)
            return &list->items[i];
    return NULL;
}

/* --- one later deadline --- */

static bool
is_behind(const struct jobs *jobs, size_t j, double deadline_s, size_t k, double other_s)
{
    const struct edf_job *x = &jobs->items[j];
    const struct edf_job *y = &jobs->items[k];
    double at = x->release_s + deadline_s;
    double other = y->release_s + other_s;
    if (at != other)
        return at > other;
    return x->release_s != y->release_s ? x->release_s > y->release_s : j > k;
}

static double
least_behind(const struct jobs *jobs, size_t j, double floor_s, size_t k, double other_s)
{
    double deadline =
        fmax(floor_s, jobs->items[k].release_s + other_s - jobs->items[j].release_s - 1e-12);
    while (!is_behind(jobs, j, deadline, k, other_s))
        deadline = nextafter(deadline, INFINITY);
    while (deadline > floor_s && is_behind(jobs, j, nextafter(deadline, 0), k, other_s))
        deadline = nextafter(deadline, 0);
    return deadline;
}

/* The least is one with which the job has just got its place, or its execution in that place. */
static double least_alone(const struct jobs *jobs, size_t j)
{
    double least = INFINITY;
    for (size_t k = 0; k < jobs->n; k++) {
        struct jobs other = *jobs;
        struct edf_outcome outcomes[MOST];
        double floor = jobs->items[j].deadline_s;
        double deadline =
            k == j ? floor : least_behind(jobs, j, floor, k, jobs->items[k].deadline_s);
        for (int round = 0; round < 2; round++) {
            other.items[j].deadline_s = deadline;
            if (run(&other, outcomes))
                least = fmin(least, deadline);
            deadline = fmax(deadline, outcomes[j].execution_s);
        }
    }
    return least;
}

Test(edf_changes, one_later_deadline_is_the_least_there_is)
{
    struct numbers numbers = {21};
    size_t found = 0;
    size_t moved = 0;
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        struct jobs jobs = make(&c, &numbers, round % 2 == 1);
        struct edf_changes changes = find(&jobs, UINT64_MAX);
        cr_assert(changes.one_later_deadline.exact);
        for (size_t j = 0; j < jobs.n; j++) {
            const struct edf_change *change = find_change(&changes.one_later_deadline, j);
            double least = least_alone(&jobs, j);
            cr_assert_eq(change != NULL, least < (double)INFINITY, "round %zu, job %zu", round, j);
            if (change == NULL)
                continue;
            cr_assert_eq(change->deadline_s, least, "round %zu, job %zu: %.17g, least is %.17g",
                         round, j, change->deadline_s, least);
            struct jobs other = changed(&jobs, change, 1);
            cr_assert(all_met(&other));
            struct edf_outcome outcomes[MOST];
            (void)run(&jobs, outcomes);
            found++;
            moved += outcomes[j].met; /* helps by going behind another */
        }
    }
    cr_assert_gt(found, 1000, "%zu", found);
    cr_assert_gt(moved, 50, "%zu", moved);
}

/* --- later deadlines together --- */

static double total_of(const struct jobs *jobs, const double deadlines_s[])
{
    double total = 0;
    for (size_t j = 0; j < jobs->n; j++)
        total += deadlines_s[j] - jobs->items[j].deadline_s;
    return total;
}

/* The least deadlines, at least floors_s, with which they are served in this order. */
static void raise_in_order(const struct jobs *jobs,
                           const size_t order[],
                           const double floors_s[],
                           double deadlines_s[])
{
    for (size_t at = 0; at < jobs->n; at++) {
        size_t j = order[at];
        deadlines_s[j] = fmax(floors_s[j], jobs->items[j].deadline_s);
        if (at > 0)
            deadlines_s[j] =
                least_behind(jobs, j, deadlines_s[j], order[at - 1], deadlines_s[order[at - 1]]);
    }
}

static double total_of_order(const struct jobs *jobs, const size_t order[])
{
    struct jobs other = *jobs;
    struct edf_outcome outcomes[MOST];
    double floors[MOST] = {0};
    double deadlines[MOST];
    for (int round = 0; round < 2; round++) {
        raise_in_order(jobs, order, floors, deadlines);
        for (size_t j = 0; j < jobs->n; j++)
            other.items[j].deadline_s = deadlines[j];
        bool met = run(&other, outcomes);
        cr_assert(round == 0 || met);
        for (size_t j = 0; j < jobs->n; j++)
            floors[j] = outcomes[j].execution_s;
    }
    return total_of(jobs, deadlines);
}

static bool next_order(size_t order[], size_t n)
{
    if (n < 2 || n > MOST)
        return false;
    size_t i = n - 1;
    while (i > 0 && order[i - 1] > order[i])
        i--;
    if (i == 0)
        return false;
    size_t k = n - 1;
    while (order[k] < order[i - 1])
        k--;
    size_t swap = order[i - 1];
    order[i - 1] = order[k];
    order[k] = swap;
    for (size_t a = i, b = n - 1; a < b; a++, b--) {
        swap = order[a];
        order[a] = order[b];
        order[b] = swap;
    }
    return true;
}

static double least_total(const struct jobs *jobs)
{
    size_t order[MOST] = {0};
    double least = INFINITY;
    for (size_t j = 0; j < jobs->n; j++)
        order[j] = j;
    do
        least = fmin(least, total_of_order(jobs, order));
    while (next_order(order, jobs->n));
    return least;
}

static void require_together(const struct jobs *jobs, const struct edf_change_list *list)
{
    double total = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct edf_change *change = &list->items[i];
        cr_assert_gt(change->later_s, 0);
        cr_assert_eq(change->release_s, jobs->items[change->job].release_s);
        total += change->later_s;
    }
    cr_assert_float_eq(total, list->total_s, 1e-9 * (1 + total));
    struct jobs other = changed(jobs, list->items, list->n);
    cr_assert(all_met(&other));
}

static void require_irreducible(const struct jobs *jobs, const struct edf_change_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct jobs other = changed(jobs, list->items, list->n);
        size_t j = list->items[i].job;
        other.items[j].deadline_s = jobs->items[j].deadline_s;
        double least = least_alone(&other, j);
        cr_assert_geq(least, list->items[i].deadline_s);
    }
}

Test(edf_changes, later_deadlines_have_the_least_total_of_all_orders)
{
    struct numbers numbers = {22};
    size_t better = 0;
    for (size_t round = 0; round < rounds(4000); round++) {
        struct edf_case c;
        struct jobs jobs = make(&c, &numbers, round % 2 == 1);
        struct edf_changes changes = find(&jobs, UINT64_MAX);
        double least = least_total(&jobs);
        cr_assert(changes.later_deadlines.exact);
        cr_assert(changes.later_deadlines.irreducible);
        require_together(&jobs, &changes.later_deadlines);
        require_irreducible(&jobs, &changes.later_deadlines);
        cr_assert_float_eq(changes.later_deadlines.total_s, least, 1e-9 * (1 + least),
                           "round %zu: %.17g, least is %.17g", round,
                           changes.later_deadlines.total_s, least);
        struct edf_remedies raised;
        cr_assert_eq(edf_find_remedies(jobs.items, jobs.n, jobs.cores, UINT64_MAX, &results,
                                       &scratch, &raised, NULL),
                     PV_OK);
        double total = 0;
        for (size_t j = 0; j < jobs.n; j++)
            if (!isnan(raised.deadlines_s[j]))
                total += raised.deadlines_s[j] - jobs.items[j].deadline_s;
        better += total > least * (1 + 1e-9);
    }
    cr_assert_gt(better, rounds(400), "%zu: raise and replay is hardly ever beaten", better);
}

/* Six jobs of one task or two each: 720 orders. */
static struct jobs make_short(struct edf_stage stages[], struct numbers *numbers, size_t n)
{
    struct jobs jobs = {.n = n, .cores = 1 + numbers_below(numbers, 2)};
    do
        for (size_t j = 0; j < n; j++) {
            stages[j] =
                (struct edf_stage){.tasks = 1 + numbers_below(numbers, 2),
                                   .task_duration_s = 1 + (double)numbers_below(numbers, 40) / 4};
            jobs.items[j] = (struct edf_job){.release_s = (double)numbers_below(numbers, 12),
                                             .deadline_s = 4 + (double)numbers_below(numbers, 30),
                                             .stages = &stages[j],
                                             .n_stages = 1};
        }
    while (all_met(&jobs));
    return jobs;
}

Test(edf_changes, of_six_jobs_too)
{
    struct numbers numbers = {23};
    struct edf_stage stages[MOST];
    for (size_t round = 0; round < 60; round++) {
        struct jobs jobs = make_short(stages, &numbers, 6);
        struct edf_changes changes = find(&jobs, UINT64_MAX);
        double least = least_total(&jobs);
        cr_assert(changes.later_deadlines.exact);
        require_together(&jobs, &changes.later_deadlines);
        cr_assert_float_eq(changes.later_deadlines.total_s, least, 1e-9 * (1 + least));
    }
}

enum { QUEUE = 12 };

/* On one core, all released at 0, each of one task: whoever is served k-th may end when the first k
 * have, and no earlier than the latest deadline among them. So the least total of a set that goes
 * first depends on nothing but the set, and is found from those of the sets with one job less. */
static double least_on_one_core(const struct jobs *jobs)
{
    static double totals_s[1 << QUEUE];
    totals_s[0] = 0;
    for (unsigned set = 1; set < 1U << jobs->n; set++) {
        double end_s = 0;
        double latest_s = 0;
        for (size_t j = 0; j < jobs->n; j++)
            if (set >> j & 1) {
                end_s += jobs->items[j].stages[0].task_duration_s;
                latest_s = fmax(latest_s, jobs->items[j].deadline_s);
            }
        totals_s[set] = INFINITY;
        for (size_t j = 0; j < jobs->n; j++)
            if (set >> j & 1)
                totals_s[set] =
                    fmin(totals_s[set], totals_s[set & ~(1U << j)] + fmax(end_s, latest_s) -
                                            jobs->items[j].deadline_s);
    }
    return totals_s[(1U << jobs->n) - 1];
}

/* Jobs of 11 s on the average, with deadlines of half of what they take together. */
static struct jobs make_queue(struct edf_stage stages[], struct numbers *numbers, size_t n)
{
    struct jobs jobs = {.n = n, .cores = 1};
    do
        for (size_t j = 0; j < n; j++) {
            stages[j] = (struct edf_stage){
                .tasks = 1, .task_duration_s = 1 + (double)numbers_below(numbers, 80) / 4};
            jobs.items[j] =
                (struct edf_job){.deadline_s = 20 + (double)numbers_below(numbers, 6 * n),
                                 .stages = &stages[j],
                                 .n_stages = 1};
        }
    while (all_met(&jobs));
    return jobs;
}

/* Ten jobs and twelve: of so many, the budget is shared in other ways. */
Test(edf_changes, a_cut_search_comes_near_the_least_total)
{
    struct numbers numbers = {30};
    struct edf_stage stages[MOST];
    size_t least = 0;
    double beyond = 0;
    for (size_t round = 0; round < 80; round++) {
        struct jobs jobs = make_queue(stages, &numbers, round % 2 == 0 ? QUEUE : QUEUE - 2);
        struct edf_changes changes = find(&jobs, 3000);
        double total = changes.later_deadlines.total_s / least_on_one_core(&jobs);
        require_together(&jobs, &changes.later_deadlines);
        cr_assert_geq(total, 1 - 1e-9);
        least += total < 1 + 1e-9;
        beyond += (total - 1) / 80;
    }
    cr_assert(least > 74 && beyond < 0.001, "%zu of 80, %g beyond", least, beyond);
}

/* --- left out --- */

static bool met_without(const struct jobs *jobs, unsigned without)
{
    struct jobs other = {.cores = jobs->cores};
    for (size_t j = 0; j < jobs->n; j++)
        if (!(without >> j & 1))
            other.items[other.n++] = jobs->items[j];
    return other.n == 0 || all_met(&other);
}

static unsigned set_of(const struct edf_left_out *left_out)
{
    unsigned set = 0;
    for (size_t i = 0; i < left_out->n; i++)
        set |= 1U << left_out->jobs[i];
    return set;
}

static size_t fewest(const struct jobs *jobs)
{
    size_t least = jobs->n;
    for (unsigned set = 1; set < 1U << jobs->n; set++)
        if ((size_t)__builtin_popcount(set) < least && met_without(jobs, set))
            least = (size_t)__builtin_popcount(set);
    return least;
}

static void require_left_out(const struct jobs *jobs, const struct edf_left_out *left_out)
{
    unsigned set = set_of(left_out);
    cr_assert(left_out->n == 0 || met_without(jobs, set));
    for (size_t i = 0; left_out->irreducible && i < left_out->n; i++)
        cr_assert_not(met_without(jobs, set & ~(1U << left_out->jobs[i])));
}

Test(edf_changes, the_fewest_are_left_out)
{
    struct numbers numbers = {24};
    struct edf_stage stages[MOST];
    size_t several = 0;
    for (size_t round = 0; round < rounds(6000); round++) {
        struct edf_case c;
        struct jobs jobs =
            round % 3 == 0 ? make_short(stages, &numbers, 7) : make(&c, &numbers, round % 3 == 1);
        struct edf_left_out left_out = find(&jobs, 2000000).left_out;
        cr_assert(left_out.exact);
        cr_assert(left_out.irreducible);
        cr_assert_gt(left_out.n, 0);
        cr_assert_eq(left_out.n, fewest(&jobs), "round %zu: %zu, fewest is %zu", round, left_out.n,
                     fewest(&jobs));
        require_left_out(&jobs, &left_out);
        several += left_out.n > 1;
    }
    cr_assert_gt(several, rounds(1000));
}

/* Jobs in order of their deadlines; where one is late, the longest so far goes (Moore 1968). */
static size_t fewest_on_one_core(const struct jobs *jobs)
{
    bool seen[MOST] = {false}, gone[MOST] = {false};
    double end_s = 0;
    size_t left_out = 0;
    for (size_t served = 0; served < jobs->n; served++) {
        size_t next = jobs->n, longest = jobs->n;
        for (size_t j = 0; j < jobs->n; j++)
            if (!seen[j] &&
                (next == jobs->n || jobs->items[j].deadline_s < jobs->items[next].deadline_s))
                next = j;
        seen[next] = true;
        end_s += jobs->items[next].stages[0].task_duration_s;
        if (end_s <= jobs->items[next].deadline_s)
            continue;
        for (size_t j = 0; j < jobs->n; j++)
            if (seen[j] && !gone[j] &&
                (longest == jobs->n || jobs->items[j].stages[0].task_duration_s >
                                           jobs->items[longest].stages[0].task_duration_s))
                longest = j;
        gone[longest] = true;
        end_s -= jobs->items[longest].stages[0].task_duration_s;
        left_out++;
    }
    return left_out;
}

/* Far too many sets for the budget: the largest of those that may help go, which on one core is the
 * best there is. */
Test(edf_changes, a_cut_search_leaves_out_the_fewest_on_one_core)
{
    struct numbers numbers = {31};
    struct edf_stage stages[MOST];
    size_t cut = 0;
    for (size_t round = 0; round < 80; round++) {
        struct jobs jobs = make_queue(stages, &numbers, MOST);
        const struct edf_left_out left_out = find(&jobs, 4000).left_out;
        cut += !left_out.exact;
        cr_assert(left_out.irreducible);
        cr_assert_eq(left_out.n, fewest_on_one_core(&jobs), "round %zu: %zu, fewest is %zu", round,
                     left_out.n, fewest_on_one_core(&jobs));
        require_left_out(&jobs, &left_out);
    }
    cr_assert_gt(cut, 10, "%zu", cut);
}

/* --- later releases --- */

/* The first instant at which another job is released or ends, in the schedule without j, at which
 * j may be released to end by the same instant; INFINITY: there is none. */
static double first_release(const struct jobs *jobs, size_t j)
{
    struct jobs without = {.cores = jobs->cores};
    struct edf_outcome outcomes[MOST];
    double first = INFINITY;
    for (size_t k = 0; k < jobs->n; k++)
        if (k != j)
            without.items[without.n++] = jobs->items[k];
    if (without.n == 0)
        return first;
    (void)run(&without, outcomes);
    for (size_t i = 0; i < 2 * without.n; i++) {
        struct jobs other = *jobs;
        struct edf_job *job = &other.items[j];
        double at =
            i < without.n ? without.items[i].release_s : outcomes[i - without.n].completion_s;
        if (at <= job->release_s)
            continue;
        job->deadline_s = job->release_s + job->deadline_s - at;
        job->release_s = at;
        if (job->deadline_s > 0 && all_met(&other))
            first = fmin(first, at);
    }
    return first;
}

static void require_releases(const struct jobs *jobs, const struct edf_change changes[], size_t n)
{
    struct jobs other = changed(jobs, changes, n);
    cr_assert(all_met(&other));
    for (size_t i = 0; i < n; i++) {
        const struct edf_job *before = &jobs->items[changes[i].job];
        cr_assert_gt(changes[i].later_s, 0);
        cr_assert_eq(changes[i].later_s, changes[i].release_s - before->release_s);
        cr_assert_float_eq(changes[i].release_s + changes[i].deadline_s,
                           before->release_s + before->deadline_s, 1e-9);
    }
}

Test(edf_changes, one_later_release_is_the_first_that_helps)
{
    struct numbers numbers = {25};
    struct edf_stage stages[MOST];
    size_t found = 0;
    size_t sets = 0;
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        struct jobs jobs =
            round % 3 == 0 ? make_short(stages, &numbers, 4) : make(&c, &numbers, round % 3 == 1);
        struct edf_changes changes = find(&jobs, 2000000);
        cr_assert(changes.one_later_release.exact);
        for (size_t j = 0; j < jobs.n; j++) {
            const struct edf_change *change = find_change(&changes.one_later_release, j);
            double first = first_release(&jobs, j);
            cr_assert_eq(change != NULL ? change->release_s : (double)INFINITY, first,
                         "round %zu, job %zu: %.17g, first is %.17g", round, j,
                         change != NULL ? change->release_s : (double)INFINITY, first);
            if (change != NULL)
                require_releases(&jobs, change, 1);
            found += change != NULL;
        }
        double later_s = 0;
        for (size_t i = 0; i < changes.later_releases.n; i++)
            later_s += changes.later_releases.items[i].later_s;
        cr_assert_eq(changes.later_releases.total_s, later_s);
        if (changes.later_releases.n > 0)
            require_releases(&jobs, changes.later_releases.items, changes.later_releases.n);
        sets += changes.later_releases.n > 0;
    }
    cr_assert_gt(found, 200, "%zu", found);
    cr_assert_gt(sets, 209, "%zu: it found 211", sets);
}

/* --- budgets, and cases by hand --- */

/* Whatever the budget, what is found holds, and the same call finds the same. */
Test(edf_changes, what_a_cut_search_found_holds)
{
    struct numbers numbers = {26};
    struct edf_stage stages[MOST];
    size_t cut = 0;
    for (size_t round = 0; round < rounds(3000); round++) {
        struct jobs jobs = make_short(stages, &numbers, 7);
        uint64_t budget = numbers_below(&numbers, 3000);
        struct edf_changes changes = find(&jobs, budget);
        struct edf_changes again = find(&jobs, budget);
        for (size_t i = 0; i < changes.one_later_deadline.n; i++) {
            struct jobs other = changed(&jobs, &changes.one_later_deadline.items[i], 1);
            cr_assert(all_met(&other));
        }
        require_together(&jobs, &changes.later_deadlines);
        if (changes.later_deadlines.irreducible)
            require_irreducible(&jobs, &changes.later_deadlines);
        for (size_t i = 0; i < changes.one_later_release.n; i++)
            require_releases(&jobs, &changes.one_later_release.items[i], 1);
        require_left_out(&jobs, &changes.left_out);
        if (changes.left_out.exact)
            cr_assert_eq(changes.left_out.n, fewest(&jobs));
        if (changes.later_deadlines.exact && round < 300 && round % 10 == 0) /* takes its time */
            cr_assert_leq(changes.later_deadlines.total_s, least_total(&jobs) * (1 + 1e-9));
        cut += !changes.later_deadlines.exact && !changes.left_out.exact;
        cr_assert_eq(changes.later_deadlines.total_s, again.later_deadlines.total_s);
        cr_assert_eq(set_of(&changes.left_out), set_of(&again.left_out));
    }
    cr_assert_gt(cut, rounds(100), "%zu", cut);
}

/* On one core A (deadline 4) runs 0-3, B (5) 3-8, C (7) 8-10. Together 10 s of work: the last of
 * them ends at 10. A last: B 5, C 7, A 10, 6 s later than its 4; B last: A 3, C 5, B 10, 5 s later; C
 * last: A 3, B 8, C 10, 3 + 3 s later. So A or B alone, and with the least total B. Without A,
 * B 5 and C 7. */
Test(edf_changes, by_hand)
{
    struct edf_stage stages[] = {{.tasks = 1, .task_duration_s = 3},
                                 {.tasks = 1, .task_duration_s = 5},
                                 {.tasks = 1, .task_duration_s = 2}};
    struct jobs jobs = {{{.deadline_s = 4, .stages = &stages[0], .n_stages = 1},
                         {.deadline_s = 5, .stages = &stages[1], .n_stages = 1},
                         {.deadline_s = 7, .stages = &stages[2], .n_stages = 1}},
                        3,
                        1};
    struct edf_changes changes = find(&jobs, UINT64_MAX);
    cr_assert_eq(changes.one_later_deadline.n, 2);
    cr_assert_eq(changes.one_later_deadline.items[0].job, 0);
    cr_assert_eq(changes.one_later_deadline.items[0].deadline_s, 10);
    cr_assert_eq(changes.one_later_deadline.items[1].job, 1);
    cr_assert_eq(changes.one_later_deadline.items[1].deadline_s, 10);
    cr_assert_eq(changes.later_deadlines.n, 1);
    cr_assert_eq(changes.later_deadlines.total_s, 5);
    cr_assert_eq(changes.left_out.n, 1);
    cr_assert_eq(changes.left_out.jobs[0], 0);
    cr_assert_eq(changes.one_later_release.n, 0);
}

/* On one core A (10 s, to end by 20) starts at 0, B (2 s, by 4) comes at 1 and waits until 10.
 * Released at 1, with B, or later, A starts when B has ended: 3 to 13. A deadline of A that is
 * later helps nothing, B's own must be 11 from its release. */
Test(edf_changes, a_task_that_cannot_be_interrupted_is_released_later)
{
    struct edf_stage stages[] = {{.tasks = 1, .task_duration_s = 10},
                                 {.tasks = 1, .task_duration_s = 2}};
    struct jobs jobs = {{{.deadline_s = 20, .stages = &stages[0], .n_stages = 1},
                         {.release_s = 1, .deadline_s = 3, .stages = &stages[1], .n_stages = 1}},
                        2,
                        1};
    struct edf_changes changes = find(&jobs, UINT64_MAX);
    cr_assert_eq(changes.one_later_release.n, 1);
    cr_assert_eq(changes.one_later_release.items[0].job, 0);
    cr_assert_eq(changes.one_later_release.items[0].release_s, 1);
    cr_assert_eq(changes.one_later_release.items[0].deadline_s, 19);
    cr_assert_eq(changes.one_later_deadline.n, 1);
    cr_assert_eq(changes.one_later_deadline.items[0].deadline_s, 11);
    cr_assert_eq(changes.later_releases.n, 1);
    cr_assert_eq(changes.later_releases.items[0].release_s, 1);
    cr_assert_eq(changes.later_releases.total_s, 1);
    cr_assert(changes.later_releases.irreducible);
    cr_assert_eq(changes.left_out.n, 1);
}

/* A holds all memory from 0 to 10; B, of 0.5 s, comes at 0.5 and has to end by 1. Released with B, A
 * comes first, as in the list. Released when B ends, A has just the 10 s that it takes, and no more
 * precise than instants are. */
Test(edf_changes, a_release_may_leave_just_the_time_that_the_job_takes)
{
    static const struct edf_memory memory = {10, EDF_FIRST_COME};
    const struct edf_stage a = {.tasks = 1, .task_duration_s = 10};
    const struct edf_stage b = {.tasks = 1, .task_duration_s = 0.5};
    struct jobs jobs = {{{.release_s = 1.7e9,
                          .deadline_s = 11,
                          .stages = &a,
                          .n_stages = 1,
                          .memory = &memory,
                          .memory_bytes = 10},
                         {.release_s = 1.7e9 + 0.5,
                          .deadline_s = 0.5,
                          .stages = &b,
                          .n_stages = 1,
                          .memory = &memory,
                          .memory_bytes = 4}},
                        2,
                        2};
    const struct edf_changes changes = find(&jobs, UINT64_MAX);
    cr_assert_eq(changes.one_later_release.n, 1);
    cr_assert_eq(changes.one_later_release.items[0].job, 0);
    cr_assert_eq(changes.one_later_release.items[0].release_s, 1.7e9 + 1);
    cr_assert_eq(changes.one_later_release.items[0].deadline_s, 10);
}

/* B holds 6 of 10 from 0 to 8. A, which takes no time, waits for all 10 from 0 to 8, by when it has to
 * end, and C (1 to 3) and D (7 to 8), of 4 each, wait behind it. Released with C or with D, A still
 * comes first; when C ends, D waits. Released at 8 it would have no time at all, which is no
 * deadline. */
Test(edf_changes, a_release_leaves_some_time)
{
    static const struct edf_memory memory = {10, EDF_FIRST_COME};
    const struct edf_stage a = {.id = 0}, b = {.tasks = 1, .task_duration_s = 8},
                           c = {.tasks = 1, .task_duration_s = 2},
                           d = {.tasks = 1, .task_duration_s = 1};
    struct jobs jobs = {{{.deadline_s = 8, .stages = &a, .memory_bytes = 10},
                         {.deadline_s = 8, .stages = &b, .memory_bytes = 6},
                         {.release_s = 1, .deadline_s = 2, .stages = &c, .memory_bytes = 4},
                         {.release_s = 7, .deadline_s = 1, .stages = &d, .memory_bytes = 4}},
                        4,
                        4};
    /* B is launched first, as one that runs already. */
    for (size_t j = 0; j < jobs.n; j++) {
        jobs.items[j].n_stages = 1;
        jobs.items[j].memory = &memory;
        jobs.items[j].runs_already = j == 1;
    }
    struct edf_outcome outcomes[MOST];
    cr_assert_not(run(&jobs, outcomes));
    cr_assert(outcomes[0].completion_s == 8 && outcomes[2].launched_s == 8);
    const struct edf_changes changes = find(&jobs, UINT64_MAX);
    cr_assert(changes.one_later_release.exact);
    cr_assert_null(find_change(&changes.one_later_release, 0));
}

/* On two cores A has tasks of 10, 10 and 0.5 s, to end by 10.6, which it does. B starts at 10 with a
 * task of 1 s, which four of 1 s follow, two at a time: it ends at 13, by 12.5 it should. A has ended
 * by then, and B has all cores from 10.5 on; but without A, the first in the request that helps, B
 * ends at 3. */
Test(edf_changes, who_held_the_cores_earlier_is_left_out)
{
    static const double first_s[] = {10, 10, 0.5};
    const size_t first[] = {0};
    const struct edf_stage a = {.tasks = 3, .task_durations_s = first_s};
    const struct edf_stage b[] = {
        {.id = 0, .tasks = 1, .task_duration_s = 1},
        {.id = 1, .parents = first, .n_parents = 1, .tasks = 4, .task_duration_s = 1}};
    struct jobs jobs = {{{.deadline_s = 10.6, .stages = &a, .n_stages = 1},
                         {.deadline_s = 12.5, .stages = b, .n_stages = 2}},
                        2,
                        2};
    const struct edf_left_out left_out = find(&jobs, UINT64_MAX).left_out;
    cr_assert_eq(left_out.n, 1);
    cr_assert_eq(left_out.jobs[0], 0);
    cr_assert(left_out.exact);
}

/* Equal deadlines: of two alike the second in the request is served last. Raised to what it takes,
 * it stays there; the first, to be last, must end behind it. */
Test(edf_changes, ties_are_broken_as_in_the_schedule)
{
    struct edf_stage stage = {.tasks = 1, .task_duration_s = 3};
    struct jobs jobs = {{{.deadline_s = 4, .stages = &stage, .n_stages = 1},
                         {.deadline_s = 4, .stages = &stage, .n_stages = 1}},
                        2,
                        1};
    struct edf_changes changes = find(&jobs, UINT64_MAX);
    cr_assert_eq(changes.one_later_deadline.n, 2);
    cr_assert_eq(changes.one_later_deadline.items[0].deadline_s, 6);
    cr_assert_eq(changes.one_later_deadline.items[1].deadline_s, 6);
    cr_assert_eq(changes.later_deadlines.total_s, 2);
}

Test(edf_changes, nothing_to_change)
{
    struct edf_stage stage = {.tasks = 1, .task_duration_s = 3};
    struct edf_job job = {.deadline_s = 4, .stages = &stage, .n_stages = 1};
    struct edf_changes changes;
    const double kept = NAN;
    cr_assert_eq(edf_find_changes(&job, 1, 1, &kept, 1000, &results, &scratch, &changes, NULL),
                 PV_OK);
    cr_assert_eq(changes.one_later_deadline.n + changes.later_deadlines.n +
                     changes.one_later_release.n + changes.later_releases.n + changes.left_out.n,
                 0);
}

/* Leaving out one more can make another late (Graham's anomalies): the sets are tried, none is
 * inferred from a smaller one. */
Test(edf_changes, one_more_left_out_can_be_worse)
{
    struct numbers numbers = {27};
    size_t anomalies = 0;
    for (size_t round = 0; round < 40000 && anomalies < 3; round++) {
        struct edf_case c;
        struct jobs jobs = make(&c, &numbers, false);
        for (unsigned set = 1; set < 1U << jobs.n; set++)
            for (size_t j = 0; j < jobs.n; j++)
                if (met_without(&jobs, set) && !met_without(&jobs, set | 1U << j)) {
                    anomalies++;
                    struct edf_left_out left_out = find(&jobs, UINT64_MAX).left_out;
                    cr_assert_eq(left_out.n, fewest(&jobs));
                }
    }
    cr_assert_gt(anomalies, 0, "no anomaly among the cases");
}

/* Far from instant 0 doubles are coarse. */
Test(edf_changes, far_from_instant_0)
{
    struct numbers numbers = {28};
    for (size_t round = 0; round < 300; round++) {
        struct edf_case c;
        struct jobs jobs = make(&c, &numbers, true);
        for (size_t j = 0; j < jobs.n; j++)
            jobs.items[j].release_s += round % 2 == 0 ? 1e12 : -1e12;
        if (all_met(&jobs))
            continue;
        struct edf_changes changes = find(&jobs, 1000000);
        require_together(&jobs, &changes.later_deadlines);
        require_left_out(&jobs, &changes.left_out);
        cr_assert(changes.left_out.exact);
        cr_assert_eq(changes.left_out.n, fewest(&jobs), "round %zu", round);
        for (size_t i = 0; i < changes.one_later_deadline.n; i++) {
            struct jobs other = changed(&jobs, &changes.one_later_deadline.items[i], 1);
            cr_assert(all_met(&other));
        }
    }
}

Test(edf_changes, running_out_of_memory_is_an_error)
{
    struct edf_stage stages[MOST];
    struct numbers numbers = {29};
    struct jobs jobs = make_short(stages, &numbers, 7);
    struct edf_remedies remedies;
    enum pv_code code = PV_E_MEMORY;
    cr_assert_eq(
        edf_find_remedies(jobs.items, 7, jobs.cores, 1000, &results, &scratch, &remedies, NULL),
        PV_OK);
    size_t refused = 0;
    for (size_t limit = 64; code == PV_E_MEMORY && limit < 1 << 24; limit += limit / 8) {
        struct arena small;
        arena_init(&small, limit);
        struct edf_changes changes = {.left_out.n = 77};
        code = edf_find_changes(jobs.items, 7, jobs.cores, remedies.deadlines_s, 1000, &results,
                                &small, &changes, NULL);
        cr_assert_eq(changes.left_out.n == 77, code == PV_E_MEMORY);
        refused += code == PV_E_MEMORY;
        arena_fini(&small);
    }
    cr_assert_eq(code, PV_OK);
    cr_assert_gt(refused, 5);
}
