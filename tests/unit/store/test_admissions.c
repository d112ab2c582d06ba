/* Admissions on a real PostgreSQL. */
#include "database.h"
#include "store/clusters/admission.h"
#include "store/store_internal.h"

static struct database db;

static void execute(struct store_tx *tx, const char *text)
{
    struct pv_error err = {0};
    struct sql sql;
    tx_sql(tx, &sql, text);
    DO(tx_defer(tx, &sql, &err));
}

/* Of three admissions that are over, two are expired by a call that may expire two. */
static void expired_admissions_are_counted(void)
{
    struct principal who = database_team(&db, "expired");
    struct pv_error err = {0};
    struct store_tx *tx = NULL;
    int64_t expired = -1;
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    execute(tx, "INSERT INTO provisor.cluster (team_id, id, name, label_keys, label_values)"
                " VALUES ($1, gen_random_uuid(), 'c', '{}', '{}')");
    execute(tx, "INSERT INTO provisor.admission"
                " (team_id, id, cluster_id, application, cores, granted_cores, starts_at,"
                " expires_at) SELECT c.team_id, gen_random_uuid(), c.id, 'a', 1, 1,"
                " now() - interval '2 hours', now() + hours * interval '1 hour'"
                " FROM provisor.cluster c, (VALUES (-1), (-1), (-1), (1)) AS h (hours)"
                " WHERE c.team_id = $1");
    DO(store_commit(&tx, &err));
    DO(store_admissions_expire(db.store, 2, &expired, &err));
    CHECK(expired == 2);
    DO(store_admissions_expire(db.store, 2, &expired, &err));
    CHECK(expired == 1);
    DO(store_admissions_expire(db.store, 2, &expired, &err));
    CHECK(expired == 0);
}

int main(void)
{
    db = database_open(1);
    expired_admissions_are_counted();
    database_close(&db);
    return 0;
}
