#ifndef CORE_JOBLOG_SPARK_SPARKLOG_H
#define CORE_JOBLOG_SPARK_SPARKLOG_H

#include "core/joblog/common/log_reader.h"

/*
 * Spark event logs. run->advice_id is the property spark.provisor.adviceId when the log holds a
 * well-formed one.
 */
extern const struct log_kind sparklog_kind;

#endif
