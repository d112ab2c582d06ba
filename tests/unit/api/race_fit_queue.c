/*
 * The queue of histories to fit under threads: whatever is told after it was taken is taken again.
 * A plain program, so that it runs under ThreadSanitizer as well.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "api/models/fit_queue.h"

enum { TELLERS = 6, ROUNDS = 20000, NAMES = 12 };

static struct fit_queue *queue;
static atomic_int version[NAMES]; /* of a history; raised before it is told */
static int fitted[NAMES];         /* the fitter's own */
static int fits;

static void *tell(void *argument)
{
    unsigned state = (unsigned)(size_t)argument * 2654435761u + 1u;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * 1664525u + 1013904223u;
        int number = (int)(state >> 16) % NAMES;
        char name[16];
        (void)snprintf(name, sizeof name, "%d", number);
        atomic_fetch_add(&version[number], 1);
        assert(fit_queue_add(queue, "team", name));
        (void)fit_queue_statistics(queue);
    }
    return NULL;
}

static void *fit(void *argument)
{
    (void)argument;
    struct fit_key key;
    while (fit_queue_take(queue, &key)) {
        int number = 0;
        assert(sscanf(key.application, "%d", &number) == 1 && number < NAMES);
        fitted[number] = atomic_load(&version[number]);
        fits++;
        fit_queue_done(queue);
    }
    return NULL;
}

int main(void)
{
    pthread_t tellers[TELLERS];
    pthread_t fitter;
    queue = fit_queue_create(NAMES, 0);
    assert(queue != NULL && pthread_create(&fitter, NULL, fit, NULL) == 0);
    for (size_t i = 0; i < TELLERS; i++) {
        void *seed = (void *)(i + 1);
        assert(pthread_create(&tellers[i], NULL, tell, seed) == 0);
    }
    for (size_t i = 0; i < TELLERS; i++)
        pthread_join(tellers[i], NULL);
    struct fit_queue_statistics now;
    do
        now = fit_queue_statistics(queue);
    while (now.waiting + now.running > 0);
    fit_queue_close(queue);
    pthread_join(fitter, NULL);
    for (int i = 0; i < NAMES; i++)
        assert(fitted[i] == atomic_load(&version[i]));
    assert(now.added + now.merged == (uint64_t)TELLERS * ROUNDS && now.refused == 0);
    assert((uint64_t)fits == now.added);
    fit_queue_destroy(queue);
    return 0;
}
