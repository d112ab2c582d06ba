#ifndef CORE_JOBLOG_SPARK_EXIT_REASON_H
#define CORE_JOBLOG_SPARK_EXIT_REASON_H

#include "core/joblog/common/json.h"

/* Why an executor ended, by the reason that Spark logged. */
enum exit_reason {
    EXIT_OTHERWISE,
    EXIT_OUT_OF_MEMORY, /* the JVM: exit code 52, or an OutOfMemoryError */
    EXIT_MEMORY_LIMIT,  /* its container exceeded its memory: exit code 137, or the words of YARN
                           and Kubernetes for that */
    EXIT_LOST           /* the platform took it away: a spot interruption, a preemption, a
                           decommission, the loss of its node or worker */
};

/* text.at may be NULL. */
enum exit_reason exit_reason_of(struct json_text text);

#endif
