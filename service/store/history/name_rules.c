#include "store/history/name_rules.h"

#include "store/store_internal.h"

/* Three arrays of one length, side by side. */
static enum pv_code read_rules(const PGresult *result,
                               struct arena *arena,
                               struct name_rules *rules,
                               struct pv_error *err)
{
    struct row row = row_at(result, 0, arena);
    struct name_rules read = {0};
    read.version = row_int(&row);
    read.customized = row_bool(&row);
    size_t n_patterns;
    size_t n_applications;
    const struct strview *names = row_texts(&row, &read.n);
    const struct strview *patterns = row_texts(&row, &n_patterns);
    const struct strview *applications = row_texts(&row, &n_applications);
    PV_TRY(row_done(&row, err));
    if ((n_patterns != read.n || n_applications != read.n))
        return pv_fail(err, PV_E_INTERNAL, "the rules of names are out of step");
    struct name_rule *made = arena_array(arena, read.n, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++)
        made[i] = (struct name_rule){names[i], patterns[i], applications[i]};
    read.rules = read.customized ? made : name_rules_default;
    if (!read.customized)
        read.n = name_rules_default_n;
    *rules = read;
    return PV_OK;
}

enum pv_code store_name_rules_get(struct store_tx *tx,
                                  struct arena *arena,
                                  struct name_rules *rules,
                                  struct pv_error *err)
{
    struct sql sql;
    PGresult *result;
    tx_sql(tx, &sql,
           "SELECT version, customized, names, patterns, applications FROM provisor.name_rules"
           " WHERE team_id = $1");
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code == PV_OK && row_count(result) > 0)
        code = read_rules(result, arena, rules, err);
    else if (code == PV_OK)
        *rules = (struct name_rules){.rules = name_rules_default, .n = name_rules_default_n};
    PQclear(result);
    return code;
}

/* Changes of one team's rules come one after another, also the first. */
static enum pv_code check_version(struct store_tx *tx, int64_t if_version, struct pv_error *err)
{
    struct sql lock;
    struct sql look;
    PGresult *results[2];
    tx_sql(tx, &lock, "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 7042))");
    tx_sql(tx, &look, "SELECT version FROM provisor.name_rules WHERE team_id = $1");
    PV_TRY(tx_send(tx, &lock, err));
    PV_TRY(tx_send(tx, &look, err));
    PV_TRY(tx_results(tx, results, 2, err));
    int64_t version = 0;
    if (row_count(results[1]) > 0) {
        struct row row = row_at(results[1], 0, NULL);
        version = row_int(&row);
    }
    PQclear(results[0]);
    PQclear(results[1]);
    if (if_version != RUN_UNKNOWN && if_version != version)
        return pv_fail(err, PV_E_PRECONDITION, "the rules are now at version %lld",
                       (long long)version);
    return PV_OK;
}

static enum pv_code put(struct store_tx *tx,
                        bool customized,
                        const struct name_rule rules[],
                        size_t n,
                        int64_t if_version,
                        struct pv_error *err)
{
    PV_TRY(check_version(tx, if_version, err));
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.name_rules AS r"
           " (team_id, customized, names, patterns, applications)"
           " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (team_id) DO UPDATE SET"
           " customized = excluded.customized, names = excluded.names,"
           " patterns = excluded.patterns, applications = excluded.applications,"
           " version = r.version + 1, updated_at = now()");
    sql_bool(&sql, customized);
    sql_texts(&sql, n == 0 ? NULL : &rules->name, n, sizeof *rules);
    sql_texts(&sql, n == 0 ? NULL : &rules->pattern, n, sizeof *rules);
    sql_texts(&sql, n == 0 ? NULL : &rules->application, n, sizeof *rules);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_name_rules_set(struct store_tx *tx,
                                  const struct name_rule rules[],
                                  size_t n,
                                  int64_t if_version,
                                  struct pv_error *err)
{
    PV_TRY(put(tx, true, rules, n, if_version, err));
    return journal_audit(tx, "name_rules.update", "team", strview_of(tx->who.team_id), err);
}

enum pv_code store_name_rules_reset(struct store_tx *tx, int64_t if_version, struct pv_error *err)
{
    PV_TRY(put(tx, false, NULL, 0, if_version, err));
    return journal_audit(tx, "name_rules.delete", "team", strview_of(tx->who.team_id), err);
}

enum pv_code store_names_there(struct store_tx *tx,
                               struct arena *arena,
                               const struct strview names[],
                               size_t n,
                               bool there[],
                               struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT EXISTS (SELECT FROM provisor.application WHERE team_id = $1 AND name = asked)"
           " FROM unnest($2) WITH ORDINALITY AS a (asked, at) ORDER BY at");
    sql_texts(&sql, names, n, sizeof *names);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) != n)
        return pv_fail(err, PV_E_INTERNAL, "names came back miscounted");
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        there[i] = row_bool(&row);
        PV_TRY(row_done(&row, err));
    }
    return PV_OK;
}

enum pv_code store_name_fold(struct store_tx *tx,
                             struct arena *arena,
                             struct strview name,
                             struct name_folding *folding,
                             struct pv_error *err)
{
    bool there = false;
    struct name_rules rules;
    PV_TRY(store_names_there(tx, arena, &name, 1, &there, err));
    PV_TRY(store_name_rules_get(tx, arena, &rules, err));
    return name_fold(rules.rules, there ? 0 : rules.n, name, arena, folding, err);
}
