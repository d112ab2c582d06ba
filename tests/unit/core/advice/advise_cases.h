#ifndef ADVISE_CASES_H
#define ADVISE_CASES_H

#include "base/arena.h"
#include "core/advice/advise.h"

/*
 * A question and the curve that it is answered from, for the tests of advise: T(m) = 10 + 90/m, but
 * m = 5 is an anomaly (slower than 4). Tight spread.
 */
enum { POINTS = 12 };
extern struct curve_point points[POINTS];
extern struct curve curve;
extern struct arena arena;

/* T(m). */
double law(int64_t m);

/* The curve as above, before each test. */
void set_up(void);
void tear_down(void);

/* Up to 10 executors, confidence 0.95, neither price nor last run. */
struct advise_goal question(enum advise_objective objective, double deadline_s);
struct advice ask(const struct advise_goal *asked);

/* Findings by their code: whether there is one, NULL if there is none, a value, the message. */
bool has(const struct findings *notes, const char *code);
const struct finding *find(const struct findings *notes, const char *code);
double evidence(const struct findings *notes, const char *code, const char *name);
const char *message(const struct findings *notes, const char *code);

#endif
