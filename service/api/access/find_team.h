#ifndef API_ACCESS_FIND_TEAM_H
#define API_ACCESS_FIND_TEAM_H

#include "api/api.h"

/* The id of the team of that name, looked for as the caller, who must be of the operators' team:
 * PV_E_FORBIDDEN else. id stays as it is where *found is false. */
enum pv_code api_team_find(struct api *api,
                           struct http_request *request,
                           struct strview name,
                           char id[37],
                           bool *found,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
