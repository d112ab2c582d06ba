#include "operation/turns.h"

#include <string.h>

size_t turns_count(const struct turns *turns, enum turn_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < turns->n; i++)
        count += turns->items[i].state == state;
    return count;
}

static bool turns_same_team(const struct turn *a, const struct turn *b)
{
    return strcmp(a->team_id, b->team_id) == 0;
}

static size_t team_working(const struct turns *turns, const struct turn *of)
{
    size_t count = 0;
    for (size_t i = 0; i < turns->n; i++)
        count += turns->items[i].state == TURN_WORKING && turns_same_team(&turns->items[i], of);
    return count;
}

static struct turns_team *find_team(struct turns *turns, const char *team_id)
{
    for (size_t i = 0; i < TURNS_TEAMS; i++)
        if (strcmp(turns->teams[i].team_id, team_id) == 0)
            return &turns->teams[i];
    return NULL;
}

/* Of more teams than there is room for, the one that worked longest ago is forgotten. */
static void note_worked(struct turns *turns, const struct turn *of, uint64_t now_ns)
{
    struct turns_team *team = find_team(turns, of->team_id);
    if (team == NULL) {
        team = &turns->teams[0];
        for (size_t i = 1; i < TURNS_TEAMS; i++)
            if (turns->teams[i].worked_ns < team->worked_ns)
                team = &turns->teams[i];
        memcpy(team->team_id, of->team_id, sizeof team->team_id);
    }
    team->worked_ns = now_ns;
}

/* When the team last had a worker. 0: never, or so long ago that it is forgotten. */
static uint64_t last_worked_ns(struct turns *turns, const struct turn *of)
{
    const struct turns_team *team = find_team(turns, of->team_id);
    return team == NULL ? 0 : team->worked_ns;
}

static bool comes_before(struct turns *turns, const struct turn *a, const struct turn *b)
{
    if (turns_same_team(a, b))
        return a->since_ns < b->since_ns;
    size_t working_a = team_working(turns, a);
    size_t working_b = team_working(turns, b);
    if (working_a != working_b)
        return working_a < working_b;
    uint64_t worked_a_ns = last_worked_ns(turns, a);
    uint64_t worked_b_ns = last_worked_ns(turns, b);
    return worked_a_ns != worked_b_ns ? worked_a_ns < worked_b_ns : a->since_ns < b->since_ns;
}

/* The one that waits whose turn is next; n: none waits. */
static size_t find_next(struct turns *turns)
{
    size_t next = turns->n;
    for (size_t i = 0; i < turns->n; i++)
        if (turns->items[i].state == TURN_WAITING &&
            (next == turns->n || comes_before(turns, &turns->items[i], &turns->items[next])))
            next = i;
    return next;
}

size_t turns_give(struct turns *turns, uint64_t now_ns)
{
    if (turns_count(turns, TURN_WORKING) >= turns->workers)
        return turns->n;
    size_t next = find_next(turns);
    if (next == turns->n)
        return turns->n;
    struct turn *turn = &turns->items[next];
    turn->state = TURN_WORKING;
    turn->began = true;
    turn->since_ns = now_ns;
    turn->bytes = 0;
    note_worked(turns, turn, now_ns);
    return next;
}

bool turns_is_over(const struct turns *turns, size_t at, uint64_t now_ns)
{
    const struct turn *turn = &turns->items[at];
    if (turn->state != TURN_WORKING || now_ns - turn->since_ns < turns->slice_ns)
        return false;
    size_t own = team_working(turns, turn);
    for (size_t i = 0; i < turns->n; i++) {
        const struct turn *other = &turns->items[i];
        if (other->state == TURN_WAITING &&
            (turns_same_team(other, turn) || team_working(turns, other) < own))
            return true;
    }
    return false;
}

bool turns_pause(struct turns *turns, size_t at, size_t bytes, uint64_t now_ns)
{
    struct turn *turn = &turns->items[at];
    size_t paused = 0;
    size_t held = 0;
    for (size_t i = 0; i < turns->n; i++)
        if (turns->items[i].state == TURN_WAITING && turns->items[i].began) {
            paused++;
            held += turns->items[i].bytes;
        }
    if (paused > 0 && (held > turns->paused_bytes_max || bytes > turns->paused_bytes_max - held))
        return false;
    turn->state = TURN_WAITING;
    turn->since_ns = now_ns;
    turn->bytes = bytes;
    note_worked(turns, turn, now_ns);
    return true;
}

void turns_leave(struct turns *turns, size_t at, uint64_t now_ns)
{
    struct turn *turn = &turns->items[at];
    if (turn->state == TURN_WORKING)
        note_worked(turns, turn, now_ns);
    *turn = (struct turn){.state = TURN_NONE};
}

enum turns_room turns_room(const struct turns *turns)
{
    size_t working = turns_count(turns, TURN_WORKING);
    size_t waiting = turns_count(turns, TURN_WAITING);
    if (turns_count(turns, TURN_NONE) == 0)
        return TURNS_FULL;
    if (working + waiting < turns->workers)
        return TURNS_IDLE;
    for (size_t i = 0; i < turns->n; i++)
        if (turns->items[i].state == TURN_WAITING && !turns->items[i].began)
            return TURNS_FULL;
    return TURNS_BUSY;
}

bool turns_bars(const struct turns *turns, const char *team_id)
{
    size_t held = 0;
    for (size_t i = 0; i < turns->n; i++)
        held += turns->items[i].state != TURN_NONE && strcmp(turns->items[i].team_id, team_id) == 0;
    size_t free = turns_count(turns, TURN_NONE);
    return held > 0 && (2 * held >= free || 2 * free <= turns->n);
}
