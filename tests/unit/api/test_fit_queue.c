#include "api/models/fit_queue.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "threads/clock.h"

static void take(struct fit_queue *queue, const char *team, const char *application)
{
    struct fit_key key;
    cr_assert(fit_queue_take(queue, &key));
    cr_assert_str_eq(key.team_id, team);
    cr_assert_str_eq(key.application, application);
}

Test(fit_queue, an_application_waits_once_however_many_runs_arrive, .timeout = 20)
{
    struct fit_queue *queue = fit_queue_create(8, 1);
    for (int i = 0; i < 1000; i++)
        cr_assert(fit_queue_add(queue, "t", "a"));
    cr_assert(fit_queue_add(queue, "t", "b"));
    cr_assert(fit_queue_add(queue, "u", "a"), "the same name in another team is another one");
    struct fit_queue_statistics now = fit_queue_statistics(queue);
    cr_assert_eq(now.waiting, 3);
    cr_assert_eq(now.added, 3);
    cr_assert_eq(now.merged, 999);
    take(queue, "t", "a");
    fit_queue_done(queue);
    take(queue, "t", "b");
    fit_queue_done(queue);
    take(queue, "u", "a");
    fit_queue_done(queue);
    cr_assert_eq(fit_queue_statistics(queue).waiting, 0);
    fit_queue_destroy(queue);
}

Test(fit_queue, what_changes_during_its_fit_waits_once_more, .timeout = 20)
{
    struct fit_queue *queue = fit_queue_create(8, 0);
    cr_assert(fit_queue_add(queue, "t", "a"));
    take(queue, "t", "a");
    cr_assert_eq(fit_queue_statistics(queue).running, 1);
    cr_assert(fit_queue_add(queue, "t", "a"));
    cr_assert(fit_queue_add(queue, "t", "a"));
    cr_assert(fit_queue_add(queue, "t", "b"));
    fit_queue_done(queue);
    cr_assert_eq(fit_queue_statistics(queue).waiting, 2);
    take(queue, "t", "b");
    fit_queue_done(queue);
    take(queue, "t", "a");
    fit_queue_done(queue);
    cr_assert_eq(fit_queue_statistics(queue).waiting, 0, "twice in all, not three times");
    fit_queue_destroy(queue);
}

Test(fit_queue, a_full_one_refuses_new_applications_and_knows_its_own, .timeout = 20)
{
    struct fit_queue *queue = fit_queue_create(2, 0);
    cr_assert(fit_queue_add(queue, "t", "a"));
    cr_assert(fit_queue_add(queue, "t", "b"));
    cr_assert_not(fit_queue_add(queue, "t", "c"));
    cr_assert(fit_queue_add(queue, "t", "a"));
    take(queue, "t", "a");
    cr_assert_not(fit_queue_add(queue, "t", "c"), "the one being fitted keeps its place");
    cr_assert(fit_queue_add(queue, "t", "a"), "so it can always wait once more");
    fit_queue_done(queue);
    take(queue, "t", "b");
    fit_queue_done(queue);
    cr_assert(fit_queue_add(queue, "t", "c"), "a place is free again");
    cr_assert_eq(fit_queue_statistics(queue).refused, 2);
    cr_assert_eq(fit_queue_statistics(queue).entries_max, 2);
    fit_queue_destroy(queue);
}

Test(fit_queue, nothing_is_due_before_it_has_settled, .timeout = 20)
{
    struct fit_queue *queue = fit_queue_create(2, 60);
    uint64_t began = clock_monotonic_ns();
    cr_assert(fit_queue_add(queue, "t", "a"));
    take(queue, "t", "a");
    cr_assert_geq(clock_monotonic_ns() - began, UINT64_C(60000000));
    fit_queue_destroy(queue);
}

static void *close_later(void *argument)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
    fit_queue_close(argument);
    return NULL;
}

Test(fit_queue, closing_wakes_who_takes_or_rests_and_refuses_from_then_on, .timeout = 20)
{
    struct fit_queue *queue = fit_queue_create(2, 3600000);
    struct fit_key key;
    pthread_t closer;
    cr_assert(fit_queue_add(queue, "t", "a"));
    cr_assert_eq(pthread_create(&closer, NULL, close_later, queue), 0);
    cr_assert_not(fit_queue_take(queue, &key), "due in an hour, but nobody waits for that");
    fit_queue_rest(queue, UINT64_C(3600000000000));
    cr_assert_not(fit_queue_add(queue, "t", "b"));
    pthread_join(closer, NULL);
    fit_queue_destroy(queue);
}

Test(fit_queue, names_up_to_their_bound_are_kept_whole, .timeout = 20)
{
    char name[FIT_NAME_BYTES + 1];
    memset(name, 'x', sizeof name);
    name[FIT_NAME_BYTES] = '\0';
    struct fit_queue *queue = fit_queue_create(1, 0);
    cr_assert_not(fit_queue_add(queue, "t", name));
    name[FIT_NAME_BYTES - 1] = '\0';
    cr_assert(fit_queue_add(queue, "t", name));
    take(queue, "t", name);
    fit_queue_done(queue);
    fit_queue_destroy(queue);
    fit_queue_destroy(NULL);
}
