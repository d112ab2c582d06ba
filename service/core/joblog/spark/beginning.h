#ifndef CORE_JOBLOG_SPARK_BEGINNING_H
#define CORE_JOBLOG_SPARK_BEGINNING_H

#include "core/history/log_origin.h"
#include "core/joblog/common/json.h"

/*
 * How a log begins, so that two logs of one application id are known apart (core/history/
 * log_origin.h): the events before the first task, stage or job ends. Of these the names and
 * instants count: an instant in milliseconds hardly happens twice, and it stays the same when a log
 * is cut, or when names of hosts in it are replaced. An event without an instant, or one that came
 * before, does not count.
 */
struct log_beginning {
    uint64_t cluster; /* 0: no property of a cluster was there */
    bool cluster_seen;
    bool over; /* later events do not count */
    uint32_t events[LOG_EVENTS_MAX];
    size_t n;
};

/* A sound line of the log, unless the beginning is over. */
void beginning_see_event(struct log_beginning *beginning, struct strview name, struct strview line);

/*
 * A property of the first environment that the log holds. What names the cluster counts: its id on
 * Databricks, the master, and the port and the start that the driver got.
 */
void beginning_see_property(struct log_beginning *beginning,
                            struct json_text key,
                            struct json_text value);

/* False: no memory. */
bool beginning_build(const struct log_beginning *beginning,
                     struct arena *arena,
                     struct strview *bytes);

#endif
