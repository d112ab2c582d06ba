#include "store/history/name_rules.h"

#include "store/sql/columns.h"

/* Four arrays of one length, side by side; properties that another program wrote are none. */
#define R struct name_rule
static const struct column of_rule[] = {
    {"names", COLUMN_TEXT(R, name)},
    {"patterns", COLUMN_TEXT(R, pattern)},
    {"applications", COLUMN_TEXT(R, application)},
    {"properties", COLUMN_TEXT(R, property),
     .read = "CASE WHEN cardinality(properties) = cardinality(names) THEN properties"
             " ELSE array_fill(NULL::text, ARRAY[cardinality(names)]) END"},
};
static const struct columns rule_columns = {"rule", COLUMNS_OF(of_rule, R)};

#define S struct name_rules
static const struct column of_rules[] = {
    {"version", COLUMN_COUNT(S, version), .computed = true},
    {"customized", COLUMN_BOOLEAN(S, customized)},
    {NULL, COLUMN_STRUCTS(S, rules, n, &rule_columns)},
};
static const struct columns columns = {"rules", COLUMNS_OF(of_rules, S)};

enum pv_code store_name_rules_get(struct store_tx *tx,
                                  struct arena *arena,
                                  struct name_rules *rules,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {rules} FROM provisor.name_rules WHERE team_id = $1", .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    PV_TRY(tx_query(tx, &sql, &result, err));
    *rules = (struct name_rules){.version = 0};
    if (row_count(result) > 0)
        PV_TRY(columns_read_row(result, 0, arena, &columns, rules, err));
    if (!rules->customized) {
        rules->rules = name_rules_default;
        rules->n = name_rules_default_n;
    }
    return PV_OK;
}

/* Changes of one team's rules come one after another, also the first. */
static enum pv_code check_version(struct store_tx *tx, int64_t if_version, struct pv_error *err)
{
    struct sql lock;
    struct sql look;
    results_auto_t results = {{NULL}};
    tx_sql(tx, &lock, "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 7042))");
    tx_sql(tx, &look, "SELECT version FROM provisor.name_rules WHERE team_id = $1");
    PV_TRY(tx_send(tx, &lock, err));
    PV_TRY(tx_send(tx, &look, err));
    PV_TRY(tx_results(tx, results.of, 2, err));
    int64_t version = 0;
    if (row_count(results.of[1]) > 0) {
        struct row row = row_at(results.of[1], 0, NULL);
        version = row_int(&row);
    }
    if (if_version != RUN_UNKNOWN && if_version != version)
        return pv_fail(err, PV_E_PRECONDITION, "the rules are now at version %lld",
                       (long long)version);
    return PV_OK;
}

static enum pv_code name_rules_put(struct store_tx *tx,
                                   bool customized,
                                   const struct name_rule rules[],
                                   size_t n,
                                   int64_t if_version,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.name_rules AS r (team_id, {rules:written})"
        " VALUES ($1, {rules:values}) ON CONFLICT (team_id) DO UPDATE SET"
        " customized = excluded.customized, names = excluded.names,"
        " patterns = excluded.patterns, applications = excluded.applications,"
        " properties = excluded.properties, version = r.version + 1, updated_at = now()",
        .of = {&columns}};
    const struct name_rules made = {.customized = customized, .rules = rules, .n = n};
    struct sql sql;
    PV_TRY(check_version(tx, if_version, err));
    tx_columns(tx, &sql, &statement);
    columns_bind(&sql, &columns, &made);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_name_rules_set(struct store_tx *tx,
                                  const struct name_rule rules[],
                                  size_t n,
                                  int64_t if_version,
                                  struct pv_error *err)
{
    PV_TRY(name_rules_put(tx, true, rules, n, if_version, err));
    return journal_audit(tx, "name_rules.update", "team", strview_of(tx->who.team_id), err);
}

enum pv_code store_name_rules_reset(struct store_tx *tx, int64_t if_version, struct pv_error *err)
{
    PV_TRY(name_rules_put(tx, false, NULL, 0, if_version, err));
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
    return name_fold(rules.rules, there ? 0 : rules.n, name, NULL, arena, folding, err);
}
