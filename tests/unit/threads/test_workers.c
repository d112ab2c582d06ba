#include "threads/workers.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "threads/clock.h"

/* A gate that holds a worker until the test opens it. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    bool reached;
};

static void gate_init(struct gate *gate)
{
    *gate = (struct gate){.open = false};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

static void wait_at(void *argument)
{
    struct gate *gate = argument;
    pthread_mutex_lock(&gate->lock);
    gate->reached = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_await(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->reached)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static void count(void *argument)
{
    atomic_fetch_add((atomic_int *)argument, 1);
}

static struct workers *create(size_t threads, size_t spare_threads, size_t queue_max)
{
    const struct workers_settings settings = {
        .threads = threads, .spare_threads = spare_threads, .queue_max = queue_max};
    return workers_create("test", &settings);
}

static enum workers_admission
submit_of(struct workers *workers, const char *owner, void (*run)(void *), void *argument)
{
    const struct workers_job job = {.run = run, .argument = argument, .owner = owner};
    return workers_submit(workers, &job);
}

static bool submit(struct workers *workers, void (*run)(void *), void *argument)
{
    return submit_of(workers, "", run, argument) == WORKERS_ACCEPTED;
}

Test(workers, destroy_runs_everything_that_was_queued, .timeout = 20)
{
    atomic_int done = 0;
    struct workers *workers = create(3, 0, 1000);
    cr_assert_not_null(workers);
    for (int i = 0; i < 1000; i++)
        while (!submit(workers, count, &done))
            ;
    workers_destroy(workers);
    cr_assert_eq(atomic_load(&done), 1000);
}

/* What goes on in a pool that stands still is refused, and its sender still there to be told. */
Test(workers, stopped_ones_refuse, .timeout = 20)
{
    atomic_int done = 0;
    struct workers *workers = create(2, 0, 10);
    cr_assert(submit(workers, count, &done));
    workers_stop(workers);
    cr_assert_eq(atomic_load(&done), 1);
    cr_assert_not(submit(workers, count, &done));
    workers_destroy(workers);
    cr_assert_eq(atomic_load(&done), 1);
}

Test(workers, a_full_queue_refuses_and_says_how_full_it_is, .timeout = 20)
{
    struct gate gate;
    gate_init(&gate);
    atomic_int done = 0;
    struct workers *workers = create(1, 0, 2);
    cr_assert(submit(workers, wait_at, &gate));
    gate_await(&gate);
    cr_assert(submit(workers, count, &done));
    cr_assert(submit(workers, count, &done));
    cr_assert_eq(submit_of(workers, "", count, &done), WORKERS_FULL, "the queue holds two");
    struct workers_statistics now = workers_statistics(workers);
    cr_assert_eq(now.queued, 2);
    cr_assert_eq(now.running, 1);
    cr_assert_eq(now.threads, 1);
    cr_assert_eq(now.queue_max, 2);
    cr_assert_eq(now.owners, 1);
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(atomic_load(&done), 2, "the refused job did not run");
}

static char order[400];
static atomic_int n_order; /* light threads and others run jobs at the same time */

static void note(void *argument)
{
    order[atomic_fetch_add(&n_order, 1)] = *(const char *)argument;
}

static const char a = 'a', b = 'b', c = 'c';

Test(workers, one_thread_takes_jobs_of_one_owner_in_the_order_sent, .timeout = 20)
{
    static char letters[100];
    struct workers *workers = create(1, 0, 100);
    for (int i = 0; i < 100; i++) {
        letters[i] = (char)i;
        cr_assert(submit(workers, note, &letters[i]));
    }
    workers_destroy(workers);
    cr_assert_eq(n_order, 100);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(order[i], i);
}

/* A pool of one thread that the gate holds. */
static struct workers *hold(struct gate *gate, size_t queue_max)
{
    gate_init(gate);
    struct workers *workers = create(1, 0, queue_max);
    cr_assert_eq(submit_of(workers, "gate", wait_at, gate), WORKERS_ACCEPTED);
    gate_await(gate);
    return workers;
}

static void spin(void *argument, uint64_t ns)
{
    const uint64_t end_ns = clock_monotonic_ns() + ns;
    while (clock_monotonic_ns() < end_ns)
        ;
    note(argument);
}

static void spin_1ms(void *argument)
{
    spin(argument, 1000000);
}

static void spin_5ms(void *argument)
{
    spin(argument, 5000000);
}

static void
submit_letters(struct workers *workers, const char *letter, size_t n, void (*run)(void *))
{
    const char owner[2] = {*letter, '\0'};
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(submit_of(workers, owner, run, (void *)(uintptr_t)letter), WORKERS_ACCEPTED);
}

static int count_letter(char letter, int from, int to)
{
    int n = 0;
    for (int i = from; i < to; i++)
        n += order[i] == letter;
    return n;
}

/* Turns are of real time: whose job the machine interrupts has had more of it. Others who use the
 * machine come and go, so an order that was disturbed is looked at twice more. */
Test(workers, owners_take_turns_whoever_came_first_with_most, .timeout = 20)
{
    int least = 0;
    for (int attempt = 0; attempt < 3 && least < 15; attempt++) {
        struct gate gate;
        struct workers *workers = hold(&gate, 300);
        n_order = 0;
        submit_letters(workers, &a, 200, spin_1ms);
        submit_letters(workers, &b, 20, spin_1ms);
        submit_letters(workers, &c, 20, spin_1ms);
        gate_open(&gate);
        workers_destroy(workers);
        cr_assert_eq(n_order, 240);
        least = count_letter('a', 0, 75);
        for (const char *other = "bc"; *other != '\0'; other++)
            if (count_letter(*other, 0, 75) < least)
                least = count_letter(*other, 0, 75);
    }
    cr_assert_geq(least, 15, "of the first 75 jobs");
}

/* A job of 5 ms that was interrupted for long has had the time of many: looked at three times, as above. */
Test(workers, turns_are_of_equal_time_not_of_equal_number, .timeout = 20)
{
    int heavy = 0, light = 0;
    for (int attempt = 0; attempt < 3 && (heavy < 4 || heavy > 20); attempt++) {
        struct gate gate;
        struct workers *workers = hold(&gate, 300);
        n_order = 0;
        submit_letters(workers, &a, 30, spin_5ms);
        submit_letters(workers, &b, 100, spin_1ms);
        gate_open(&gate);
        workers_destroy(workers);
        heavy = count_letter('a', 0, 60);
        light = count_letter('b', 0, 60);
    }
    cr_assert(heavy >= 4 && heavy <= 20, "%d of 5 ms beside %d of 1 ms", heavy, light);
}

Test(workers, a_heavy_job_by_the_estimate_waits_for_its_turn, .timeout = 20)
{
    struct gate gate;
    struct workers *workers = hold(&gate, 300);
    const struct workers_job heavy = {
        .run = note, .argument = (void *)(uintptr_t)&a, .owner = "a", .cost_ns = 50000000};
    cr_assert_eq(workers_submit(workers, &heavy), WORKERS_ACCEPTED);
    submit_letters(workers, &b, 20, note);
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(order[20], 'a', "all of b's together take less than it would");
}

Test(workers, spare_threads_are_for_owners_that_have_none_running, .timeout = 20)
{
    struct gate long_jobs, quick;
    gate_init(&long_jobs);
    gate_init(&quick);
    struct workers *workers = create(1, 1, 10);
    cr_assert_eq(submit_of(workers, "a", wait_at, &long_jobs), WORKERS_ACCEPTED);
    gate_await(&long_jobs);
    cr_assert_eq(submit_of(workers, "a", note, (void *)(uintptr_t)&a), WORKERS_ACCEPTED);
    cr_assert_eq(submit_of(workers, "b", wait_at, &quick), WORKERS_ACCEPTED);
    gate_await(&quick); /* runs although the one thread is a's */
    cr_assert_eq(n_order, 0, "a has its share");
    gate_open(&quick);
    gate_open(&long_jobs);
    workers_destroy(workers);
    cr_assert_eq(n_order, 1);
}

/* A pool whose one thread is busy with a's job. */
static struct workers *hold_with_light_thread(struct gate *gate)
{
    const struct workers_settings settings = {.threads = 1, .light_threads = 1, .queue_max = 10};
    struct workers *workers = workers_create("test", &settings);
    const struct workers_job job = {
        .run = wait_at, .argument = gate, .owner = "a", .cost_ns = WORKERS_LIGHT_NS + 1};
    gate_init(gate);
    cr_assert_eq(workers_submit(workers, &job), WORKERS_ACCEPTED);
    gate_await(gate);
    return workers;
}

Test(workers, light_threads_are_for_short_jobs_of_owners_that_have_none_running, .timeout = 20)
{
    struct gate long_job, quick;
    gate_init(&quick);
    struct workers *workers = hold_with_light_thread(&long_job);
    const struct workers_job heavy = {.run = note,
                                      .argument = (void *)(uintptr_t)&a,
                                      .owner = "c",
                                      .cost_ns = WORKERS_LIGHT_NS + 1};
    cr_assert_eq(submit_of(workers, "a", note, (void *)(uintptr_t)&a), WORKERS_ACCEPTED);
    cr_assert_eq(workers_submit(workers, &heavy), WORKERS_ACCEPTED);
    cr_assert_eq(submit_of(workers, "b", wait_at, &quick), WORKERS_ACCEPTED);
    gate_await(&quick); /* runs although the one thread is a's */
    cr_assert_eq(n_order, 0, "a has a job running, and c's is long");
    cr_assert_eq(workers_statistics(workers).running, 2);
    gate_open(&quick);
    gate_open(&long_job);
    workers_destroy(workers);
    cr_assert_eq(n_order, 2);
}

static void wait_for_idle(struct workers *workers, size_t running)
{
    while (workers_statistics(workers).running > running)
        clock_sleep_ms(1);
}

static void take_70_ms(void *argument)
{
    uint64_t end_ns = clock_thread_ns() + 70 * UINT64_C(1000000);
    (void)argument;
    while (clock_thread_ns() < end_ns)
        ;
}

Test(workers, who_has_taken_much_has_no_light_thread, .timeout = 20)
{
    struct gate long_job, quick;
    gate_init(&quick);
    struct workers *workers = hold_with_light_thread(&long_job);
    cr_assert_eq(submit_of(workers, "b", take_70_ms, NULL), WORKERS_ACCEPTED);
    while (workers_statistics(workers).running < 2)
        clock_sleep_ms(1);
    wait_for_idle(workers, 1);
    cr_assert_eq(submit_of(workers, "b", note, (void *)(uintptr_t)&b), WORKERS_ACCEPTED);
    cr_assert_eq(submit_of(workers, "c", wait_at, &quick), WORKERS_ACCEPTED);
    gate_await(&quick);
    cr_assert_eq(n_order, 0, "for 280 ms but the 100 that are a burst b is a heavy one");
    gate_open(&quick);
    while (workers_statistics(workers).queued > 0)
        clock_sleep_ms(1); /* until it is no longer, whoever comes */
    wait_for_idle(workers, 1);
    cr_assert_eq(n_order, 1);
    gate_open(&long_job);
    workers_destroy(workers);
}

Test(workers, light_threads_take_several_short_jobs_of_one_owner, .timeout = 20)
{
    struct gate long_job;
    struct workers *workers = hold_with_light_thread(&long_job);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(submit_of(workers, "b", note, (void *)(uintptr_t)&b), WORKERS_ACCEPTED);
    while (workers_statistics(workers).queued > 0)
        clock_sleep_ms(1);
    wait_for_idle(workers, 1);
    cr_assert_eq(n_order, 5, "although the one thread is a's");
    gate_open(&long_job);
    workers_destroy(workers);
}

Test(workers, what_its_own_light_job_kept_from_beginning_begins_after_it, .timeout = 20)
{
    struct gate long_job, quick, next;
    gate_init(&quick);
    gate_init(&next);
    const struct workers_settings settings = {
        .threads = 1, .spare_threads = 1, .light_threads = 1, .queue_max = 10};
    struct workers *workers = workers_create("test", &settings);
    gate_init(&long_job);
    cr_assert_eq(submit_of(workers, "a", wait_at, &long_job), WORKERS_ACCEPTED);
    gate_await(&long_job);
    cr_assert_eq(submit_of(workers, "b", wait_at, &quick), WORKERS_ACCEPTED);
    gate_await(&quick);
    cr_assert_eq(submit_of(workers, "b", wait_at, &next), WORKERS_ACCEPTED);
    gate_open(&quick);
    gate_await(&next); /* on the light thread or the spare one, whoever comes first */
    gate_open(&next);
    gate_open(&long_job);
    workers_destroy(workers);
}

static atomic_int n_dropped;

static void note_drop(void *argument)
{
    (void)argument;
    atomic_fetch_add(&n_dropped, 1);
}

Test(workers, a_full_queue_makes_room_for_who_has_less_in_it, .timeout = 20)
{
    struct gate gate;
    struct workers *workers = hold(&gate, 4);
    const struct workers_job of_a = {
        .run = note, .drop = note_drop, .argument = (void *)(uintptr_t)&a, .owner = "a"};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(workers_submit(workers, &of_a), WORKERS_ACCEPTED);
    cr_assert_eq(workers_submit(workers, &of_a), WORKERS_SHARE_USED, "a has most");
    submit_letters(workers, &b, 2, note);
    cr_assert_eq(atomic_load(&n_dropped), 2, "two of a's made room");
    cr_assert_eq(submit_of(workers, "b", note, (void *)(uintptr_t)&b), WORKERS_SHARE_USED,
                 "a and b have two each");
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(n_order, 4);
    cr_assert_eq(count_letter('b', 0, 4), 2);
}

Test(workers, who_asks_first_learns_what_submitting_would_come_to, .timeout = 20)
{
    struct gate gate;
    struct workers *workers = hold(&gate, 2);
    const struct workers_job of_a = {
        .run = note, .drop = note_drop, .argument = (void *)(uintptr_t)&a, .owner = "a"};
    const struct workers_job of_b = {.run = note, .argument = (void *)(uintptr_t)&b, .owner = "b"};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(workers_would_accept(workers, &of_a), WORKERS_ACCEPTED);
        cr_assert_eq(workers_submit(workers, &of_a), WORKERS_ACCEPTED);
    }
    cr_assert_eq(workers_would_accept(workers, &of_a), WORKERS_SHARE_USED);
    cr_assert_eq(workers_would_accept(workers, &of_b), WORKERS_ACCEPTED, "a's newest makes room");
    cr_assert_eq(atomic_load(&n_dropped), 0, "not before b submits its job");
    cr_assert_eq(workers_statistics(workers).queued, 2);
    gate_open(&gate);
    workers_stop(workers);
    cr_assert_eq(workers_would_accept(workers, &of_b), WORKERS_FULL);
    workers_destroy(workers);
}

Test(workers, jobs_under_way_are_not_dropped, .timeout = 20)
{
    struct gate gate;
    struct workers *workers = hold(&gate, 3);
    submit_letters(workers, &a, 3, note);
    cr_assert_eq(submit_of(workers, "b", note, (void *)(uintptr_t)&b), WORKERS_SHARE_USED);
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(count_letter('a', 0, n_order), 3);
}

Test(workers, who_waits_too_long_gets_no_more_and_others_do, .timeout = 20)
{
    struct gate gate;
    gate_init(&gate);
    const struct workers_settings settings = {
        .threads = 1, .queue_max = 10, .wait_max_ns = 20000000};
    struct workers *workers = workers_create("test", &settings);
    cr_assert_eq(submit_of(workers, "gate", wait_at, &gate), WORKERS_ACCEPTED);
    gate_await(&gate);
    const struct workers_job of_a = {
        .run = note, .drop = note_drop, .argument = (void *)(uintptr_t)&a, .owner = "a"};
    cr_assert_eq(workers_submit(workers, &of_a), WORKERS_ACCEPTED);
    clock_sleep_ms(40);
    cr_assert_eq(workers_submit(workers, &of_a), WORKERS_SHARE_USED);
    submit_letters(workers, &a, 1, note); /* what may not be dropped is under way */
    submit_letters(workers, &b, 1, note);
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(n_order, 3);
}

static bool is_over(void *argument)
{
    (void)argument;
    return true;
}

Test(workers, jobs_that_are_over_keep_nobody_out, .timeout = 20)
{
    struct gate gate;
    gate_init(&gate);
    const struct workers_settings settings = {
        .threads = 1, .queue_max = 10, .wait_max_ns = 20000000};
    struct workers *workers = workers_create("test", &settings);
    cr_assert_eq(submit_of(workers, "gate", wait_at, &gate), WORKERS_ACCEPTED);
    gate_await(&gate);
    struct workers_job job = {.run = note,
                              .drop = note_drop,
                              .is_over = is_over,
                              .argument = (void *)(uintptr_t)&a,
                              .owner = "a"};
    cr_assert_eq(workers_submit(workers, &job), WORKERS_ACCEPTED);
    clock_sleep_ms(40);
    job.is_over = NULL;
    cr_assert_eq(workers_submit(workers, &job), WORKERS_ACCEPTED);
    clock_sleep_ms(40);
    cr_assert_eq(workers_submit(workers, &job), WORKERS_SHARE_USED, "now one waits that is not");
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(n_order, 2);
}

Test(workers, useless_sizes_are_refused)
{
    cr_assert_null(create(0, 0, 1));
    cr_assert_null(create(1, 0, 0));
    cr_assert_null(create((size_t)-1, 0, 1));
    cr_assert_null(create(1, (size_t)-1, 1));
    workers_destroy(NULL);
}

static void take_number(void *argument)
{
    static atomic_int next;
    *(int *)argument = atomic_fetch_add(&next, 1);
}

Test(workers, what_goes_on_comes_before_what_begins, .timeout = 20)
{
    struct workers *workers = create(1, 0, 10);
    struct gate gate;
    int numbers[4];
    gate_init(&gate);
    const struct workers_job first = {.run = wait_at, .argument = &gate, .owner = "a"};
    cr_assert_eq(workers_submit(workers, &first), WORKERS_ACCEPTED);
    gate_await(&gate);
    for (int i = 0; i < 4; i++) {
        const struct workers_job job = {
            .run = take_number, .argument = &numbers[i], .goes_on = i >= 2, .owner = "a"};
        cr_assert_eq(workers_submit(workers, &job), WORKERS_ACCEPTED);
    }
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert(numbers[2] == 0 && numbers[3] == 1 && numbers[0] == 2 && numbers[1] == 3);
}

Test(workers, who_would_wait_too_long_is_refused_at_once, .timeout = 20)
{
    const struct workers_settings settings = {
        .threads = 2, .queue_max = 100, .wait_max_ns = 1000000000};
    struct workers *workers = workers_create("test", &settings);
    struct gate gate;
    atomic_int done = 0;
    int accepted = 0;
    gate_init(&gate);
    for (int i = 0; i < 2; i++) {
        const struct workers_job first = {.run = wait_at, .argument = &gate, .owner = "a"};
        cr_assert_eq(workers_submit(workers, &first), WORKERS_ACCEPTED);
    }
    gate_await(&gate);
    const struct workers_job job = {
        .run = count, .drop = count, .argument = &done, .owner = "a", .cost_ns = 500000000};
    while (workers_submit(workers, &job) == WORKERS_ACCEPTED)
        accepted++;
    cr_assert(accepted == 4 || accepted == 5, "%d", accepted); /* the second may not have begun */
    struct workers_job other = job;
    other.owner = "b";
    cr_assert_eq(workers_submit(workers, &other), WORKERS_ACCEPTED, "that is the owner's own wait");
    other.owner = "a";
    other.drop = NULL;
    cr_assert_eq(workers_submit(workers, &other), WORKERS_ACCEPTED, "it may not be dropped");
    gate_open(&gate);
    workers_destroy(workers);
}
