/*
 * The history cache under threads: readers hold items while others publish, invalidate and push
 * them out. A plain program, so that it runs under ThreadSanitizer as well.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "api/advice/prediction_cache.h"

enum { THREADS = 8, ROUNDS = 20000, NAMES = 12, ENTRIES = 6 };

static struct prediction_cache *cache;

static struct prediction_key key_of(const char *name, int64_t size)
{
    return (struct prediction_key){.team_id = "team",
                                   .application = name,
                                   .problem_size = (double)size,
                                   .cores_per_executor = 4,
                                   .min_executors = 1,
                                   .max_executors = 100};
}

/* An item whose contents tell its key, so that a reader sees a mix-up. */
static struct prediction_item *make_item(int64_t size)
{
    struct prediction_item *item = prediction_item_create(0);
    assert(item != NULL);
    item->prediction.curve.points =
        arena_calloc(&item->arena, 3, sizeof *item->prediction.curve.points);
    assert(item->prediction.curve.points != NULL);
    item->prediction.curve.n_points = 3;
    item->prediction.curve.problem_size = (double)size;
    for (int i = 0; i < 3; i++)
        item->prediction.curve.points[i].executors = size + i;
    return item;
}

static void check_item(const struct prediction_item *item, int64_t size)
{
    assert(item->prediction.curve.problem_size == (double)size &&
           item->prediction.curve.n_points == 3);
    for (int i = 0; i < 3; i++)
        assert(item->prediction.curve.points[i].executors == size + i);
}

static void *work(void *argument)
{
    unsigned state = (unsigned)(size_t)argument * 2654435761u + 1u;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * 1664525u + 1013904223u;
        int64_t number = (int64_t)(state >> 16) % NAMES;
        char name[16];
        (void)snprintf(name, sizeof name, "app-%d", (int)number % 4);
        struct prediction_key key = key_of(name, number);
        const struct prediction_item *found = NULL;
        uint64_t epoch = prediction_cache_epoch(cache);
        enum prediction_state state_of =
            prediction_cache_find(cache, &key, (uint64_t)round, &found);
        if (state_of == PREDICTION_ABSENT) {
            struct prediction_item *made = make_item(number);
            prediction_cache_publish(cache, &key, made, (uint64_t)round, epoch);
            found = made;
        } else if (state_of == PREDICTION_STALE) {
            prediction_cache_confirm(cache, found, (uint64_t)round);
        }
        check_item(found, number);
        if (round % 97 == 0)
            prediction_cache_invalidate(cache, "team", name);
        check_item(found, number); /* still held, whatever left the cache */
        prediction_item_release(found);
        assert(prediction_cache_statistics(cache).entries <= ENTRIES);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++)
        assert(pthread_join(threads[i], NULL) == 0);
}

/* Fresh, then stale after the age, fresh again when confirmed; gone when invalidated. */
static void check_ages(void)
{
    struct prediction_cache *small = prediction_cache_create(2, 1);
    struct prediction_key key = key_of("a", 1), second = key_of("b", 2), third = key_of("c", 3);
    const struct prediction_item *found = NULL;
    struct prediction_item *made = make_item(1);
    assert(prediction_cache_find(small, &key, 0, &found) == PREDICTION_ABSENT);
    prediction_cache_publish(small, &key, made, 1000, prediction_cache_epoch(small));
    assert(prediction_cache_find(small, &key, 1000 + 499999, &found) == PREDICTION_FRESH);
    prediction_item_release(found);
    assert(prediction_cache_find(small, &key, 1000 + 500000, &found) == PREDICTION_STALE);
    prediction_item_release(found);
    assert(prediction_cache_find(small, &key, 1000 + 500001, &found) == PREDICTION_FRESH);
    prediction_item_release(found);
    assert(prediction_cache_find(small, &key, 1000 + 600000, &found) == PREDICTION_STALE);
    prediction_item_release(found);
    assert(prediction_cache_find(small, &key, 1000 + 1000000, &found) == PREDICTION_STALE);
    prediction_cache_confirm(small, found, 2000000);
    prediction_item_release(found);
    assert(prediction_cache_find(small, &key, 2000001, &found) == PREDICTION_FRESH);
    prediction_item_release(found);

    /* What was read before an invalidation is not published after it. */
    uint64_t epoch = prediction_cache_epoch(small);
    prediction_cache_invalidate(small, "team", "a");
    assert(prediction_cache_find(small, &key, 2000001, &found) == PREDICTION_ABSENT);
    prediction_cache_publish(small, &key, made, 2000001, epoch);
    assert(prediction_cache_find(small, &key, 2000001, &found) == PREDICTION_ABSENT);

    /* The least recently used goes first. */
    epoch = prediction_cache_epoch(small);
    prediction_cache_publish(small, &key, made, 5, epoch);
    prediction_cache_publish(small, &second, made, 5, epoch);
    assert(prediction_cache_find(small, &key, 5, &found) == PREDICTION_FRESH);
    prediction_item_release(found);
    prediction_cache_publish(small, &third, made, 5, epoch);
    assert(prediction_cache_find(small, &second, 5, &found) == PREDICTION_ABSENT);
    assert(prediction_cache_find(small, &key, 5, &found) == PREDICTION_FRESH);
    prediction_item_release(found);
    prediction_item_release(made);
    prediction_cache_destroy(small);
}

int main(void)
{
    check_ages();
    cache = prediction_cache_create(ENTRIES, 0);
    assert(cache != NULL);
    run_threads();
    prediction_cache_destroy(cache);
    puts("history cache: ok");
    return 0;
}
