#include "command/quotas.h"

void quotas_of_config(const struct config *config, int64_t quotas[QUOTAS])
{
    quotas[QUOTA_APPLICATIONS] = config->quota_applications;
    quotas[QUOTA_RUNS] = config->quota_runs;
    quotas[QUOTA_ADVICE] = config->quota_advice;
    quotas[QUOTA_TOKENS] = config->quota_tokens;
    quotas[QUOTA_OPERATIONS] = config->quota_operations;
    quotas[QUOTA_REPLIES] = config->quota_replies;
    quotas[QUOTA_BYTES] = config->quota_bytes;
}
