#include "threads/workers.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

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

Test(workers, destroy_runs_everything_that_was_queued, .timeout = 20)
{
    atomic_int done = 0;
    struct workers *workers = workers_create("test", 3, 1000);
    cr_assert_not_null(workers);
    for (int i = 0; i < 1000; i++)
        while (!workers_submit(workers, count, &done))
            ;
    workers_destroy(workers);
    cr_assert_eq(atomic_load(&done), 1000);
}

Test(workers, a_full_queue_refuses_and_says_how_full_it_is, .timeout = 20)
{
    struct gate gate;
    gate_init(&gate);
    atomic_int done = 0;
    struct workers *workers = workers_create("test", 1, 2);
    cr_assert(workers_submit(workers, wait_at, &gate));
    gate_await(&gate);
    cr_assert(workers_submit(workers, count, &done));
    cr_assert(workers_submit(workers, count, &done));
    cr_assert_not(workers_submit(workers, count, &done), "the queue holds two");
    struct workers_statistics now = workers_statistics(workers);
    cr_assert_eq(now.queued, 2);
    cr_assert_eq(now.running, 1);
    cr_assert_eq(now.threads, 1);
    cr_assert_eq(now.queue_max, 2);
    gate_open(&gate);
    workers_destroy(workers);
    cr_assert_eq(atomic_load(&done), 2, "the refused job did not run");
}

static int order[100];
static int n_order;

static void note(void *argument)
{
    order[n_order++] = *(int *)argument;
}

Test(workers, one_thread_takes_jobs_in_the_order_sent, .timeout = 20)
{
    static int numbers[100];
    struct workers *workers = workers_create("test", 1, 100);
    for (int i = 0; i < 100; i++) {
        numbers[i] = i;
        cr_assert(workers_submit(workers, note, &numbers[i]));
    }
    workers_destroy(workers);
    cr_assert_eq(n_order, 100);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(order[i], i);
}

Test(workers, useless_sizes_are_refused)
{
    cr_assert_null(workers_create("test", 0, 1));
    cr_assert_null(workers_create("test", 1, 0));
    cr_assert_null(workers_create("test", (size_t)-1, 1));
    workers_destroy(NULL);
}
