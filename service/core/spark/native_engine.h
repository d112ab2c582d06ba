#ifndef CORE_SPARK_NATIVE_ENGINE_H
#define CORE_SPARK_NATIVE_ENGINE_H

#include "core/history/run.h"

/*
 * Plugins that execute Spark's operators natively, in memory off the heap or on a GPU. An operator
 * that the plugin does not know falls back to the JVM and needs the heap then, so that peaks of runs
 * without a fallback do not show how much heap is needed.
 */

/* The properties that load plugins, ascending. */
enum { NATIVE_ENGINE_KEYS = 3 };
extern const char *const native_engine_keys[NATIVE_ENGINE_KEYS];

/* The name of the plugin ("Gluten") that a comma-separated list of classes loads; NULL: none that is
 * known. */
const char *native_engine_of_classes(struct strview classes);

/* The first plugin that a property of the run loads; NULL: none that is known. */
const char *native_engine_of_run(const struct run *run);

/* Removes from a comma-separated list, in place, all but the classes of plugins that are known. */
void native_engine_keep(char *classes);

#endif
