/* Proves what names of recurring jobs are folded to, what is left alone, and which rules are
 * refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/rng.h"
#include "core/history/name_folding.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(name_folding, .init = setup, .fini = teardown, .timeout = 20);

static struct name_folding fold_by(const struct name_rule *rules, size_t n, const char *name)
{
    struct name_folding folding;
    cr_assert_eq(name_fold(rules, n, strview_of(name), NULL, &arena, &folding, NULL), PV_OK);
    return folding;
}

static struct name_folding fold(const char *name)
{
    return fold_by(name_rules_default, name_rules_default_n, name);
}

static void expect_folded(const char *name, const char *application)
{
    struct name_folding folding = fold(name);
    cr_expect(strview_is(folding.application, application), "%s became %s", name,
              folding.application.at);
}

static struct name_rule rule_of(const char *pattern, const char *application)
{
    return (struct name_rule){.name = strview_of("mine"),
                              .pattern = strview_of(pattern),
                              .application = strview_of(application)};
}

Test(name_folding, what_changes_from_run_to_run_is_dropped)
{
    expect_folded("nightly-etl-2026-01-05", "nightly-etl");
    expect_folded("nightly_etl_20260105", "nightly_etl");
    expect_folded("nightly-etl 2026.01.05", "nightly-etl");
    expect_folded("nightly-etl-2026-01-05T10:00:00Z", "nightly-etl");
    expect_folded("nightly-etl-2026-01-05T10:00:00.250+00:00", "nightly-etl");
    expect_folded("scheduled__2026-01-05T00:00:00+00:00", "scheduled");
    expect_folded("nightly-etl-2026-01-05 10-00-00", "nightly-etl");
    expect_folded("nightly-etl-20260105-1000", "nightly-etl");
    expect_folded("spark-pi-1767600000", "spark-pi");
    expect_folded("spark-pi-1767600000123", "spark-pi");
    expect_folded("report-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "report");
    expect_folded("report-5c2a9f31b0", "report");
    expect_folded("load/run-17", "load");
    expect_folded("load.attempt_2", "load");
    expect_folded("2026-01-05-nightly", "nightly");
    expect_folded("3f2504e04f8911d39a0c0305e82c3301_nightly", "nightly");
    expect_folded("report-2026-01-05-eu", "report-eu");
    expect_folded("etl-2026-01-05-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "etl");
    expect_folded("t\xc3\xa4glich-2026-01-05", "t\xc3\xa4glich");
}

Test(name_folding, hours_weeks_and_ids_of_orchestrators_are_dropped)
{
    static const char *const names[][2] = {
        {"hourlyLoad-2026-10-05:21", "hourlyLoad"},
        {"hourlyLoad-2026-10-05:7", "hourlyLoad"},
        {"load_20261005T21", "load"},
        {"load_202610052130", "load"},
        {"load_20261005213000", "load"},
        {"load_2026100521", "load"},
        {"20261005213000-load-eu", "load-eu"},
        {"load-20261005213000-eu", "load-eu"},
        {"2026-10-05_03_load", "load"},
        {"load-2026-10-05-24", "load-24"},
        {"load-2026-10-05-03-eu", "load-eu"},
        {"close-2026-11", "close"},
        {"orders_2026W48", "orders"},
        {"orders-2026-W48-3", "orders"},
        {"2026-W05.orders", "orders"},
        {"orders-2026w53-eu", "orders-eu"},
        {"sales-2026Q4", "sales"},
        {"sales_2026-q1_eu", "sales-eu"},
        {"dag__etl__manual__2026-10-05T21:00:00+00:00", "dag__etl"},
        {"dag__etl__scheduled__2026-10-06T00:00:00+00:00", "dag__etl"},
        {"dag.etl.backfill__2026-10-06T00:00:00.123456+00:00", "dag.etl"},
        {"etl-dataset_triggered__2026-10-06T00:00:00+00:00", "etl"},
        {"etl_asset_triggered__2026-10-06T00:00:00+00:00_aB3dE5fG", "etl"},
        {"manual__2026-10-05T21:00:00+00:00__load", "load"},
        {"etl-manual-2026-10-05T210000", "etl"},
        {"dag__scheduled__2026-10-06T00:00:00+00:00__load", "dag-load"},
        {"etl-20261005t021500", "etl"},
        {"etl-2026-10-05t02-15-00z", "etl"},
        {"20261005t021500z-etl", "etl"},
        {"etl-manual__2026-10-05T0215000000", "etl"},
        {"etl-scheduled__2026-10-05T021500.1234560000-a1b2c3d4e", "etl"},
        {"livy-session-42", "interactive session (Livy)"},
        {"livy-session-42-x7kq", "interactive session (Livy)"},
        {"livy-batch-1031", "livy-batch"},
        {"orders-s-1A2B3C4D5E6F7", "orders"},
        {"j-2AXKQ8PL0Z3NM_orders", "orders"},
        {"orders-etl-x7k2m", "orders-etl"},
        {"spark-thrift-7d9f8b6c5-x2k4q", "spark-thrift"},
        {"spark-thrift-7d9f8b6c5-bcdfg", "spark-thrift"},
        {"orders-8f6d2c8b7c3e4a51-driver", "orders"},
        {"orders-1732665600123456789", "orders"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_folded(names[i][0], names[i][1]);
}

Test(name_folding, a_stable_name_is_left_alone)
{
    static const char *const stable[] = {"nightly-etl",
                                         "tpch-q1",
                                         "q66",
                                         "2026-01-05",
                                         "report-2026",
                                         "report-2026-13-05",
                                         "etl-2026-02-30",
                                         "pi-0767600000",
                                         "load-deadbeef",
                                         "build-5c2a9f3",
                                         "run-17",
                                         "v2.1.0",
                                         "etl-2026-01-5",
                                         "load-24",
                                         "load-202610052560",
                                         "orders-2026W54",
                                         "orders-2026Q5",
                                         "close-2026-13",
                                         "close-2026",
                                         "bench-tpcds",
                                         "terasort-256gb",
                                         "shuffle-24hrs",
                                         "load-x7kam",
                                         "manual",
                                         "etl-manual",
                                         "livy-session",
                                         "plan-s-1a2b3c4d5e6f7g8",
                                         "etl-2026-10-05t",
                                         "load-20261005t256000",
                                         "-",
                                         "a{b}",
                                         "nightly2026-01-05"};
    for (size_t i = 0; i < sizeof stable / sizeof *stable; i++) {
        struct name_folding folding = fold(stable[i]);
        cr_expect(strview_is(folding.application, stable[i]), "%s became %s", stable[i],
                  folding.application.at);
        cr_expect_eq(folding.n_applied, 0);
    }
    cr_expect(strview_is(fold("etl-2024-02-29").application, "etl"), "a leap day");
}

Test(name_folding, the_rules_that_applied_are_told_in_order)
{
    struct name_folding folding = fold("etl-2026-01-05-run-3");
    cr_assert_eq(folding.n_applied, 2);
    cr_expect(strview_is(name_rules_default[folding.applied[0]].name, "run number behind"));
    cr_expect(strview_is(name_rules_default[folding.applied[1]].name, "date behind"));
    cr_expect(strview_is(folding.application, "etl"));
}

Test(name_folding, names_of_shells_and_servers_are_sessions)
{
    static const char *const sessions[] = {"Spark shell",
                                           "PySparkShell",
                                           "Databricks Shell",
                                           "Zeppelin",
                                           "SparkR",
                                           "SparkSQL::10.1.2.3",
                                           "Thrift JDBC/ODBC Server",
                                           "Spark Connect server",
                                           "remotesparkmagics-sess1",
                                           "Hive on Spark (sessionId = 1)"};
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        cr_expect(name_is_session(fold(sessions[i]).application), "%s", sessions[i]);
    static const char *const jobs[] = {"Spark shell job", "zeppelin", "shell", "nightly-etl"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        cr_expect_not(name_is_session(fold(jobs[i]).application), "%s", jobs[i]);
}

Test(name_folding, a_rule_about_a_property_is_for_its_value_and_only_at_first)
{
    struct name_rule rules[] = {rule_of("job-{name}-run-{number}", "job {name}"),
                                rule_of("{name}-{date}", "{name}")};
    rules[0].property = strview_of("spark.cluster");
    struct strview values[2] = {strview_of("job-11-run-7"), {NULL, 0}};
    struct name_folding folding;
    cr_assert_eq(name_fold(rules, 2, strview_of("etl"), values, &arena, &folding, NULL), PV_OK);
    cr_expect(strview_is(folding.application, "job 11"));
    cr_expect_eq(folding.n_applied, 1);
    values[0] = strview_of("some cluster");
    cr_assert_eq(name_fold(rules, 2, strview_of("etl-2026-01-05"), values, &arena, &folding, NULL),
                 PV_OK);
    cr_expect(strview_is(folding.application, "etl"), "the value does not match");
    cr_expect(strview_is(fold_by(rules, 2, "job-11-run-7").application, "job-11-run-7"),
              "a name is no value");
}

Test(name_folding, own_rules_capture_drop_and_rename)
{
    const struct name_rule rules[] = {
        rule_of("adhoc-{any}", "adhoc"), rule_of("{word}:{name}#{number}", "{name}"),
        rule_of("{name} on {rest}", "{rest}/{name}"), rule_of("{{{word}}", "braces {{")};
    size_t n = sizeof rules / sizeof *rules;
    for (size_t i = 0; i < n; i++)
        cr_expect_eq(name_rule_check(&rules[i], NULL), PV_OK);
    cr_expect(strview_is(fold_by(rules, n, "adhoc-anna-17").application, "adhoc"));
    cr_expect(strview_is(fold_by(rules, n, "team1:load-a#12").application, "load-a"));
    cr_expect(strview_is(fold_by(rules, n, "sort on eu").application, "eu/sort"));
    cr_expect(strview_is(fold_by(rules, n, "{x}").application, "braces {"));
    cr_expect(strview_is(fold_by(rules, n, "team1:#12").application, "team1:#12"),
              "a token stands for something");
}

Test(name_folding, earlier_tokens_take_as_little_as_possible)
{
    struct name_rule rule = rule_of("{name}-{rest}", "{rest}");
    cr_expect(strview_is(fold_by(&rule, 1, "a-b").application, "b"));
    /* a, b and c go one after another */
    cr_expect(strview_is(fold_by(&rule, 1, "a-b-c-d").application, "d"));
    cr_expect(strview_is(fold_by(&rule, 1, "a-b-c-d-e-f").application, "e-f"),
              "no more than %d passes", NAME_PASSES_MAX);
}

Test(name_folding, malformed_rules_are_refused_where_they_are_wrong)
{
    static const struct {
        const char *pattern;
        const char *application;
        const char *pointer;
    } rows[] = {{"", "x", "/pattern"},
                {"{name", "x", "/pattern"},
                {"{nmae}", "x", "/pattern"},
                {"{name}-{name}", "x", "/pattern"},
                {"{name}{any}", "x", "/pattern"},
                {"{rest}{name}", "x", "/pattern"},
                {"1{sep}2{sep}3{sep}4{sep}5{sep}6{sep}7", "x", "/pattern"},
                {"{name}", "", "/application"},
                {"{name}", "{date}", "/application"},
                {"{name}", "{rest}", "/application"},
                {"{date}", "{name}", "/application"},
                {"{name}", "}{", "/application"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct name_rule rule = rule_of(rows[i].pattern, rows[i].application);
        struct pv_error err;
        pv_error_clear(&err);
        cr_expect_eq(name_rule_check(&rule, &err), PV_E_INVALID, "row %zu", i);
        cr_assert_eq(err.n_faults, 1, "row %zu", i);
        cr_expect_str_eq(err.faults[0].at, rows[i].pointer, "row %zu", i);
    }
    for (size_t i = 0; i < name_rules_default_n; i++)
        cr_expect_eq(name_rule_check(&name_rules_default[i], NULL), PV_OK, "default %zu", i);
}

Test(name_folding, random_names_fold_to_something_that_folds_no_further)
{
    static const char *const pieces[] = {"a",          "-",        "2026-01-05", "T", "10:00",
                                         "1767600000", "_",        "run",        "7", "5c2a9f31b0",
                                         ".",          "\xc3\xa9", "{",          "Z"};
    struct rng rng = rng_make(11, 0);
    for (int i = 0; i < 20000; i++) {
        char name[256] = "";
        size_t n = 1 + rng_next(&rng) % 12;
        for (size_t k = 0; k < n; k++)
            (void)strcat(name, pieces[rng_next(&rng) % (sizeof pieces / sizeof *pieces)]);
        struct name_folding folding = fold(name);
        cr_assert(folding.application.n > 0 && folding.application.n <= strlen(name));
        cr_assert(strview_is_utf8(folding.application));
        if (folding.n_applied < NAME_PASSES_MAX)
            cr_assert_eq(fold(folding.application.at).n_applied, 0, "%s", name);
        arena_fini(&arena);
        arena_init(&arena, 0);
    }
}

/*
 * As many names and rules as may be tried in one request. Minutes where each beginning of each rest
 * is looked at from its first character on.
 */
Test(name_folding, long_runs_of_characters_take_no_long_time, .timeout = 20)
{
    static const char *const patterns[] = {
        "{any}{word}{any}{word}{any}{word}{any}{word}{any}{word}{any}=",
        "{any}{hex}{any}{hex}{any}{hex}{any}{hex}{any}{hex}{any}=",
        "{word}{any}{number}{any}{word}{any}{number}{any}{word}{any}{number}="};
    char name[256];
    struct name_rule rules[NAME_RULES_MAX];
    for (size_t i = 0; i < NAME_RULES_MAX; i++)
        rules[i] = rule_of(patterns[i % 3], "x");
    for (int i = 0; i < 100; i++) {
        memset(name, i % 2 == 0 ? '1' : 'a', 255);
        name[254] = i % 4 < 2 ? 'b' : '2';
        name[255] = '\0';
        cr_assert(strview_is(fold_by(rules, NAME_RULES_MAX, name).application, name));
    }
}

/* A pattern made to be split in as many ways as there are. */
Test(name_folding, hard_patterns_take_no_long_time)
{
    char name[256];
    memset(name, 'a', 255);
    name[255] = '\0';
    struct name_rule rules[NAME_RULES_MAX];
    for (size_t i = 0; i < NAME_RULES_MAX; i++)
        rules[i] = rule_of("{name}a{any}a{any}a{any}a{any}a{word}b", "x");
    for (int i = 0; i < 20; i++)
        cr_assert(strview_is(fold_by(rules, NAME_RULES_MAX, name).application, name));
}
