/*
 * The history cache under threads: readers hold items while others publish, invalidate and push
 * them out. A plain program, so that it runs under ThreadSanitizer as well.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "api/advice/history_cache.h"

enum { THREADS = 8, ROUNDS = 20000, NAMES = 12, ENTRIES = 6 };

static struct history_cache *cache;

static struct history_key key_of(const char *name, int64_t size)
{
    return (struct history_key){.team_id = "team",
                                .application = name,
                                .problem_size = size,
                                .cores_per_executor = 4,
                                .min_executors = 1,
                                .max_executors = 100};
}

/* An item whose contents tell its key, so that a reader sees a mix-up. */
static struct history_item *make_item(int64_t size)
{
    struct history_item *item = history_item_create(0);
    assert(item != NULL);
    item->prediction.curve.points =
        arena_calloc(&item->arena, 3, sizeof *item->prediction.curve.points);
    assert(item->prediction.curve.points != NULL);
    item->prediction.curve.n_points = 3;
    item->prediction.curve.problem_size = size;
    for (int i = 0; i < 3; i++)
        item->prediction.curve.points[i].executors = size + i;
    return item;
}

static void check_item(const struct history_item *item, int64_t size)
{
    assert(item->prediction.curve.problem_size == size && item->prediction.curve.n_points == 3);
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
        struct history_key key = key_of(name, number);
        const struct history_item *found = NULL;
        uint64_t epoch = history_cache_epoch(cache);
        enum history_state state_of = history_cache_find(cache, &key, (uint64_t)round, &found);
        if (state_of == HISTORY_ABSENT) {
            struct history_item *made = make_item(number);
            history_cache_publish(cache, &key, made, (uint64_t)round, epoch);
            found = made;
        } else if (state_of == HISTORY_STALE) {
            history_cache_confirm(cache, found, (uint64_t)round);
        }
        check_item(found, number);
        if (round % 97 == 0)
            history_cache_invalidate(cache, "team", name);
        check_item(found, number); /* still held, whatever left the cache */
        history_item_release(found);
        assert(history_cache_statistics(cache).entries <= ENTRIES);
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
    struct history_cache *small = history_cache_create(2, 1);
    struct history_key key = key_of("a", 1), second = key_of("b", 2), third = key_of("c", 3);
    const struct history_item *found = NULL;
    struct history_item *made = make_item(1);
    assert(history_cache_find(small, &key, 0, &found) == HISTORY_ABSENT);
    history_cache_publish(small, &key, made, 1000, history_cache_epoch(small));
    assert(history_cache_find(small, &key, 1000 + 999999, &found) == HISTORY_FRESH);
    history_item_release(found);
    assert(history_cache_find(small, &key, 1000 + 1000000, &found) == HISTORY_STALE);
    history_cache_confirm(small, found, 2000000);
    history_item_release(found);
    assert(history_cache_find(small, &key, 2000001, &found) == HISTORY_FRESH);
    history_item_release(found);

    /* What was read before an invalidation is not published after it. */
    uint64_t epoch = history_cache_epoch(small);
    history_cache_invalidate(small, "team", "a");
    assert(history_cache_find(small, &key, 2000001, &found) == HISTORY_ABSENT);
    history_cache_publish(small, &key, made, 2000001, epoch);
    assert(history_cache_find(small, &key, 2000001, &found) == HISTORY_ABSENT);

    /* The least recently used goes first. */
    epoch = history_cache_epoch(small);
    history_cache_publish(small, &key, made, 5, epoch);
    history_cache_publish(small, &second, made, 5, epoch);
    assert(history_cache_find(small, &key, 5, &found) == HISTORY_FRESH);
    history_item_release(found);
    history_cache_publish(small, &third, made, 5, epoch);
    assert(history_cache_find(small, &second, 5, &found) == HISTORY_ABSENT);
    assert(history_cache_find(small, &key, 5, &found) == HISTORY_FRESH);
    history_item_release(found);
    history_item_release(made);
    history_cache_destroy(small);
}

int main(void)
{
    check_ages();
    cache = history_cache_create(ENTRIES, 0);
    assert(cache != NULL);
    run_threads();
    history_cache_destroy(cache);
    puts("history cache: ok");
    return 0;
}
