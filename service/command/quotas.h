#ifndef COMMAND_QUOTAS_H
#define COMMAND_QUOTAS_H

#include "config/config.h"
#include "store/store.h"

/* The quotas of the settings, as the store wants them. */
void quotas_of_config(const struct config *config, int64_t quotas[QUOTAS]);

#endif
