#ifndef BASE_DUTY_H
#define BASE_DUTY_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the calling thread is there for. There are many threads that wait for PostgreSQL and few
 * that compute, one for each core: what computes on the former keeps others from their data, what
 * waits on the latter leaves cores idle. So each thread says what its duty is, and whoever waits or
 * works says so here; what is out of place is counted (provisor_misplaced_work_total) and should
 * never happen.
 */
enum duty {
    DUTY_ANY, /* threads of their own, and programs with one thread */
    DUTY_WAIT,
    DUTY_COMPUTE
};

/* For the calling thread, once at its start. */
void duty_set(enum duty duty);

/* Texts of up to n bytes may be parsed by any thread. For the process, before its threads start; at
 * first there is no bound. */
void duty_set_light(size_t n);

/* What the calling thread does from time to time while it works for long, such as to give way to
 * others; NULL, as at first: nothing. */
void duty_set_pause(void (*pause)(void));

/* The calling thread works on. For what may take milliseconds in one call: several times in each.
 */
void duty_works_on(void);

/* The calling thread is about to wait for PostgreSQL. */
void duty_waits(void);
/* The calling thread is about to parse a text of n bytes. */
void duty_parses(size_t n);

enum duty_fault { DUTY_FAULT_WAIT, DUTY_FAULT_PARSE, DUTY_FAULT_COUNT };

/* How often the calling thread did what is out of place, since it began. */
uint64_t duty_own_faults(void);

/* How often that was out of place since the process started. Safe from any thread. */
uint64_t duty_faults(enum duty_fault fault);

#endif
