#include "operation/parts.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "threads/clock.h"

TestSuite(parts, .timeout = 30);

enum { PARTS = 200 };

struct work {
    uint64_t made[PARTS];
    atomic_size_t at_once;
    atomic_size_t most_at_once;
    size_t fails;    /* the part that does; PARTS: none */
    size_t also;     /* and this one */
    bool never_ends; /* parts go on until they are told to stop */
    atomic_size_t reports_while_waiting;
    atomic_bool waiting;
};

static void count_thread(struct work *work)
{
    size_t now = atomic_fetch_add(&work->at_once, 1) + 1;
    size_t most = atomic_load(&work->most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&work->most_at_once, &most, now))
        ;
}

static enum pv_code do_part(void *context,
                            size_t index,
                            struct operation_part *part,
                            struct arena *scratch,
                            int64_t *done,
                            struct pv_error *err)
{
    struct work *work = context;
    uint64_t *own = arena_array(scratch, 1000, sizeof *own);
    count_thread(work);
    for (size_t i = 0; i < 1000; i++) {
        own[i] = index * i;
        work->made[index] += own[i];
        if (i % 100 == 0 && !operation_part_goes_on(part, (int64_t)i))
            break;
    }
    while (work->never_ends && operation_part_goes_on(part, 1000))
        if (atomic_load(&work->waiting))
            atomic_fetch_add(&work->reports_while_waiting, 1);
    (void)atomic_fetch_sub(&work->at_once, 1);
    *done = 1000;
    if (index == work->fails || index == work->also)
        return pv_fail(err, index == work->fails ? PV_E_LIMIT : PV_E_INTERNAL, "part %zu", index);
    if (work->never_ends)
        return pv_fail(err, PV_E_CANCELLED, "stopped");
    return PV_OK;
}

struct setting {
    struct arena arena;
    struct progress_flags flags;
    struct operation_run run;
    struct work work;
    struct operation_parts parts;
};

static void set_up(struct setting *setting, size_t threads)
{
    memset(setting, 0, sizeof *setting);
    arena_init(&setting->arena, 0);
    progress_flags_reset(&setting->flags);
    setting->run = (struct operation_run){.arena = &setting->arena, .flags = &setting->flags};
    setting->work.fails = setting->work.also = PARTS;
    setting->parts = (struct operation_parts){.n = PARTS,
                                              .threads = threads,
                                              .before = 50,
                                              .total = PARTS * 1000 + 50,
                                              .unit = "steps",
                                              .work = do_part,
                                              .context = &setting->work};
}

Test(parts, all_parts_are_done_once_on_any_number_of_threads)
{
    static struct setting setting;
    for (size_t threads = 1; threads <= 4; threads++) {
        set_up(&setting, threads);
        cr_assert_eq(operation_parts_run(&setting.run, &setting.parts, NULL), PV_OK);
        for (size_t i = 0; i < PARTS; i++)
            cr_expect_eq(setting.work.made[i], i * 999 * 500);
        cr_expect_leq(atomic_load(&setting.work.most_at_once), threads);
        cr_expect_eq(atomic_load(&setting.flags.done), setting.parts.total);
        cr_expect_eq(atomic_load(&setting.flags.total), setting.parts.total);
        cr_expect_eq(atomic_load(&setting.flags.beside_bytes), 0);
        arena_fini(&setting.arena);
    }
}

Test(parts, none_is_none)
{
    static struct setting setting;
    set_up(&setting, 2);
    setting.parts.n = 0;
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, NULL), PV_OK);
    arena_fini(&setting.arena);
}

Test(parts, a_part_that_fails_fails_the_work_and_the_others_are_left)
{
    static struct setting setting;
    struct pv_error err = {0};
    set_up(&setting, 1);
    setting.work.fails = 7;
    setting.work.also = 9;
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, &err), PV_E_LIMIT);
    cr_expect_str_eq(err.detail, "part 7");
    cr_expect_eq(setting.work.made[8], 0);
    arena_fini(&setting.arena);
}

/* Part 2 fails at once, part 1 when that is over, and part 0 does not; what comes after goes on
 * until it is stopped. */
static enum pv_code fail_in_reverse(void *context,
                                    size_t index,
                                    struct operation_part *part,
                                    struct arena *scratch,
                                    int64_t *done,
                                    struct pv_error *err)
{
    struct work *work = context;
    (void)scratch;
    *done = 1000;
    if (index == 2) {
        atomic_store(&work->waiting, true);
        return pv_fail(err, PV_E_LIMIT, "part 2");
    }
    for (int after_ms = 0; after_ms < 50;) {
        if (!operation_part_goes_on(part, 0)) {
            work->made[index] = 1;
            return pv_fail(err, PV_E_CANCELLED, "part %zu was stopped", index);
        }
        clock_sleep_ms(1);
        after_ms += atomic_load(&work->waiting) && index <= 2;
    }
    return index == 1 ? pv_fail(err, PV_E_INTERNAL, "part 1") : PV_OK;
}

Test(parts, of_several_that_fail_the_first_by_index_is_reported_whichever_is_quickest)
{
    static struct setting setting;
    struct pv_error err = {0};
    set_up(&setting, 4);
    setting.parts.work = fail_in_reverse;
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, &err), PV_E_INTERNAL);
    cr_expect_str_eq(err.detail, "part 1");
    cr_expect_eq(setting.work.made[0], 0, "it comes earlier, and is done to its end");
    cr_expect_eq(setting.work.made[1], 0);
    cr_expect_eq(setting.work.made[4], 0, "none was begun after the failure");
    arena_fini(&setting.arena);
}

static void *cancel_later(void *argument)
{
    struct setting *setting = argument;
    while (atomic_load(&setting->flags.done) <= 50)
        clock_sleep_ms(1);
    progress_flags_stop(&setting->flags, STOP_CANCELLED);
    return NULL;
}

Test(parts, cancelled_work_stops_soon)
{
    static struct setting setting;
    pthread_t thread;
    struct pv_error err = {0};
    set_up(&setting, 2);
    setting.work.never_ends = true;
    cr_assert_eq(pthread_create(&thread, NULL, cancel_later, &setting), 0);
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, &err), PV_E_CANCELLED);
    (void)pthread_join(thread, NULL);
    arena_fini(&setting.arena);
}

/* As if others had their turn: a while in which no part may go on, but for what was under way. */
static struct setting *paused;

static void wait_for_turn(struct runner_slot *slot)
{
    (void)slot;
    atomic_store(&paused->flags.over, false);
    clock_sleep_ms(5); /* every thread has come to its next report */
    atomic_store(&paused->work.waiting, true);
    clock_sleep_ms(100);
    atomic_store(&paused->work.waiting, false);
    progress_flags_stop(&paused->flags, STOP_CANCELLED);
}

Test(parts, while_the_operation_waits_for_its_turn_parts_stand_still)
{
    static struct setting setting;
    set_up(&setting, 2);
    setting.work.never_ends = true;
    setting.run.give_way = wait_for_turn;
    atomic_store(&setting.flags.over, true);
    paused = &setting;
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, NULL), PV_E_CANCELLED);
    cr_expect_leq(atomic_load(&setting.work.reports_while_waiting), 2);
    arena_fini(&setting.arena);
}

static enum pv_code hold_memory(void *context,
                                size_t index,
                                struct operation_part *part,
                                struct arena *scratch,
                                int64_t *done,
                                struct pv_error *err)
{
    (void)context;
    (void)index;
    if (arena_alloc(scratch, 1 << 20) == NULL)
        return pv_no_memory(err);
    for (int i = 0; i < 100 && operation_part_goes_on(part, 0); i++)
        clock_sleep_ms(1);
    *done = 1;
    return PV_OK;
}

Test(parts, what_threads_hold_is_counted_and_bounded_as_the_operations)
{
    static struct setting setting;
    struct ledger ledger = {.max = 8 << 20};
    struct ledger_share share = {.ledger = &ledger};
    struct ledger_account account = {.share = &share};
    set_up(&setting, 2);
    setting.arena.account = &account;
    setting.parts.n = 4;
    setting.parts.work = hold_memory;
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, NULL), PV_OK);
    cr_expect(!account.refused);
    cr_expect_leq(atomic_load(&share.used), 1 << 16, "the threads have given it back");
    ledger.max = 1 << 20;
    cr_expect_eq(operation_parts_run(&setting.run, &setting.parts, NULL), PV_E_MEMORY);
    cr_expect(account.refused && account.wanted > 1 << 20);
    arena_fini(&setting.arena);
}
