#ifndef CORE_SCHEDULING_TASKS_PIGEON_LENGTH_H
#define CORE_SCHEDULING_TASKS_PIGEON_LENGTH_H

#include <stdint.h>

/*
 * The length of a queue, now and as schedulers know it: its master reports it at every multiple of
 * every_s, as it was just before that instant, and a report takes a message. Only the latest two
 * are kept: so reports cost nothing, however many there are.
 */
struct pigeon_length {
    uint64_t report; /* the latest one, from 0, at the start of the simulation */
    uint32_t now;
    uint32_t latest;   /* as that report has it */
    uint32_t previous; /* as the one before had it */
};

static inline void pigeon_length_roll(struct pigeon_length *length, double now_s, double every_s)
{
    uint64_t report = (uint64_t)(now_s / every_s);
    if (report == length->report)
        return;
    length->previous = report == length->report + 1 ? length->latest : length->now;
    length->latest = length->now;
    length->report = report;
}

/* The queue grows, or shrinks. every_s 0: nobody reports. */
static inline void
pigeon_length_change(struct pigeon_length *length, double now_s, double every_s, int64_t by)
{
    if (every_s > 0)
        pigeon_length_roll(length, now_s, every_s);
    length->now = (uint32_t)(length->now + by);
}

/* What a scheduler knows now of reports that were made at reported_s at the latest, which is at most
 * every_s ago. 0: nothing was reported. */
static inline uint32_t
pigeon_length_known(struct pigeon_length *length, double now_s, double reported_s, double every_s)
{
    if (every_s == 0 || reported_s < 0)
        return 0;
    pigeon_length_roll(length, now_s, every_s);
    return (uint64_t)(reported_s / every_s) == length->report ? length->latest : length->previous;
}

#endif
