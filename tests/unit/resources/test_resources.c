#include "resources/resources.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "metrics/registry.h"

TestSuite(resources, .timeout = 20);

enum { MEMORY = 100, SPOOL = 80, EXPORTS = 4, IMPORTS = 2, WAITS = 8, STREAMS = 1 };

static struct resources resources;

static void set_up(void)
{
    static struct config config;
    config.memory_bytes_max = MEMORY;
    config.spool_total_bytes_max = SPOOL;
    config.exports_max = EXPORTS;
    config.imports_max = IMPORTS;
    config.operation_waits_max = WAITS;
    config.operation_streams_max = STREAMS;
    resources_init(&resources, &config);
}

/* Teams that are known; none when nobody holds an account. */
static size_t teams_kept(void)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof resources.buckets / sizeof *resources.buckets; i++)
        n += resources.buckets[i] != NULL; /* the few of these tests have a bucket each */
    return n;
}

static size_t held(enum resource resource)
{
    return atomic_load(&resources.ledgers[resource].used);
}

static enum pv_code
take(enum resource resource, const char *team, struct ledger_account *account, size_t n)
{
    struct pv_error err = {.code = PV_OK};
    return resources_take(&resources, resource, team, account, n, &err);
}

/* The bytes of it that come one by one. */
static size_t take_all(struct ledger_account *account)
{
    size_t n = 0;
    while (ledger_take(account, 1))
        n++;
    return n;
}

Test(resources, accounts_of_a_team_are_one_share, .init = set_up)
{
    struct ledger_account a1 = {0}, a2 = {0}, b = {0}, disk = {0};
    cr_assert_eq(take(RESOURCE_MEMORY, "a", &a1, 10), PV_OK);
    cr_assert_eq(take(RESOURCE_MEMORY, "a", &a2, 20), PV_OK);
    cr_assert_eq(take(RESOURCE_MEMORY, "b", &b, 5), PV_OK);
    cr_assert_eq(take(RESOURCE_SPOOL, "a", &disk, 40), PV_OK);
    cr_assert_eq(a1.share, a2.share);
    cr_assert_neq(a1.share, b.share);
    cr_assert_neq(a1.share, disk.share);
    cr_assert_eq(a1.share->used, 30u);
    cr_assert_eq(held(RESOURCE_MEMORY), 35u);
    cr_assert_eq(held(RESOURCE_SPOOL), 40u);
    cr_assert_eq(teams_kept(), 2u);
}

Test(resources, one_alone_comes_to_three_quarters_and_is_told_that_all_is_held, .init = set_up)
{
    struct ledger_account account = {0};
    struct pv_error err = {.code = PV_OK};
    cr_assert(resources_open(&resources, RESOURCE_MEMORY, "a", &account));
    cr_assert_eq(take_all(&account), 75u);
    cr_assert_eq(resources_refuse(&account, RESOURCE_MEMORY, &err), PV_E_UNAVAILABLE);
    cr_assert_str_eq(err.detail, "the memory is used up for the moment (memory_bytes_max = 100)");
    cr_assert_eq(err.retry_after_s, 1u);
}

Test(resources, beside_others_a_team_is_told_of_its_share, .init = set_up)
{
    struct ledger_account quiet = {0}, greedy = {0}, more = {0};
    struct pv_error err = {.code = PV_OK};
    cr_assert_eq(take(RESOURCE_SPOOL, "quiet", &quiet, 8), PV_OK);
    cr_assert(resources_open(&resources, RESOURCE_SPOOL, "greedy", &greedy));
    cr_assert_eq(take_all(&greedy), 54u, "three times what is then free");
    cr_assert_eq(resources_take(&resources, RESOURCE_SPOOL, "greedy", &more, 1, &err), PV_E_QUOTA);
    cr_assert_str_eq(err.detail, "the team holds its share of the disk for uploads and exports, and"
                                 " others hold some, too (spool_total_bytes_max = 80)");
    cr_assert_str_eq(err.limit, "spool");
    cr_assert_str_eq(err.limit_unit, "content-bytes");
    cr_assert_eq(err.limit_most, SPOOL);
    cr_assert_eq(err.retry_after_s, 10u);
    cr_assert_null(more.share, "what was refused has no account");
    cr_assert(ledger_take(&quiet, 5), "there is room for another");
}

/* Each by the name that metrics and RateLimit have for it, and the setting that changes it. */
Test(resources, every_refusal_names_its_resource_and_setting, .init = set_up)
{
    static const struct {
        enum resource resource;
        const char *name, *unit, *says;
    } rows[] = {
        {RESOURCE_MEMORY, "memory", "content-bytes", "(memory_bytes_max = 100)"},
        {RESOURCE_SPOOL, "spool", "content-bytes", "(spool_total_bytes_max = 80)"},
        {RESOURCE_EXPORTS, "exports", "concurrent-requests", "(exports_max = 4)"},
        {RESOURCE_IMPORTS, "imports", "concurrent-requests", "(imports_max = 2)"},
        {RESOURCE_WAITS, "waits", "concurrent-requests", "(operation_waits_max = 8)"},
        {RESOURCE_STREAMS, "streams", "concurrent-requests", "(operation_streams_max = 1)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ledger_account account = {0};
        struct pv_error err = {.code = PV_OK};
        size_t all = resources.ledgers[rows[i].resource].max;
        cr_assert_eq(resources_take(&resources, rows[i].resource, "a", &account, all + 1, &err),
                     PV_E_UNAVAILABLE);
        cr_assert_str_eq(err.limit, rows[i].name);
        cr_assert_str_eq(err.limit_unit, rows[i].unit);
        cr_assert_not_null(strstr(err.detail, rows[i].says), "%s", err.detail);
        cr_assert_gt(err.retry_after_s, 0u);
        cr_assert_eq(held(rows[i].resource), 0u);
    }
    cr_assert_eq(teams_kept(), 0u, "who was refused everything is forgotten");
}

Test(resources, the_last_place_is_for_a_team_that_has_none, .init = set_up)
{
    struct ledger_account greedy[EXPORTS] = {0}, quiet = {0}, third = {0};
    for (size_t i = 0; i + 1 < EXPORTS; i++)
        cr_assert_eq(take(RESOURCE_EXPORTS, "greedy", &greedy[i], 1), PV_OK);
    cr_assert_eq(take(RESOURCE_EXPORTS, "greedy", &greedy[EXPORTS - 1], 1), PV_E_UNAVAILABLE);
    cr_assert_eq(take(RESOURCE_EXPORTS, "quiet", &quiet, 1), PV_OK);
    cr_assert_eq(take(RESOURCE_EXPORTS, "greedy", &greedy[EXPORTS - 1], 1), PV_E_QUOTA);
    cr_assert_eq(take(RESOURCE_EXPORTS, "third", &third, 1), PV_E_QUOTA, "there is none left");
    resources_close(&resources, &greedy[0]);
    cr_assert_eq(take(RESOURCE_EXPORTS, "third", &third, 1), PV_OK);
}

Test(resources, what_is_closed_goes_back_once, .init = set_up)
{
    struct ledger_account account = {0}, never = {0};
    cr_assert_eq(take(RESOURCE_MEMORY, "a", &account, 30), PV_OK);
    ledger_give(&account, 10);
    resources_close(&resources, &account);
    cr_assert_eq(held(RESOURCE_MEMORY), 0u);
    cr_assert_eq(teams_kept(), 0u);
    resources_close(&resources, &account);
    resources_close(&resources, &never);
    cr_assert_eq(held(RESOURCE_MEMORY), 0u);
    cr_assert_eq(take(RESOURCE_MEMORY, "a", &account, 75), PV_OK, "and can be had again");
}

Test(resources, what_a_request_holds_goes_with_it_to_its_team, .init = set_up)
{
    struct ledger_account account = {0}, other = {0};
    cr_assert_eq(take(RESOURCE_MEMORY, "", &account, 10), PV_OK);
    const struct ledger_share *nobody = account.share;
    cr_assert_eq(take(RESOURCE_MEMORY, "", &other, 1), PV_OK);
    cr_assert(resources_open(&resources, RESOURCE_MEMORY, "a", &account));
    cr_assert_neq(account.share, nobody);
    cr_assert_eq(account.share->used, 10u);
    cr_assert_eq(nobody->used, 1u);
    cr_assert_eq(held(RESOURCE_MEMORY), 11u, "as much as before");
    cr_assert(resources_open(&resources, RESOURCE_MEMORY, "a", &account), "to where it is");
    cr_assert_eq(account.share->used, 10u);
    resources_close(&resources, &other);
    cr_assert_eq(teams_kept(), 1u);
    resources_close(&resources, &account);
    cr_assert_eq(teams_kept(), 0u);
}

Test(resources, metrics_say_what_is_held_and_refused, .init = set_up)
{
    struct ledger_account account = {0}, refused = {0};
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_eq(take(RESOURCE_IMPORTS, "a", &account, 1), PV_OK);
    cr_assert_eq(take(RESOURCE_STREAMS, "a", &refused, 2), PV_E_UNAVAILABLE);
    resources_collect(&resources);
    struct strview text = metrics_write(&arena);
    char *copy = arena_alloc(&arena, text.n + 1);
    memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    static const char *const lines[] = {
        "provisor_resource_held{resource=\"imports\"} 1\n",
        "provisor_resource_max{resource=\"imports\"} 2\n",
        "provisor_resource_refused_total{resource=\"streams\",reason=\"full\"} 1\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_assert_not_null(strstr(copy, lines[i]), "%s", lines[i]);
    arena_fini(&arena);
}

/* --- laws, whatever is done in whatever order --- */

enum { TEAMS = 5, ACCOUNTS = 24 };
static const char *const teams[TEAMS] = {"", "a", "b", "c", "d"};

struct walk {
    struct ledger_account accounts[ACCOUNTS];
    size_t team[ACCOUNTS]; /* of an open account */
};

static size_t held_by(const struct walk *walk, size_t team)
{
    size_t n = 0;
    for (size_t i = 0; i < ACCOUNTS; i++)
        if (walk->accounts[i].share != NULL && walk->team[i] == team)
            n += walk->accounts[i].used;
    return n;
}

static void take_some(struct walk *walk, size_t at, size_t n)
{
    size_t own = held_by(walk, walk->team[at]) + n;
    size_t free = MEMORY - held(RESOURCE_MEMORY);
    bool fits = n <= free && own <= LEDGER_THRESHOLD * (free - n);
    cr_assert_eq(ledger_take(&walk->accounts[at], n), fits, "%zu of %zu", own, free);
}

static void step(struct walk *walk, struct rng *rng)
{
    size_t at = rng_next(rng) % ACCOUNTS;
    size_t n = rng_next(rng) % 20;
    struct ledger_account *account = &walk->accounts[at];
    switch (rng_next(rng) % 5) {
    case 0: /* opened, or moved to another team */
        walk->team[at] = rng_next(rng) % TEAMS;
        cr_assert(resources_open(&resources, RESOURCE_MEMORY, teams[walk->team[at]], account));
        return;
    case 1:
        resources_close(&resources, account);
        return;
    case 2:
        ledger_give(account, n < account->used ? n : (size_t)account->used);
        return;
    default:
        if (account->share != NULL)
            take_some(walk, at, n);
    }
}

Test(resources, sums_agree_and_thresholds_hold_after_every_step, .init = set_up)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rng rng = rng_make(seed, 0);
        struct walk walk = {0};
        for (size_t i = 0; i < 2000; i++) {
            step(&walk, &rng);
            size_t sum = 0;
            for (size_t team = 0; team < TEAMS; team++)
                sum += held_by(&walk, team);
            cr_assert_eq(held(RESOURCE_MEMORY), sum);
            cr_assert_leq(sum, (size_t)MEMORY);
            for (size_t at = 0; at < ACCOUNTS; at++)
                if (walk.accounts[at].share != NULL)
                    cr_assert_eq(walk.accounts[at].share->used, held_by(&walk, walk.team[at]));
        }
        for (size_t i = 0; i < ACCOUNTS; i++)
            resources_close(&resources, &walk.accounts[i]);
        cr_assert_eq(held(RESOURCE_MEMORY), 0u);
        cr_assert_eq(teams_kept(), 0u);
    }
}

static void *come_and_go(void *argument)
{
    const char *team = teams[1 + (uintptr_t)argument % 4];
    for (size_t i = 0; i < 20000; i++) {
        struct ledger_account account = {0};
        if (take(RESOURCE_MEMORY, i % 2 == 0 ? "" : team, &account, 1 + i % 9) != PV_OK)
            continue;
        if (resources_open(&resources, RESOURCE_MEMORY, team, &account))
            (void)ledger_take(&account, 3);
        resources_close(&resources, &account);
    }
    return NULL;
}

Test(resources, threads_leave_nothing_behind, .init = set_up)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, come_and_go, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    cr_assert_eq(held(RESOURCE_MEMORY), 0u);
    cr_assert_eq(teams_kept(), 0u);
}
