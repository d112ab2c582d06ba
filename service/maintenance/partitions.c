#include "log/log.h"
#include "maintenance/pass_internal.h"
#include "store/maintenance/maintenance.h"

enum pv_code partitions_make(struct pass *pass, struct pv_error *err)
{
    for (;;) {
        struct arena arena;
        struct strview name = {0};
        bool go_on;
        enum pv_code code = pass_may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        arena_init(&arena, 0);
        code = store_partition_make(pass->store, &arena, pass->config->partition_months_ahead,
                                    &name, err);
        bool made = code == PV_OK && name.at != NULL;
        pass->tally->partitions_made += made;
        if (made)
            LOG_EVENT(LOG_INFO, "maintenance.partition_made", NULL, LOG_TEXT("name", name.at));
        arena_fini(&arena);
        if (!made)
            return pass_unless_busy(code, "make_partitions");
    }
}

enum pv_code partitions_drop(struct pass *pass, struct pv_error *err)
{
    for (;;) {
        struct arena arena;
        struct strview name = {0};
        bool go_on;
        enum pv_code code = pass_may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        arena_init(&arena, 0);
        code = store_partition_drop(pass->store, &arena, pass->config->audit_retention_days,
                                    pass->config->advice_retention_days, &name, err);
        bool dropped = code == PV_OK && name.at != NULL;
        pass->tally->partitions_dropped += dropped;
        if (dropped)
            LOG_EVENT(LOG_INFO, "maintenance.partition_dropped", NULL, LOG_TEXT("name", name.at));
        arena_fini(&arena);
        if (!dropped)
            return pass_unless_busy(code, "drop_partitions");
    }
}
