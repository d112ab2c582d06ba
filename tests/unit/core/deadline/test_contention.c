#include "core/deadline/contention.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { MOST = 64 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(contention, .init = setup, .fini = teardown);

static const struct contention_strategy *strategy(const char *name)
{
    for (size_t i = 0; i < CONTENTION_STRATEGIES; i++)
        if (strcmp(contention_strategies[i].name, name) == 0)
            return &contention_strategies[i];
    cr_assert_fail("no strategy %s", name);
    return NULL;
}

static struct contention_outcome resolve(const char *name,
                                         double gamma,
                                         double max_cores,
                                         const struct contention_application applications[],
                                         size_t n,
                                         struct contention_share shares[])
{
    const struct contention_terms terms = {gamma, max_cores, 1e6};
    struct contention_outcome outcome;
    cr_assert_eq(
        contention_resolve(strategy(name), &terms, applications, n, &arena, shares, &outcome, NULL),
        PV_OK);
    return outcome;
}

static void expect_near(double got, double want, double tolerance, const char *what, size_t i)
{
    cr_expect(fabs(got - want) <= tolerance * fmax(1, fabs(want)),
              "%s, application %zu: %.17g, not %.17g", what, i, got, want);
}

static double total(const struct contention_share shares[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += shares[i].cores;
    return sum;
}

/* --- the thesis's tables --- */

/* Three applications on 16 cores: tables 3.2 to 3.6. */
static const struct contention_application thesis[] = {
    {10, 50, 40, 1000000}, {8, 60, 40, 1000000}, {12, 70, 40, 500000}};

static void expect_table(const char *name, const double weights[3], const double cores[3])
{
    struct contention_share shares[3];
    struct contention_outcome outcome = resolve(name, 1, 16, thesis, 3, shares);
    cr_expect(outcome.contention);
    cr_expect_eq(outcome.requested_cores, 30);
    for (size_t i = 0; i < 3; i++) {
        if (weights == NULL)
            cr_expect(isnan(shares[i].weight));
        else
            expect_near(shares[i].weight, weights[i], 1e-12, name, i);
        expect_near(shares[i].saturating_cores, cores[i], 1e-12, name, i);
        cr_expect_eq(shares[i].cores, shares[i].saturating_cores);
    }
}

Test(contention, table_3_2_edf_all_gives_everything_to_the_most_urgent)
{
    expect_table("edf_all", NULL, (const double[]){16, 0, 0});
}

Test(contention, table_3_3_edf_pure_gives_what_is_requested_in_order)
{
    expect_table("edf_pure", NULL, (const double[]){10, 6, 0});
}

/* 1, 11 and 21 seconds of 33; papers/README.md, erratum 2: exact, not rounded to the quantum. */
Test(contention, table_3_4_edf_proportional)
{
    expect_table("edf_proportional", (const double[]){32.0 / 33, 22.0 / 33, 12.0 / 33},
                 (const double[]){256.0 / 33, 176.0 / 33, 96.0 / 33});
}

/* Erratum 1: the printed figures are those of 24 cores. */
Test(contention, table_3_5_proportional)
{
    expect_table("proportional", (const double[]){1.0 / 3, 4.0 / 15, 0.4},
                 (const double[]){16.0 / 3, 64.0 / 15, 6.4});
}

Test(contention, table_3_6_speed)
{
    expect_table("speed", (const double[]){1, 1, 2}, (const double[]){4, 4, 8});
}

/* --- single rules --- */

Test(contention, a_lone_application_weighs_one)
{
    const struct contention_application one[] = {{4, 10, 40, 1}};
    struct contention_share share;
    cr_expect_not(resolve("edf_proportional", 1, 16, one, 1, &share).contention);
    cr_expect_eq(share.weight, 1);
    cr_expect_eq(share.cores, 16, "scaled up to all there is");
}

Test(contention, without_a_request_everybody_gets_nothing)
{
    const struct contention_application idle[] = {{0, 10, 40, 1}, {0, 20, 40, 2}};
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++) {
        struct contention_share shares[2];
        struct contention_outcome outcome =
            resolve(contention_strategies[s].name, 1, 16, idle, 2, shares);
        cr_expect(!outcome.contention && outcome.requested_cores == 0);
        for (size_t i = 0; i < 2; i++)
            cr_expect(shares[i].saturating_cores == 0 && shares[i].cores == 0);
    }
}

Test(contention, equal_times_to_complete_go_in_the_order_of_the_request)
{
    const struct contention_application equal[] = {{9, 30, 40, 1}, {9, 30, 40, 1}, {9, 30, 40, 1}};
    struct contention_share shares[3];
    resolve("edf_pure", 1, 16, equal, 3, shares);
    cr_expect(shares[0].cores == 9 && shares[1].cores == 7 && shares[2].cores == 0);
}

Test(contention, a_late_application_comes_first_and_takes_no_more_than_its_tasks)
{
    const struct contention_application late[] = {{20, 10, 6, 1}, {4, -20, 5, 1}, {1, 30, 100, 1}};
    struct contention_share shares[3];
    resolve("edf_all", 1, 16, late, 3, shares);
    cr_expect(shares[1].cores == 5 && shares[0].cores == 6 && shares[2].cores == 5);
}

/* 15.84 of 16 cores is the last total that stays as it is. */
Test(contention, shares_below_99_percent_are_scaled_up)
{
    struct contention_application two[] = {{7.84, 10, 30, 1}, {8, 20, 30, 1}};
    struct contention_share shares[2];
    resolve("edf_pure", 1, 16, two, 2, shares);
    cr_expect(shares[0].cores == 7.84 && shares[1].cores == 8);
    two[0].requested_cores = 7.8;
    resolve("edf_pure", 1, 16, two, 2, shares);
    expect_near(shares[0].cores, 7.8 * 16 / 15.8, 1e-12, "scaled", 0);
    expect_near(shares[1].cores, 8 * 16 / 15.8, 1e-12, "scaled", 1);
}

Test(contention, gamma_leads_from_the_requests_to_all_cores)
{
    const struct contention_application two[] = {{3, 50, 40, 1}, {2.5, 20, 40, 1}};
    struct contention_share shares[2];
    resolve("edf_pure", 0, 16, two, 2, shares);
    cr_expect(shares[0].cores == 3 && shares[1].cores == 2.5);
    resolve("edf_pure", 0.25, 16, two, 2, shares);
    for (size_t i = 0; i < 2; i++)
        expect_near(shares[i].cores,
                    0.25 * shares[i].saturating_cores + 0.75 * two[i].requested_cores, 1e-15,
                    "quarter", i);
    resolve("edf_pure", 1, 16, two, 2, shares);
    expect_near(total(shares, 2), 16, 1e-12, "total", 0);
}

/* Under contention there is nothing to hold back. */
Test(contention, gamma_does_not_matter_under_contention)
{
    struct contention_share none[3];
    struct contention_share full[3];
    resolve("speed", 0, 16, thesis, 3, none);
    resolve("speed", 1, 16, thesis, 3, full);
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(none[i].cores, full[i].cores);
}

/* Ten requests of 0.1 are one core, though they add up to less when summed one by one. */
Test(contention, requests_equal_to_the_cores_are_no_contention)
{
    struct contention_application ten[10];
    struct contention_share shares[10];
    for (size_t i = 0; i < 10; i++)
        ten[i] = (struct contention_application){0.1, 0, 1, 1};
    struct contention_outcome outcome = resolve("proportional", 1, 1, ten, 10, shares);
    cr_expect_not(outcome.contention);
    cr_expect_eq(outcome.requested_cores, 1);
}

/* --- laws --- */

/* Alg. 7 as the thesis writes it: rounds until nothing remains or nobody is open. */
static void deal_in_rounds(const struct contention_application applications[],
                           const double weights[],
                           size_t n,
                           double max_cores,
                           double cores[])
{
    double wanted[MOST];
    bool open[MOST];
    double remaining = max_cores;
    for (size_t i = 0; i < n; i++) {
        wanted[i] = applications[i].requested_cores;
        cores[i] = 0;
        open[i] = true;
    }
    for (size_t round = 0; round <= n && remaining > 1e-13 * max_cores; round++) {
        double weight = 0;
        double assigned = 0;
        for (size_t i = 0; i < n; i++)
            weight += open[i] ? weights[i] : 0;
        for (size_t i = 0; i < n; i++) {
            double share = open[i] ? weights[i] / weight * remaining : 0;
            double given = fmin(share, wanted[i]);
            if (!open[i])
                continue;
            open[i] = share < wanted[i];
            cores[i] += given;
            wanted[i] -= given;
            assigned += given;
        }
        remaining -= assigned;
    }
}

static size_t below(struct rng *rng, size_t n)
{
    return (size_t)(rng_uniform(rng) * (double)n);
}

static void draw(struct rng *rng, struct contention_application applications[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        applications[i] = (struct contention_application){
            /* Some ask for nothing, most for little, a few for a lot; many times are equal. */
            .requested_cores = below(rng, 8) == 0 ? 0 : pow(rng_uniform(rng), 4) * 40,
            .time_to_complete_s = (double)below(rng, 20) * 15 - 60,
            .remaining_tasks = (double)below(rng, 30),
            .nominal_rate = 1000 * pow(10, 4 * rng_uniform(rng))};
}

Test(contention, one_pass_deals_what_the_rounds_of_algorithm_7_deal)
{
    static const char *const names[] = {"edf_proportional", "speed"};
    struct rng rng = rng_make(7, 0);
    for (size_t trial = 0; trial < 4000; trial++) {
        struct contention_application applications[MOST];
        struct contention_share shares[MOST];
        double weights[MOST];
        double cores[MOST];
        size_t n = 1 + below(&rng, MOST);
        draw(&rng, applications, n);
        struct contention_outcome outcome =
            resolve(names[trial % 2], 1, 16, applications, n, shares);
        /* Below 16 the rule of 99 percent follows, which is not Alg. 7's. */
        if (outcome.requested_cores < 16)
            continue;
        for (size_t i = 0; i < n; i++)
            weights[i] = shares[i].weight;
        deal_in_rounds(applications, weights, n, 16, cores);
        for (size_t i = 0; i < n; i++)
            expect_near(shares[i].saturating_cores, cores[i], 1e-9, names[trial % 2], i);
    }
}

Test(contention, shares_never_exceed_the_cores_nor_fall_below_zero)
{
    struct rng rng = rng_make(11, 0);
    for (size_t trial = 0; trial < 4000; trial++) {
        const struct contention_strategy *s = &contention_strategies[trial % CONTENTION_STRATEGIES];
        struct contention_application applications[MOST];
        struct contention_share shares[MOST];
        size_t n = 1 + below(&rng, MOST);
        draw(&rng, applications, n);
        double cores = 1 + rng_uniform(&rng) * 200;
        struct contention_outcome outcome =
            resolve(s->name, rng_uniform(&rng), cores, applications, n, shares);
        cr_expect_leq(total(shares, n), cores * (1 + 1e-12), "%s", s->name);
        for (size_t i = 0; i < n; i++)
            cr_expect(shares[i].cores >= 0 && shares[i].saturating_cores >= 0);
        /* Who shares by request or weight uses up what is contended for. */
        if (outcome.contention && s->needs != (CONTENTION_NEEDS_TIME | CONTENTION_NEEDS_TASKS))
            expect_near(total(shares, n), cores, 1e-9, s->name, n);
    }
}

Test(contention, dealt_shares_never_exceed_the_request_under_contention)
{
    static const char *const names[] = {"edf_pure", "edf_proportional", "speed"};
    struct rng rng = rng_make(13, 0);
    for (size_t trial = 0; trial < 1000; trial++) {
        struct contention_application applications[MOST];
        struct contention_share shares[MOST];
        draw(&rng, applications, MOST);
        cr_assert(resolve(names[trial % 3], 1, 16, applications, MOST, shares).contention);
        for (size_t i = 0; i < MOST; i++)
            cr_expect_leq(shares[i].cores, applications[i].requested_cores * (1 + 1e-12));
    }
}

/* Requests, tasks and cores times 8, exact in binary: every share times 8. */
Test(contention, scaling_all_cores_scales_the_shares)
{
    struct rng rng = rng_make(17, 0);
    for (size_t trial = 0; trial < 500; trial++) {
        const char *name = contention_strategies[trial % CONTENTION_STRATEGIES].name;
        struct contention_application small[MOST];
        struct contention_application large[MOST];
        struct contention_share shares[MOST];
        struct contention_share scaled[MOST];
        size_t n = 1 + below(&rng, MOST);
        draw(&rng, small, n);
        for (size_t i = 0; i < n; i++) {
            large[i] = small[i];
            large[i].requested_cores *= 8;
            large[i].remaining_tasks *= 8;
        }
        resolve(name, 0.5, 16, small, n, shares);
        resolve(name, 0.5, 128, large, n, scaled);
        for (size_t i = 0; i < n; i++)
            cr_expect_eq(scaled[i].cores, 8 * shares[i].cores, "%s", name);
    }
}

/* Neither the instant that times count from nor the unit of the rates matters. */
Test(contention, later_clocks_and_other_units_of_rate_change_no_share)
{
    struct rng rng = rng_make(19, 0);
    for (size_t trial = 0; trial < 500; trial++) {
        const char *name = contention_strategies[trial % CONTENTION_STRATEGIES].name;
        struct contention_application now[MOST];
        struct contention_application later[MOST];
        struct contention_share shares[MOST];
        struct contention_share moved[MOST];
        size_t n = 1 + below(&rng, MOST);
        draw(&rng, now, n);
        for (size_t i = 0; i < n; i++) {
            later[i] = now[i];
            later[i].time_to_complete_s -= 4096;
            later[i].nominal_rate *= 1024;
        }
        resolve(name, 1, 16, now, n, shares);
        resolve(name, 1, 16, later, n, moved);
        for (size_t i = 0; i < n; i++)
            cr_expect_eq(moved[i].cores, shares[i].cores, "%s", name);
    }
}

/* Reversing the request changes nothing where no two times to complete are equal. */
Test(contention, the_order_of_the_request_does_not_matter)
{
    struct rng rng = rng_make(23, 0);
    for (size_t trial = 0; trial < 500; trial++) {
        const char *name = contention_strategies[trial % CONTENTION_STRATEGIES].name;
        struct contention_application forth[MOST];
        struct contention_application back[MOST];
        struct contention_share shares[MOST];
        struct contention_share reversed[MOST];
        size_t n = 1 + below(&rng, MOST);
        draw(&rng, forth, n);
        for (size_t i = 0; i < n; i++)
            forth[i].time_to_complete_s += (double)i / 64;
        for (size_t i = 0; i < n; i++)
            back[i] = forth[n - 1 - i];
        resolve(name, 0.5, 16, forth, n, shares);
        resolve(name, 0.5, 16, back, n, reversed);
        for (size_t i = 0; i < n; i++)
            expect_near(reversed[n - 1 - i].cores, shares[i].cores, 1e-9, name, i);
    }
}

Test(contention, running_out_of_memory_is_an_error_and_leaves_the_shares)
{
    static struct contention_application many[200];
    static struct contention_share shares[200];
    const struct contention_terms terms = {1, 16, 1e6};
    struct contention_outcome outcome = {77, false};
    struct arena small;
    arena_init(&small, 1024);
    shares[0].cores = 5;
    cr_expect_eq(
        contention_resolve(strategy("speed"), &terms, many, 200, &small, shares, &outcome, NULL),
        PV_E_MEMORY);
    cr_expect(shares[0].cores == 5 && outcome.requested_cores == 77);
    arena_fini(&small);
}
