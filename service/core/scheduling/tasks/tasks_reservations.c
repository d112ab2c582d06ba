#include "core/scheduling/tasks/tasks_reservations.h"

#include "base/rounding.h"

/* In place of the worker: the reservation was taken, and only its job still refers to it, or its
 * line as well. */
#define NOWHERE UINT32_MAX
#define TAKEN (UINT32_MAX - 1)

/* More than so many, with tasks, wait at a worker before they are indexed: fewer are looked through
 * as fast. */
enum { INDEXED_FROM = 256 };

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
    bool *begun = arena_calloc(arena, jobs, sizeof *begun);
    if (lines == NULL || of_job == NULL || remaining_s == NULL || begun == NULL)
        return false;
    for (uint32_t w = 0; w < workers; w++)
        lines[w].line = LINE_EMPTY;
    for (uint32_t j = 0; j < jobs; j++)
        of_job[j] = LINE_END;
    *reservations = (struct reservations){.pool = pool,
                                          .lines = lines,
                                          .workers = workers,
                                          .remaining_s = remaining_s,
                                          .begun = begun,
                                          .of_job = of_job,
                                          .jobs = jobs};
    reservations_index_init(&reservations->index, pool, remaining_s);
    return true;
}

double reservations_memory(uint32_t workers, uint32_t jobs)
{
    return (double)workers * sizeof(struct reservations_line) +
           (double)jobs * (sizeof(uint32_t) + sizeof(double) + sizeof(bool)) +
           reservations_index_memory(workers, jobs);
}

static bool is_spent(const struct reservations *reservations, const struct line_place *place)
{
    return reservations->remaining_s[place->job] == 0;
}

static enum index_part part_of(const struct reservations *reservations, uint32_t job)
{
    if (reservations->remaining_s[job] == 0)
        return INDEX_SPENT;
    return reservations->begun[job] ? INDEX_BEGUN : INDEX_UNTOUCHED;
}

/* A place is at a worker that is indexed. */
static bool is_indexed(const struct reservations *reservations, const struct line_place *place)
{
    return place->count < TAKEN && reservations_index_covers(&reservations->index, place->count);
}

/* The first task of a job is given out, or its work changes otherwise. */
static void begin(struct reservations *reservations, uint32_t job)
{
    reservations->begun[job] = true;
    if (!reservations_index_is_made(&reservations->index))
        return;
    for (uint32_t at = reservations->of_job[job], next; at != LINE_END; at = next) {
        const struct line_place *place = line_place_at(reservations->pool, at);
        next = place->item;
        if (!is_indexed(reservations, place))
            continue;
        reservations_index_take_out(&reservations->index, place->count, at, INDEX_UNTOUCHED);
        reservations_index_put(&reservations->index, place->count, at, INDEX_BEGUN);
    }
}

/* A reservation that waits is of a job without tasks from now on. */
static void spend_place(struct reservations *reservations, uint32_t at)
{
    uint32_t worker = line_place_at(reservations->pool, at)->count;
    reservations->lines[worker].spent++;
    if (!reservations_index_covers(&reservations->index, worker))
        return;
    reservations_index_take_out(&reservations->index, worker, at, INDEX_BEGUN);
    reservations_index_put(&reservations->index, worker, at, INDEX_SPENT);
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
        else if (place->count != TAKEN)
            spend_place(reservations, at);
    }
    reservations->of_job[job] = LINE_END;
}

void reservations_set_remaining(struct reservations *reservations, uint32_t job, double work_s)
{
    /* Work that nobody has seen may be set again. */
    if (!reservations->begun[job] &&
        (reservations->of_job[job] != LINE_END || reservations_index_is_made(&reservations->index)))
        begin(reservations, job);
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
    at->count = worker;
    if (reservations_index_covers(&reservations->index, worker)) {
        reservations_index_arrive(&reservations->index, worker, place);
        reservations_index_put(&reservations->index, worker, place, part_of(reservations, at->job));
    }
    if (is_spent(reservations, at)) {
        line->spent++;
        return;
    }
    at->item = reservations->of_job[at->job];
    reservations->of_job[at->job] = place;
}

/* A place that was taken has left its line. */
static void let_go(const struct reservations *reservations, uint32_t place)
{
    struct line_place *at = line_place_at(reservations->pool, place);
    if (is_spent(reservations, at))
        line_pool_give(reservations->pool, place);
    else
        at->count = NOWHERE;
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
    let_go(reservations, place);
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
static uint32_t before_least(struct reservations *reservations,
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
    reservations->index.looked_at += n;
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

/* --- with an index --- */

/* From now on the worker's line keeps those that are taken until they are at its head; `passed` are
 * numbers of the order of arrival. Of those in the line all wait, and have tasks. */
static bool index_worker(struct reservations *reservations, uint32_t worker)
{
    struct reservations_index *index = &reservations->index;
    if (index->refused || (!reservations_index_is_made(index) &&
                           !reservations_index_make(index, reservations->begun, reservations->jobs,
                                                    reservations->workers)))
        return false;
    reservations_index_cover(index, worker);
    for (uint32_t at = reservations->lines[worker].line.head; at != LINE_END;
         at = line_place_at(reservations->pool, at)->next) {
        reservations_index_arrive(index, worker, at);
        reservations_index_put(index, worker, at,
                               part_of(reservations, line_place_at(reservations->pool, at)->job));
    }
    return true;
}

/* In the order of arrival, as without an index. */
static uint32_t look_through(struct reservations *reservations,
                             const struct reservations_line *line)
{
    uint32_t best = line->line.head;
    double least_s = reservations->remaining_s[line_place_at(reservations->pool, best)->job];
    for (uint32_t at = best; at != LINE_END; at = line_place_at(reservations->pool, at)->next) {
        const struct line_place *place = line_place_at(reservations->pool, at);
        double work_s = reservations->remaining_s[place->job];
        reservations->index.looked_at++;
        if (place->count != TAKEN && work_s < least_s && !rounding_equal(work_s, least_s)) {
            least_s = work_s;
            best = at;
        }
    }
    return best;
}

static uint32_t indexed_next(struct reservations *reservations, uint32_t worker)
{
    struct reservations_line *line = &reservations->lines[worker];
    struct reservations_index *index = &reservations->index;
    uint32_t head = line->line.head;
    if (reservations_index_order(index, head) < line->passed[RESERVATIONS_PASSED_MAX - 1] ||
        is_spent(reservations, line_place_at(reservations->pool, head)))
        return head;
    if (line->spent > 0)
        return reservations_index_spent(index, worker);
    uint32_t least = reservations_index_least(index, worker);
    if (least == INDEX_AMBIGUOUS)
        least = look_through(reservations, line);
    pass_over(line, reservations_index_order(index, least));
    return least;
}

static uint32_t take_indexed(struct reservations *reservations, uint32_t worker)
{
    struct reservations_line *line = &reservations->lines[worker];
    struct line_pool *pool = reservations->pool;
    uint32_t place = indexed_next(reservations, worker);
    uint32_t job = line_place_at(pool, place)->job;
    enum index_part part = part_of(reservations, job);
    reservations_index_take_out(&reservations->index, worker, place, part);
    line->spent -= part == INDEX_SPENT ? 1 : 0;
    line_place_at(pool, place)->count = TAKEN;
    for (uint32_t head = line->line.head;
         head != LINE_END && line_place_at(pool, head)->count == TAKEN; head = line->line.head) {
        line_remove(pool, &line->line, LINE_END);
        let_go(reservations, head);
    }
    if (line->line.head == LINE_END) {
        reservations_index_uncover(&reservations->index, worker);
        for (int k = 0; k < RESERVATIONS_PASSED_MAX; k++)
            line->passed[k] = 0;
    }
    return job;
}

/* --- whichever --- */

uint32_t reservations_take(struct reservations *reservations, uint32_t worker)
{
    struct reservations_line *line = &reservations->lines[worker];
    uint32_t before = LINE_END;
    uint32_t ahead = 0;
    line->waiting--;
    if (reservations_index_covers(&reservations->index, worker))
        return take_indexed(reservations, worker);
    if (!first_is_next(reservations, line)) {
        /* One of these is behind. Which one makes no difference until somebody is passed over, and
         * by then all of them are taken. */
        if (line->spent > 0) {
            line->spent--;
            line->taken++;
            return RESERVATIONS_NO_JOB;
        }
        drop_taken(reservations, line);
        if (line->waiting >= INDEXED_FROM && index_worker(reservations, worker))
            return take_indexed(reservations, worker);
        before = before_least(reservations, line, &ahead);
    }
    uint32_t job = leave(reservations, line, before, ahead);
    if (reservations->remaining_s[job] == 0)
        line->spent--;
    else if (ahead > 0)
        pass_over(line, ahead);
    return job;
}
