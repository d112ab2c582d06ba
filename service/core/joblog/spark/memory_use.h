#ifndef CORE_JOBLOG_SPARK_MEMORY_USE_H
#define CORE_JOBLOG_SPARK_MEMORY_USE_H

#include "core/joblog/spark/state.h"

/* What Spark calls executor metrics: memory in use, in bytes; -1 where the log does not say. */
struct memory_use {
    int64_t heap;
    int64_t non_heap;
    int64_t storage;
    int64_t unified;
    int64_t off_heap;
    int64_t direct;
    int64_t jvm_resident;
    int64_t python_resident;
    int64_t other_resident;
};

/* Rows of a table of fields that reads them into `member` of `type`, in the order Spark writes them. */
#define MEMORY_USE_FIELDS(type, member)                                                            \
    JSON_FIELD("JVMHeapMemory", JSON_INT, type, member.heap),                                      \
        JSON_FIELD("JVMOffHeapMemory", JSON_INT, type, member.non_heap),                           \
        JSON_FIELD("OnHeapStorageMemory", JSON_INT, type, member.storage),                         \
        JSON_FIELD("OnHeapUnifiedMemory", JSON_INT, type, member.unified),                         \
        JSON_FIELD("OffHeapUnifiedMemory", JSON_INT, type, member.off_heap),                       \
        JSON_FIELD("DirectPoolMemory", JSON_INT, type, member.direct),                             \
        JSON_FIELD("ProcessTreeJVMRSSMemory", JSON_INT, type, member.jvm_resident),                \
        JSON_FIELD("ProcessTreePythonRSSMemory", JSON_INT, type, member.python_resident),          \
        JSON_FIELD("ProcessTreeOtherRSSMemory", JSON_INT, type, member.other_resident)

/* Before anything is read. */
extern const struct memory_use memory_use_unknown;

/* The peaks of *amounts that follow from it; its sums are left alone. */
void memory_use_set_peaks(const struct memory_use *memory, struct amounts *amounts);

#endif
