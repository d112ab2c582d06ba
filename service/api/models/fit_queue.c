#include "api/models/fit_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "threads/clock.h"
#include "threads/cond.h"

#define NS_PER_MS UINT64_C(1000000)

/* Every application waits equally long, so the line is in the order of `due_ns` by itself. */
struct entry {
    struct entry *behind;         /* in the line, or in the list of free ones */
    struct entry *next_in_bucket; /* while it is in the line or being fitted */
    uint64_t hash;
    uint64_t due_ns;
    struct fit_key key;
};

struct fit_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct entry *entries;
    struct entry **buckets;
    size_t n;
    uint64_t settle_ns;
    struct entry *first;
    struct entry *last;
    struct entry *free;
    struct entry *running;
    bool again; /* the one being fitted changed meanwhile */
    bool closed;
    struct fit_queue_statistics counts;
};

static bool init_locks(struct fit_queue *queue)
{
    if (!cond_init(&queue->changed))
        return false;
    if (pthread_mutex_init(&queue->lock, NULL) == 0)
        return true;
    (void)pthread_cond_destroy(&queue->changed);
    return false;
}

static void release(struct fit_queue *queue)
{
    free(queue->entries);
    free(queue->buckets);
    free(queue);
}

struct fit_queue *fit_queue_create(size_t entries_max, int64_t settle_ms)
{
    struct fit_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->n = entries_max;
    queue->settle_ns = (uint64_t)settle_ms * NS_PER_MS;
    queue->entries = calloc(entries_max, sizeof *queue->entries);
    queue->buckets = calloc(entries_max, sizeof *queue->buckets);
    if (queue->entries == NULL || queue->buckets == NULL || !init_locks(queue)) {
        release(queue);
        return NULL;
    }
    for (size_t i = 0; i < entries_max; i++) {
        queue->entries[i].behind = queue->free;
        queue->free = &queue->entries[i];
    }
    queue->counts.entries_max = entries_max;
    return queue;
}

void fit_queue_destroy(struct fit_queue *queue)
{
    if (queue == NULL)
        return;
    (void)pthread_cond_destroy(&queue->changed);
    (void)pthread_mutex_destroy(&queue->lock);
    release(queue);
}

/* --- the line and the table; the lock is held --- */

static struct entry **
fit_queue_find_place(struct fit_queue *queue, uint64_t hash, const struct fit_key *key)
{
    struct entry **at = &queue->buckets[hash % queue->n];
    while (*at != NULL && ((*at)->hash != hash || strcmp((*at)->key.team_id, key->team_id) != 0 ||
                           strcmp((*at)->key.application, key->application) != 0))
        at = &(*at)->next_in_bucket;
    return at;
}

static void line_up(struct fit_queue *queue, struct entry *entry)
{
    entry->due_ns = clock_monotonic_ns() + queue->settle_ns;
    entry->behind = NULL;
    if (queue->last == NULL)
        queue->first = entry;
    else
        queue->last->behind = entry;
    queue->last = entry;
    queue->counts.waiting++;
    (void)pthread_cond_signal(&queue->changed);
}

static bool
add_new(struct fit_queue *queue, struct entry **place, uint64_t hash, const struct fit_key *key)
{
    struct entry *entry = queue->free;
    if (entry == NULL) {
        queue->counts.refused++;
        return false;
    }
    queue->free = entry->behind;
    entry->next_in_bucket = NULL;
    entry->hash = hash;
    entry->key = *key;
    *place = entry;
    queue->counts.added++;
    line_up(queue, entry);
    return true;
}

static bool api_fit_queue_add(struct fit_queue *queue, uint64_t hash, const struct fit_key *key)
{
    if (queue->closed)
        return false;
    struct entry **place = fit_queue_find_place(queue, hash, key);
    if (*place == NULL)
        return add_new(queue, place, hash, key);
    if (*place != queue->running || queue->again) {
        queue->counts.merged++;
    } else {
        queue->again = true;
        queue->counts.added++;
    }
    return true;
}

bool fit_queue_add(struct fit_queue *queue, const char *team_id, const char *application)
{
    struct fit_key key;
    size_t team_n = strlen(team_id);
    size_t name_n = strlen(application);
    if (team_n >= sizeof key.team_id || name_n >= sizeof key.application)
        return false; /* nothing that can have been stored */
    memcpy(key.team_id, team_id, team_n + 1);
    memcpy(key.application, application, name_n + 1);
    uint64_t hash = hash_text(hash_text(HASH_START, team_id), application);
    pthread_mutex_lock(&queue->lock);
    bool added = api_fit_queue_add(queue, hash, &key);
    pthread_mutex_unlock(&queue->lock);
    return added;
}

/* --- the taker --- */

static void await_due(struct fit_queue *queue)
{
    while (!queue->closed) {
        if (queue->first == NULL)
            (void)pthread_cond_wait(&queue->changed, &queue->lock);
        else if (clock_monotonic_ns() < queue->first->due_ns)
            (void)cond_wait_until(&queue->changed, &queue->lock, queue->first->due_ns);
        else
            return;
    }
}

bool fit_queue_take(struct fit_queue *queue, struct fit_key *key)
{
    pthread_mutex_lock(&queue->lock);
    await_due(queue);
    bool taken = !queue->closed;
    if (taken) {
        struct entry *entry = queue->first;
        queue->first = entry->behind;
        if (queue->first == NULL)
            queue->last = NULL;
        queue->counts.waiting--;
        queue->counts.running = 1;
        queue->running = entry;
        queue->again = false;
        *key = entry->key;
    }
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

void fit_queue_done(struct fit_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct entry *entry = queue->running;
    queue->running = NULL;
    queue->counts.running = 0;
    if (queue->again) {
        line_up(queue, entry);
    } else {
        *fit_queue_find_place(queue, entry->hash, &entry->key) = entry->next_in_bucket;
        entry->behind = queue->free;
        queue->free = entry;
    }
    queue->again = false;
    pthread_mutex_unlock(&queue->lock);
}

void fit_queue_rest(struct fit_queue *queue, uint64_t ns)
{
    uint64_t until = clock_monotonic_ns() + ns;
    pthread_mutex_lock(&queue->lock);
    while (!queue->closed && clock_monotonic_ns() < until)
        (void)cond_wait_until(&queue->changed, &queue->lock, until);
    pthread_mutex_unlock(&queue->lock);
}

void fit_queue_close(struct fit_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    (void)pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

struct fit_queue_statistics fit_queue_statistics(struct fit_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct fit_queue_statistics now = queue->counts;
    pthread_mutex_unlock(&queue->lock);
    return now;
}
