/* Proves what is taken for a credential and what is not: job names of many kinds, and credentials made here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/joblog/common/secret_scan.h"

static bool found(const char *text)
{
    return secret_found(strview_of(text), NULL) != NULL;
}

Test(secret_scan, a_word_is_evidence_only_with_its_value)
{
    static const char *const bad[] = {"etl password=x",
                                      "etl PassWord = hunter2",
                                      "db_password: hunter2",
                                      "load --password letmein --table x",
                                      "load --db-token letmein",
                                      "{\"password\":\"letmein\"}",
                                      "<password>hunter2</password>",
                                      "token%3Dabc",
                                      "Authorization: Bearer q8Zk2LmP",
                                      "Authorization: Basic dXNlcjpwdw==",
                                      "CREATE USER x IDENTIFIED BY 'letmein'",
                                      "AccountKey=abc",
                                      "?sv=2022&sig=abc",
                                      "PGPASSWORD=letmein psql"};
    static const char *const good[] = {"password-reset-daily",
                                       "Token refresh2026 daily",
                                       "token: daily",
                                       "token_usage:2026w41",
                                       "token:2026w41",
                                       "secret:v2-rc1",
                                       "reset-password: weekly",
                                       "load --password",
                                       "load --password --table x",
                                       "token=",
                                       "token=null",
                                       "password=***",
                                       "password=*********(redacted)",
                                       "password=${PASSWORD}",
                                       "design=token",
                                       "config=abc",
                                       "assign: a1b2c3d4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(found(bad[i]), "%s", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_not(found(good[i]), "%s", good[i]);
}

Test(secret_scan, addresses_with_a_user_and_a_password)
{
    cr_expect(found("https://u:p@host/x"));
    cr_expect(found("mongodb+srv://u:p@c0.example/db"));
    cr_expect(found("jdbc:oracle:thin:scott/tiger@db:1521/x"));
    cr_expect_not(found("https://user@host/x"));
    cr_expect_not(found("abfss://raw@account.dfs.example/orders"));
    cr_expect_not(found("s3://bucket/etl:1 to team@example"));
    cr_expect_not(found("http://host:8080/x"));
}

Test(secret_scan, the_place_of_the_evidence_is_told)
{
    size_t at = 0;
    cr_expect_str_eq(secret_found(strview_of("etl password=x"), &at),
                     "a password, key or token with its value");
    cr_expect_eq(at, 4);
    cr_expect_str_eq(secret_found(strview_of("etl AKIAIOSFODNN7EXAMPLE"), &at),
                     "a key of a well-known form");
    cr_expect_eq(at, 4);
}

Test(secret_scan, an_id_may_be_random_but_not_marked)
{
    struct strview random = strview_of("spark-0190b5a71c2d7abc8def001122334455");
    cr_expect(screen_is_suspicious(random));
    cr_expect_not(screen_is_marked(random));
    cr_expect(screen_is_marked(strview_of("AKIAIOSFODNN7EXAMPLE")));
}

/* No name of 300 kinds of jobs, as people and orchestrators write them. */
Test(secret_scan, names_of_jobs_are_no_credentials)
{
    FILE *file = fopen(getenv("JOB_NAMES"), "r");
    cr_assert_not_null(file);
    char line[512];
    size_t n = 0;
    for (; fgets(line, sizeof line, file) != NULL; n++) {
        line[strcspn(line, "\n")] = '\0';
        cr_expect_not(found(line), "%s", line);
    }
    (void)fclose(file);
    cr_assert_geq(n, 300);
}

static const char BASE62[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char URL64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char HEX[] = "0123456789abcdef";
static const char UPPER[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
static const char LOWER[] = "abcdefghijklmnopqrstuvwxyz0123456789";
static const char DIGITS[] = "0123456789";

/* A credential: what stands before it, how many characters of which kind, what stands behind. */
static const struct {
    const char *before;
    const char *of;
    int n;
    const char *behind;
} kinds[] = {
    {"AKIA", UPPER, 16, ""},
    {"ASIA", UPPER, 16, ""},
    {"etl ", BASE64, 40, ""},
    {"aws_secret_access_key=", BASE64, 40, ""},
    {"ghp_", BASE62, 36, ""},
    {"github_pat_", BASE62, 70, ""},
    {"glpat-", URL64, 20, ""},
    {"xoxb-123456789012-123456789012-", BASE62, 24, ""},
    {"eyJhbGciOiJIUzI1NiJ9.eyJ", URL64, 60, ""},
    {"dapi", HEX, 32, ""},
    {"sk_live_", BASE62, 24, ""},
    {"sk-proj-", BASE62, 48, ""},
    {"sk-ant-api03-", URL64, 80, ""},
    {"AIza", URL64, 35, ""},
    {"ya29.", URL64, 60, ""},
    {"npm_", BASE62, 36, ""},
    {"pypi-AgEIcHlwaS5vcmc", URL64, 80, ""},
    {"hf_", BASE62, 34, ""},
    {"SG.", URL64, 22, ".x"},
    {"SK", HEX, 32, ""},
    {"hvs.", URL64, 90, ""},
    {"dop_v1_", HEX, 64, ""},
    {"password=", BASE62, 10, ""},
    {"load --password ", LOWER, 8, " --table x"},
    {"Authorization: Bearer ", BASE62, 30, ""},
    {"jdbc:postgresql://etl:", BASE62, 10, "@db:5432/x"},
    {"AccountKey=", BASE64, 86, "=="},
    {"?sv=2022-11-02&sig=", BASE62, 43, "%3D"},
    {"X-Amz-Signature=", HEX, 64, ""},
    {"-----BEGIN RSA PRIVATE KEY-----", BASE64, 40, ""},
    {"db ", HEX, 40, ""},
    {"key ", URL64, 43, ""},
    {"bot 4839201756:AA", URL64, 33, ""},
    {"nightly-", BASE62, 32, "-load"},
    {"etl_", LOWER, 32, "_x"},
    {"api-key: ", BASE62, 20, ""},
    {"account ", DIGITS, 12, " secret=x"},
};

Test(secret_scan, credentials_of_thirty_kinds_and_more_are_found)
{
    struct rng rng = rng_make(41, 0);
    size_t n = 0;
    size_t n_found = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t of_kind = 0;
        for (int draw = 0; draw < 100; draw++) {
            char secret[128];
            for (int k = 0; k < kinds[i].n; k++)
                secret[k] = kinds[i].of[rng_next(&rng) % strlen(kinds[i].of)];
            secret[kinds[i].n] = '\0';
            char text[256];
            (void)snprintf(text, sizeof text, "%s%s%s", kinds[i].before, secret, kinds[i].behind);
            of_kind += found(text);
        }
        cr_expect_geq(of_kind, 95, "%s: %zu of 100", kinds[i].before, of_kind);
        n += 100;
        n_found += of_kind;
    }
    cr_assert_geq((double)n_found, 0.98 * (double)n, "%zu of %zu", n_found, n);
}
