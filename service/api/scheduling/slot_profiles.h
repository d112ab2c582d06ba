#ifndef API_SCHEDULING_SLOT_PROFILES_H
#define API_SCHEDULING_SLOT_PROFILES_H

#include "api/api.h"
#include "codec/scheduling/slot_plan.h"

/*
 * The profiles of the jobs that name an application, at HTTP_IO where there are any, in one
 * transaction: what its recent runs show (api/advice/recent_runs.h), as maps and reduces
 * (core/history/map_reduce.h). Faults stand at the application: there is none of that name, or its
 * runs do not say enough.
 */
enum pv_code slot_profiles_load(struct api *api,
                                struct http_request *request,
                                struct codec_slot_plan *asked,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
