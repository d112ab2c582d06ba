/* What a pass of the maintenance does when another process takes its lease. */
#include "../store/database.h"
#include "maintenance/pass_internal.h"
#include "store/maintenance/maintenance.h"
#include "threads/clock.h"

static struct database db;
static atomic_bool stop;

static struct pass pass_of(const struct config *config, struct maintenance_tally *tally)
{
    struct pass pass = {
        .store = db.store, .config = config, .stop = &stop, .tally = tally, .lease_s = 60};
    clock_uuid7(pass.holder);
    return pass;
}

/* The lease is asked for again where a quarter of it is over, and a lost one ends the pass. */
static void a_lost_lease_is_not_forgotten(void)
{
    static const struct config config;
    struct maintenance_tally tally = {.done = false};
    struct pv_error err = {0};
    struct pass pass = pass_of(&config, &tally);
    char other[37];
    bool go_on = false;
    bool claimed = false;
    DO(pass_may_go_on(&pass, &go_on, &err));
    CHECK(go_on && pass.renew_at_ns > clock_monotonic_ns());
    DO(store_maintenance_end(db.store, pass.holder, &err));
    clock_uuid7(other);
    DO(store_maintenance_claim(db.store, other, 0, 60, &claimed, &err));
    CHECK(claimed);
    pass.renew_at_ns = 0;
    for (int i = 0; i < 3; i++) {
        DO(pass_may_go_on(&pass, &go_on, &err));
        CHECK(!go_on && pass_is_over(&pass));
    }
    DO(store_maintenance_end(db.store, other, &err));
    DO(pass_may_go_on(&pass, &go_on, &err));
    CHECK(!go_on); /* what another has done meanwhile is not known */
}

/* One that could not be renewed is asked for again before anything else is done. */
static void a_question_without_an_answer_is_asked_again(void)
{
    static const struct config config;
    struct maintenance_tally tally = {.done = false};
    struct pv_error err = {0};
    struct store *away;
    struct pass pass = pass_of(&config, &tally);
    bool go_on = false;
    DO(store_open(&(struct store_options){.conninfo = "host=/nonexistent",
                                          .connections_max = 1,
                                          .wait_ms = 100,
                                          .statement_timeout_ms = 100},
                  &away, &err));
    pass.store = away;
    for (int i = 0; i < 2; i++)
        REFUSES(PV_E_UNAVAILABLE, pass_may_go_on(&pass, &go_on, &err));
    store_close(away);
    pass.store = db.store;
    DO(pass_may_go_on(&pass, &go_on, &err));
    CHECK(go_on);
    DO(store_maintenance_end(db.store, pass.holder, &err));
}

int main(void)
{
    db = database_open(2);
    a_lost_lease_is_not_forgotten();
    a_question_without_an_answer_is_asked_again();
    database_close(&db);
    return 0;
}
