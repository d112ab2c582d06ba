#ifndef API_ADVICE_ADVISED_RUNS_H
#define API_ADVICE_ADVISED_RUNS_H

#include "api/api.h"
#include "core/history/run.h"

/*
 * Count how a run that was just stored compares with the advice it followed: inside the predicted
 * interval or not, deadline met or missed. Reads the advice, where the run names one; what cannot
 * be read is not counted.
 */
void advised_runs_count(struct api *api, struct http_request *request, const struct run *run);

#endif
