#include "cli/http/line_pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { IDLE_MAX = 8 };

struct line_pool {
    pthread_mutex_t lock; /* of all below */
    struct line idle[IDLE_MAX];
    size_t n;
};

struct line_pool *line_pool_create(void)
{
    struct line_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        free(pool);
        return NULL;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        return pool;
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return NULL;
}

static void line_close(struct line *line)
{
    curl_easy_cleanup(line->easy);
    curl_multi_cleanup(line->multi);
    *line = (struct line){NULL, NULL};
}

void line_pool_destroy(struct line_pool *pool)
{
    if (pool == NULL)
        return;
    for (size_t i = 0; i < pool->n; i++)
        line_close(&pool->idle[i]);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    curl_global_cleanup();
}

bool line_pool_take(struct line_pool *pool, struct line *line)
{
    pthread_mutex_lock(&pool->lock);
    bool idle = pool->n > 0;
    if (idle)
        *line = pool->idle[--pool->n];
    pthread_mutex_unlock(&pool->lock);
    if (idle)
        return true;
    line->easy = curl_easy_init();
    line->multi = curl_multi_init();
    if (line->easy != NULL && line->multi != NULL)
        return true;
    line_close(line);
    return false;
}

void line_pool_give(struct line_pool *pool, struct line *line)
{
    curl_easy_reset(line->easy);
    pthread_mutex_lock(&pool->lock);
    bool kept = pool->n < IDLE_MAX;
    if (kept)
        pool->idle[pool->n++] = *line;
    pthread_mutex_unlock(&pool->lock);
    if (!kept)
        line_close(line);
}
