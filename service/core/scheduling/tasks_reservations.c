#include "core/scheduling/tasks_reservations.h"

#include "base/rounding.h"

/* In place of the worker: the reservation was taken, and only its job still refers to it. */
#define NOWHERE UINT32_MAX

/* While it waits, a place's count is its worker, and its item the next place of its job. */

bool reservations_init(struct reservations *reservations,
                       uint32_t workers,
                       uint32_t jobs,
                       struct line_pool *pool,
                       struct arena *arena)
{
    struct reservations_line *lines = arena_calloc(arena, workers, sizeof *lines);
    uint32_t *of_job = arena_array(arena, jobs, sizeof *of_job);
    double *remaining_s = arena_calloc(arena, jobs, sizeof *remaining_s);
    if (lines == NULL || of_job == NULL || remaining_s == NULL)
        return false;
    for (uint32_t w = 0; w < workers; w++)
        lines[w].line = LINE_EMPTY;
    for (uint32_t j = 0; j < jobs; j++)
        of_job[j] = LINE_END;
    *reservations = (struct reservations){pool, lines, remaining_s, of_job};
    return true;
}

double reservations_memory(uint32_t workers, uint32_t jobs)
{
    return (double)workers * sizeof(struct reservations_line) +
           (double)jobs * (sizeof(uint32_t) + sizeof(double));
}

static bool is_spent(const struct reservations *reservations, const struct line_place *place)
{
    return reservations->remaining_s[place->job] == 0;
}

/* A job has no more tasks. Workers count its reservations now, so as not to look for them each time
 * among all that wait. */
static void spend(struct reservations *reservations, uint32_t job)
{
    for (uint32_t at = reservations->of_job[job], next; at != LINE_END; at = next) {
        const struct line_place *place = line_place_at(reservations->pool, at);
        next = place->item;
        if (place->count == NOWHERE)
            line_pool_give(reservations->pool, at);
        else
            reservations->lines[place->count].spent++;
    }
    reservations->of_job[job] = LINE_END;
}

void reservations_set_remaining(struct reservations *reservations, uint32_t job, double work_s)
{
    reservations->remaining_s[job] = work_s;
    if (work_s == 0)
        spend(reservations, job);
}

void reservations_add(struct reservations *reservations, uint32_t worker, uint32_t place)
{
    struct reservations_line *line = &reservations->lines[worker];
    struct line_place *at = line_place_at(reservations->pool, place);
    line->waiting++;
    line_append(reservations->pool, &line->line, place);
    if (is_spent(reservations, at)) {
        line->spent++;
        return;
    }
    at->count = worker;
    at->item = reservations->of_job[at->job];
    reservations->of_job[at->job] = place;
}

/* The place behind `before`, with `ahead` places ahead of it, leaves the line, and goes back to the
 * pool as soon as its job has no tasks. Returns the job. */
static uint32_t leave(const struct reservations *reservations,
                      struct reservations_line *line,
                      uint32_t before,
                      uint32_t ahead)
{
    struct line_pool *pool = reservations->pool;
    uint32_t place = before == LINE_END ? line->line.head : line_place_at(pool, before)->next;
    uint32_t job = line_place_at(pool, place)->job;
    line_remove(pool, &line->line, before);
    for (int k = 0; k < RESERVATIONS_PASSED_MAX && line->passed[k] > ahead; k++)
        line->passed[k]--;
    if (reservations->remaining_s[job] == 0)
        line_pool_give(pool, place);
    else
        line_place_at(pool, place)->count = NOWHERE;
    return job;
}

/* Whoever passes over a place passes over all ahead of it: so those at the front were passed over
 * most often. */
static void pass_over(struct reservations_line *line, uint32_t ahead)
{
    for (int k = RESERVATIONS_PASSED_MAX - 1; k >= 0; k--) {
        uint32_t once_less = k > 0 && line->passed[k - 1] < ahead ? line->passed[k - 1] : ahead;
        if (line->passed[k] < once_less)
            line->passed[k] = once_less;
    }
}

/* Those that were taken leave the line, which holds no others of jobs without tasks. */
static void drop_taken(const struct reservations *reservations, struct reservations_line *line)
{
    uint32_t before = LINE_END;
    uint32_t ahead = 0;
    for (uint32_t at = line->line.head, next; line->taken > 0; at = next) {
        const struct line_place *place = line_place_at(reservations->pool, at);
        next = place->next;
        if (is_spent(reservations, place)) {
            (void)leave(reservations, line, before, ahead);
            line->taken--;
        } else {
            before = at;
            ahead++;
        }
    }
}

/* The place before the one of the job with the least remaining work; that one has `ahead` places
 * ahead of it. */
static uint32_t before_least(const struct reservations *reservations,
                             const struct reservations_line *line,
                             uint32_t *ahead)
{
    const struct line_place *at = line_place_at(reservations->pool, line->line.head);
    double least_s = reservations->remaining_s[at->job];
    uint32_t best = LINE_END;
    uint32_t n = 1;
    *ahead = 0;
    for (uint32_t before = line->line.head; at->next != LINE_END; n++) {
        uint32_t next = at->next;
        at = line_place_at(reservations->pool, next);
        double work_s = reservations->remaining_s[at->job];
        if (work_s < least_s && !rounding_equal(work_s, least_s)) {
            least_s = work_s;
            best = before;
            *ahead = n;
        }
        before = next;
    }
    return best;
}

/* Whether it is the turn of the first one, or as good as any since its job has no tasks. */
static bool first_is_next(const struct reservations *reservations,
                          const struct reservations_line *line)
{
    return line->passed[RESERVATIONS_PASSED_MAX - 1] > 0 ||
           (line->spent > 0 &&
            is_spent(reservations, line_place_at(reservations->pool, line->line.head)));
}

uint32_t reservations_take(struct reservations *reservations, uint32_t worker)
{
    struct reservations_line *line = &reservations->lines[worker];
    uint32_t before = LINE_END;
    uint32_t ahead = 0;
    line->waiting--;
    if (!first_is_next(reservations, line)) {
        /* One of these is behind. Which one makes no difference until somebody is passed over, and
         * by then all of them are taken. */
        if (line->spent > 0) {
            line->spent--;
            line->taken++;
            return RESERVATIONS_NO_JOB;
        }
        drop_taken(reservations, line);
        before = before_least(reservations, line, &ahead);
    }
    uint32_t job = leave(reservations, line, before, ahead);
    if (reservations->remaining_s[job] == 0)
        line->spent--;
    else if (ahead > 0)
        pass_over(line, ahead);
    return job;
}
