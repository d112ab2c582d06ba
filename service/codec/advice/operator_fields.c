#include "codec/advice/operator_fields.h"

#define DYNAMIC "spark.dynamicAllocation."

const struct operator_field operator_fields[OPERATOR_FIELDS] = {
    {"spark.executor.instances", "executor", "instances", false},
    {"spark.executor.cores", "executor", "cores", false},
    {"spark.kubernetes.executor.request.cores", "executor", "coreRequest", true},
    {"spark.kubernetes.executor.limit.cores", "executor", "coreLimit", true},
    {"spark.executor.memory", "executor", "memory", true},
    {"spark.executor.memoryOverhead", "executor", "memoryOverhead", true},
    {DYNAMIC "enabled", "dynamicAllocation", "enabled", false},
    {DYNAMIC "initialExecutors", "dynamicAllocation", "initialExecutors", false},
    {DYNAMIC "minExecutors", "dynamicAllocation", "minExecutors", false},
    {DYNAMIC "maxExecutors", "dynamicAllocation", "maxExecutors", false},
    {DYNAMIC "shuffleTracking.enabled", "dynamicAllocation", "shuffleTrackingEnabled", false},
};

size_t operator_field_find(struct strview key)
{
    size_t i = 0;
    while (i < OPERATOR_FIELDS && !strview_is(key, operator_fields[i].key))
        i++;
    return i;
}

static bool operator_is_whole(const char *value)
{
    return value[0] != '\0' && strspn(value, "0123456789") == strlen(value);
}

bool operator_field_is_scalar(const struct operator_field *field, const char *value)
{
    return !field->is_text &&
           (operator_is_whole(value) || strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
}
