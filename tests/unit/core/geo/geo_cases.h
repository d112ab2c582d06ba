#ifndef TESTS_GEO_CASES_H
#define TESTS_GEO_CASES_H

#include "base/arena.h"
#include "base/rng.h"
#include "core/geo/planner.h"

/* Small problems for tests of planners, by hand and at random. */

enum { MOST = 16 };

extern struct arena arena;

void cases_setup(void);
void cases_teardown(void);

const struct speeds *fixed(double value);
const struct speeds *two(double low, double p, double high);

/* A cluster with one operation and gates that do not bind. */
struct geo_cluster cluster(int64_t slots, double unreachable, const struct speeds *speed);
struct geo_task task(double size, const size_t inputs[], size_t n);
struct geo_job job(double unprocessed, const struct geo_task tasks[], size_t n);

struct drawn {
    struct geo_problem problem;
    struct geo_cluster clusters[MOST];
    struct geo_link links[MOST * MOST];
    struct geo_job jobs[MOST];
};

/* Slots that are partly busy, gates that bind, tasks of which none runs. */
void draw_problem(struct rng *rng, struct drawn *d);

/* Some of its tasks run, further or less far; stages are told of, and how long tasks waited. */
void draw_running(struct rng *rng, struct drawn *d);

#endif
