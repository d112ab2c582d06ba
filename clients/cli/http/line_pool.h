#ifndef CLI_HTTP_LINE_POOL_H
#define CLI_HTTP_LINE_POOL_H

#include <curl/curl.h>
#include <stdbool.h>

/*
 * Handles of libcurl that are used again, with the connections that they hold open. A pool is used by
 * any number of threads at a time, and a line by the one that took it.
 */
struct line {
    CURL *easy;
    CURLM *multi; /* the connections live in its cache */
};

struct line_pool;

/* NULL when memory ran out. */
struct line_pool *line_pool_create(void);

/* After all lines were given back. NULL is allowed. */
void line_pool_destroy(struct line_pool *pool);

/* A line whose easy handle is as new. false when memory ran out: then the line is empty. */
bool line_pool_take(struct line_pool *pool, struct line *line);

/* The easy handle is in no multi handle any more. */
void line_pool_give(struct line_pool *pool, struct line *line);

#endif
