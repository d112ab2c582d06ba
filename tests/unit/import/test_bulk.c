/* What an import says when it cannot begin. */
#include "import/bulk.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(bulk, .timeout = 20);

Test(bulk, a_database_that_cannot_be_reached_is_named)
{
    static const struct config config;
    static atomic_bool stop;
    struct pv_error err = {.code = PV_OK};
    struct find find = {.items = NULL};
    struct store *store = NULL;
    struct bulk *bulk = NULL;
    cr_assert_eq(store_open(&(struct store_options){.conninfo = "host=/nonexistent",
                                                    .connections_max = 1,
                                                    .wait_ms = 100,
                                                    .statement_timeout_ms = 100},
                            &store, &err),
                 PV_OK);
    const struct bulk_options options = {.config = &config, .store = store, .stop = &stop};
    cr_expect_eq(bulk_start(&options, &find, &bulk, &err), PV_E_UNAVAILABLE);
    cr_expect_not_null(strstr(err.detail, "database"), "%s", err.detail);
    cr_expect_null(bulk);
    store_close(store);
}
