#ifndef OPERATION_TURNS_H
#define OPERATION_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who works: a process holds more operations than it has workers, so that long ones give way. An
 * operation that has worked for a slice waits while another has its turn, with all that it has in
 * memory, and then goes on from where it was. Teams have equal shares of the workers; a team alone
 * has all of them. Within a team, too, operations take turns.
 *
 * Memory bounds what may wait in the middle of its work: beyond paused_bytes_max an operation goes
 * on, unless it would be the only one, for otherwise large ones could not give way at all.
 *
 * Plain data and decisions; the lock is the caller's.
 */
enum turn_state {
    TURN_NONE,    /* a free place */
    TURN_WAITING, /* held; it has no worker */
    TURN_WORKING,
    TURN_LEAVING /* told to stop while it waited: it ends without a worker */
};

struct turn {
    enum turn_state state;
    bool began;        /* it has worked before: it waits in the middle */
    uint64_t since_ns; /* in this state */
    size_t bytes;      /* what it holds while it waits in the middle */
    char team_id[37];
};

/* When a team last had a worker: remembered after its operations have left, so that a team that
 * had none for long is next, and one whose short operations keep coming has no more than its share.
 */
struct turns_team {
    char team_id[37];
    uint64_t worked_ns;
};
enum { TURNS_TEAMS = 256 };

struct turns {
    struct turn *items; /* one for each place */
    size_t n;
    size_t workers; /* so many work at the same time */
    uint64_t slice_ns;
    size_t paused_bytes_max;
    struct turns_team teams[TURNS_TEAMS];
};

/* How many are in this state. */
size_t turns_count(const struct turns *turns, enum turn_state state);

/*
 * Give a free worker to one that waits: first to the team with the fewest working, of these to the
 * one that worked least recently, and of its operations to the one that has waited longest. The
 * place that got it; n: there is nothing more to give.
 */
size_t turns_give(struct turns *turns, uint64_t now_ns);

/* This one works, has had its slice, and another waits that should work in its stead: one of its
 * own team, or of a team with fewer working. */
bool turns_is_over(const struct turns *turns, size_t at, uint64_t now_ns);

/* It gives way, holding so many bytes. false: too much memory waits already, it goes on. */
bool turns_pause(struct turns *turns, size_t at, size_t bytes, uint64_t now_ns);

/* It has ended or goes back to the queue: its place is free. */
void turns_leave(struct turns *turns, size_t at, uint64_t now_ns);

/*
 * May the process take another operation? With a free worker, any. Without, one that waits for its
 * first turn at a time, of a team that holds at most half as many places as are free. The second
 * half of the places is for teams that have none: so many teams there is room for, at least,
 * however much each of them asks for.
 */
enum turns_room { TURNS_FULL, TURNS_BUSY, TURNS_IDLE };
enum turns_room turns_room(const struct turns *turns);
/* Without a free worker: the team may not have another place. */
bool turns_bars(const struct turns *turns, const char *team_id);

#endif
