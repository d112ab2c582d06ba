#include "store/usage/tally.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Teams whose hashes meet share a place in turns: whoever does not have it counts each at once. */
enum { PLACES = 1024 };

struct place {
    char team_id[37];
    struct tally_amounts pending;
    struct tally_amounts batch;
    uint64_t counted_ns; /* when the batch was set */
};

struct tally {
    pthread_mutex_t lock;
    struct place places[PLACES];
};

struct tally *tally_create(void)
{
    struct tally *tally = calloc(1, sizeof *tally);
    if (tally != NULL && pthread_mutex_init(&tally->lock, NULL) != 0) {
        free(tally);
        return NULL;
    }
    return tally;
}

void tally_destroy(struct tally *tally)
{
    if (tally == NULL)
        return;
    pthread_mutex_destroy(&tally->lock);
    free(tally);
}

static void add(struct tally_amounts *to, const struct tally_amounts *more, int64_t times)
{
    to->advice += times * more->advice;
    to->replies += times * more->replies;
    to->bytes += times * more->bytes;
}

static bool is_nothing(const struct tally_amounts *a)
{
    return a->advice == 0 && a->replies == 0 && a->bytes == 0;
}

static struct place *place_of(struct tally *tally, const char *team_id)
{
    return &tally->places[hash_text(HASH_START, team_id) % PLACES];
}

/* NULL while another team has it and something not counted yet. */
static struct place *take_place(struct tally *tally, const char *team_id)
{
    struct place *place = place_of(tally, team_id);
    if (strcmp(place->team_id, team_id) == 0)
        return place;
    if (!is_nothing(&place->pending))
        return NULL;
    *place = (struct place){.batch = {1, 1, 1}};
    memcpy(place->team_id, team_id, sizeof place->team_id);
    return place;
}

static bool is_due(const struct place *place, uint64_t now_ns)
{
    return now_ns - place->counted_ns >= TALLY_WAIT_S * UINT64_C(1000000000) ||
           place->pending.advice >= place->batch.advice ||
           place->pending.replies >= place->batch.replies ||
           place->pending.bytes >= place->batch.bytes;
}

bool tally_add(struct tally *tally,
               const char *team_id,
               const struct tally_amounts *more,
               uint64_t now_ns,
               struct tally_amounts *take,
               struct tally_amounts *owed)
{
    bool due = true;
    *take = *more;
    pthread_mutex_lock(&tally->lock);
    struct place *place = take_place(tally, team_id);
    if (place != NULL) {
        add(&place->pending, more, 1);
        add(owed, more, 1);
        due = is_due(place, now_ns);
    }
    if (place != NULL && due) {
        *take = place->pending;
        add(owed, take, -1);
        place->pending = (struct tally_amounts){0};
    }
    pthread_mutex_unlock(&tally->lock);
    return due;
}

void tally_undo(struct tally *tally, const char *team_id, const struct tally_amounts *owed)
{
    if (is_nothing(owed))
        return;
    pthread_mutex_lock(&tally->lock);
    struct place *place = take_place(tally, team_id);
    if (place != NULL) /* else the next recount knows */
        add(&place->pending, owed, -1);
    pthread_mutex_unlock(&tally->lock);
}

void tally_set_batch(struct tally *tally,
                     const char *team_id,
                     const struct tally_amounts *batch,
                     uint64_t now_ns)
{
    pthread_mutex_lock(&tally->lock);
    struct place *place = take_place(tally, team_id);
    if (place != NULL) {
        place->batch = *batch;
        place->counted_ns = now_ns;
    }
    pthread_mutex_unlock(&tally->lock);
}

struct tally_amounts tally_pending(struct tally *tally, const char *team_id)
{
    struct tally_amounts pending = {0};
    pthread_mutex_lock(&tally->lock);
    const struct place *place = place_of(tally, team_id);
    if (strcmp(place->team_id, team_id) == 0)
        pending = place->pending;
    pthread_mutex_unlock(&tally->lock);
    return pending;
}
