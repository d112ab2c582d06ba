#ifndef CORE_JOBLOG_SPARK_EXIT_REASON_H
#define CORE_JOBLOG_SPARK_EXIT_REASON_H

#include "core/joblog/common/json.h"

/* Did memory end an executor, by the reason that Spark logged? */
enum exit_reason {
    EXIT_OTHERWISE,
    EXIT_OUT_OF_MEMORY, /* the JVM: exit code 52, or an OutOfMemoryError */
    EXIT_MEMORY_LIMIT   /* its container exceeded its memory: exit code 137, or the words of YARN
                           and Kubernetes for that */
};

/* text.at may be NULL. */
enum exit_reason exit_reason_of(struct json_text text);

#endif
