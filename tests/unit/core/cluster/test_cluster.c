/* What a use needs of a registered cluster. */
#include <criterion/criterion.h>

#include "core/cluster/cluster.h"

Test(cluster, what_it_lacks_is_named_at_its_name)
{
    const struct cluster cluster = {.name = strview_of("lab")};
    struct pv_error err = {0};
    cr_expect_eq(cluster_need(&cluster, 4, "executors", "/cluster", &err), PV_OK);
    cr_expect_eq(cluster_need(&cluster, RUN_UNKNOWN, "executors", "/cluster", &err), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].code, "cluster_attribute_missing");
    cr_expect_str_eq(err.faults[0].at, "/cluster");
    cr_expect(strstr(err.faults[0].detail, "\"lab\"") != NULL);
}

Test(cluster, cores_are_counted_within_the_bound)
{
    int64_t cores = 0;
    struct pv_error err = {0};
    cr_expect_eq(cluster_count_cores(8, 4, 32, "/cluster", &cores, &err), PV_OK);
    cr_expect_eq(cores, 32);
    cr_expect_eq(cluster_count_cores(8, 4, 31, "/cluster", &cores, &err), PV_E_INVALID);
    struct pv_error overflow = {0};
    cr_expect_eq(cluster_count_cores(INT64_MAX, 2, INT64_MAX, "/cluster", &cores, &overflow),
                 PV_E_INVALID);
    cr_expect_str_eq(overflow.faults[0].code, "out_of_range");
}
