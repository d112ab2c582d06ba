/*
 * Prints what the contract tests compare with openapi/provisor.yaml and docs/problems.yaml:
 *   call METHOD TEMPLATE ACCESS
 *   problem NAME STATUS
 */
#include <stdio.h>

#include "api/api.h"
#include "http/problem.h"

int main(void)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    static const char *const access[] = {"public", "read", "write", "admin"};
    for (const struct http_route *route = api_routes; route->template != NULL; route++)
        printf("call %s %s %s\n", methods[route->method], route->template, access[route->access]);
    /* These three are between the functions of the program and no problems. */
    for (int code = 0; code < PV_CODE_COUNT; code++)
        if (code != PV_OK && code != PV_E_DEFER && code != PV_E_PARK)
            printf("problem %s %u\n", pv_code_name((enum pv_code)code),
                   http_status_of((enum pv_code)code));
    return 0;
}
