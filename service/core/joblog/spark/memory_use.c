#include "core/joblog/spark/memory_use.h"

const struct memory_use memory_use_unknown = {-1, -1, -1, -1, -1, -1, -1, -1, -1};

/* The sum of what is known. */
static int64_t sum_known(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return log_add(a, b);
}

void memory_use_set_peaks(const struct memory_use *memory, struct amounts *amounts)
{
    int64_t others = sum_known(memory->python_resident, memory->other_resident);
    amounts->of[AMOUNT_PEAK_HEAP_BYTES] = memory->heap;
    amounts->of[AMOUNT_PEAK_UNIFIED_BYTES] = memory->unified;
    amounts->of[AMOUNT_PEAK_STORAGE_BYTES] = memory->storage;
    amounts->of[AMOUNT_PEAK_OFF_HEAP_BYTES] = memory->off_heap;
    amounts->of[AMOUNT_PEAK_NON_HEAP_BYTES] = sum_known(memory->non_heap, memory->direct);
    amounts->of[AMOUNT_PEAK_PROCESS_BYTES] =
        memory->jvm_resident > 0 ? sum_known(memory->jvm_resident, others) : -1;
    amounts->of[AMOUNT_PEAK_PYTHON_BYTES] = memory->python_resident;
}
