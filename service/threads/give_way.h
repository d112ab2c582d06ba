#ifndef THREADS_GIVE_WAY_H
#define THREADS_GIVE_WAY_H

#include <stdint.h>

/*
 * Linux takes a core from a thread that computes at a tick of its clock, every 4 ms by default, and
 * may let those that wait for it sit through several, whatever their priorities: between groups of
 * processes (control groups, sessions) niceness does not count. A thread that sleeps, however
 * briefly, leaves its core to them at once.
 */

/* The calling thread pauses for a moment after so much time of a processor, whenever it asks below
 * or by duty_works_on. 0: never, as at first. */
void give_way_every(uint64_t ns);

/* Pause if it is time to. */
void give_way(void);

#endif
