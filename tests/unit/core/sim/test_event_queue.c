#include "core/sim/event_queue.h"

#include <criterion/criterion.h>

#include "base/rng.h"
#include "core/sim/variates.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(event_queue, .init = setup, .fini = teardown);

static event_id schedule(struct event_queue *queue, double at, uint32_t kind, uint64_t about)
{
    event_id id = event_queue_schedule(queue, &(struct event){at, kind, about});
    cr_assert(id != 0);
    return id;
}

static struct event take(struct event_queue *queue)
{
    struct event event;
    cr_assert(event_queue_pop(queue, &event));
    return event;
}

Test(event_queue, the_earliest_then_the_lowest_kind_then_the_first_scheduled)
{
    struct event_queue queue;
    cr_assert(event_queue_init(&queue, &arena));
    (void)schedule(&queue, 2, 0, 1);
    (void)schedule(&queue, 1, 7, 2);
    (void)schedule(&queue, 1, 3, 3);
    (void)schedule(&queue, 1, 7, 0); /* later than 2, though it is about less */
    (void)schedule(&queue, -1, 9, 4);
    static const uint64_t order[] = {4, 3, 2, 0, 1};
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(event_queue_next(&queue)->about, order[i]);
        cr_expect_eq(take(&queue).about, order[i]);
    }
    struct event event;
    cr_expect(!event_queue_pop(&queue, &event));
    cr_expect_null(event_queue_next(&queue));
}

Test(event_queue, a_cancelled_event_does_not_happen_and_its_id_is_void)
{
    struct event_queue queue;
    cr_assert(event_queue_init(&queue, &arena));
    event_id first = schedule(&queue, 1, 0, 1);
    event_id second = schedule(&queue, 2, 0, 2);
    cr_expect(event_queue_cancel(&queue, first));
    cr_expect(!event_queue_cancel(&queue, first), "it was cancelled before");
    cr_expect_eq(event_queue_length(&queue), 1, "it does not stay in the queue");
    event_id third = schedule(&queue, 1, 0, 3); /* where the first one was */
    cr_expect(third != first && !event_queue_cancel(&queue, first) &&
              !event_queue_move(&queue, first, 9));
    cr_expect_eq(take(&queue).about, 3);
    cr_expect_eq(take(&queue).about, 2);
    cr_expect(!event_queue_cancel(&queue, second), "it has happened");
    cr_expect(!event_queue_cancel(&queue, 0) && !event_queue_cancel(&queue, UINT64_MAX));
}

Test(event_queue, a_moved_event_comes_after_those_of_its_new_instant)
{
    struct event_queue queue;
    cr_assert(event_queue_init(&queue, &arena));
    event_id moved = schedule(&queue, 1, 0, 1);
    (void)schedule(&queue, 5, 0, 2);
    (void)schedule(&queue, 7, 0, 3);
    cr_expect(event_queue_move(&queue, moved, 5));
    cr_expect_eq(take(&queue).about, 2);
    cr_expect_eq(take(&queue).about, 1);
    event_id last = schedule(&queue, 9, 0, 4);
    cr_expect(event_queue_move(&queue, last, 6));
    cr_expect_eq(take(&queue).about, 4);
}

/* --- against a list that is searched --- */

enum { EVENTS = 400, STEPS = 20000 };

struct model {
    struct event event;
    uint64_t order;
    event_id id;
    bool is_there;
};

static size_t find_next(const struct model model[])
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < EVENTS; i++) {
        const struct model *a = &model[i];
        const struct model *b = best == SIZE_MAX ? NULL : &model[best];
        if (a->is_there && (b == NULL || a->event.at < b->event.at ||
                            (a->event.at == b->event.at &&
                             (a->event.kind < b->event.kind ||
                              (a->event.kind == b->event.kind && a->order < b->order)))))
            best = i;
    }
    return best;
}

Test(event_queue, random_steps_agree_with_a_list)
{
    static struct model model[EVENTS];
    struct event_queue queue;
    struct rng rng = rng_make(4, 2);
    uint64_t order = 0;
    size_t n = 0;
    size_t happened = 0;
    size_t cancelled = 0;
    cr_assert(event_queue_init(&queue, &arena));
    for (size_t step = 0; step < STEPS; step++) {
        size_t i = variate_index(&rng, EVENTS);
        double act = rng_uniform(&rng);
        double at = (double)variate_index(&rng, 40); /* many ties */
        if (act < 0.45 && !model[i].is_there) {
            model[i].event = (struct event){at, (uint32_t)variate_index(&rng, 3), i};
            model[i].order = order++;
            model[i].id = event_queue_schedule(&queue, &model[i].event);
            model[i].is_there = true;
            n++;
        } else if (act < 0.6) {
            cr_assert_eq(event_queue_cancel(&queue, model[i].id), model[i].is_there);
            n -= model[i].is_there;
            cancelled += model[i].is_there;
            model[i].is_there = false;
        } else if (act < 0.7) {
            cr_assert_eq(event_queue_move(&queue, model[i].id, at), model[i].is_there);
            model[i].event.at = at;
            model[i].order = order++;
        } else if (n > 0) {
            size_t next = find_next(model);
            cr_assert_eq(take(&queue).about, next);
            model[next].is_there = false;
            n--;
            happened++;
        }
        cr_assert_eq(event_queue_length(&queue), n);
    }
    cr_expect(happened > 1000 && cancelled > 1000, "%zu happened, %zu cancelled", happened,
              cancelled);
}

Test(event_queue, memory_stays_that_of_the_most_events_at_once)
{
    struct event_queue queue;
    cr_assert(event_queue_init(&queue, &arena));
    event_id ids[50];
    for (size_t i = 0; i < 50; i++)
        ids[i] = schedule(&queue, (double)i, 0, i);
    size_t used = arena.total;
    for (size_t step = 0; step < 100000; step++) {
        cr_assert(event_queue_cancel(&queue, ids[step % 50]));
        ids[step % 50] = schedule(&queue, (double)step, 0, step);
    }
    cr_expect_eq(arena.total, used);
    cr_expect_eq(event_queue_length(&queue), 50);
}

Test(event_queue, exhausted_memory_changes_nothing)
{
    struct arena small;
    struct event_queue queue;
    size_t n = 0;
    arena_init(&small, 64 << 10);
    cr_assert(event_queue_init(&queue, &small));
    while (event_queue_schedule(&queue, &(struct event){-(double)n, 0, n}) != 0)
        n++;
    cr_expect(n >= 64);
    cr_expect_eq(event_queue_length(&queue), n);
    for (size_t i = n; i > 0; i--)
        cr_expect_eq(take(&queue).about, i - 1);
    arena_fini(&small);
}
