/* What becomes of free texts: stage names, ids, the application's name, under each policy. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/joblog/common/privacy.h"
#include "run_text.h"
#include "sparklog_cases.h"

static struct joblog_privacy
policies(enum joblog_policy sql_text, enum joblog_policy paths, enum joblog_policy host_names)
{
    return (struct joblog_privacy){sql_text, paths, host_names, case_hash, {0}};
}

static const struct joblog_privacy nothing = {JOBLOG_DROP, JOBLOG_DROP, JOBLOG_DROP, NULL, {0}};

/* The name kept of a text; "" for none. */
static const char *name_of(const struct joblog_privacy *privacy, const char *text)
{
    static char out[SCREEN_NAME_MAX + 1];
    out[privacy_stage_name(privacy, (struct json_text){text, strlen(text), false}, out)] = '\0';
    return out;
}

Test(sparklog_privacy, call_sites_are_kept_but_for_their_directory)
{
    static const char *const plain[] = {"count at <console>:15",
                                        "map at A.scala:1",
                                        "$anonfun$run$1 at FutureTask.java:266",
                                        "load at <unknown>:0",
                                        "collect at <command-1234567>:2",
                                        "collect at command-1234567:2",
                                        "foreach at Etl$.scala:9"};
    struct joblog_privacy keep = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_KEEP);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        cr_assert_str_eq(name_of(&nothing, plain[i]), plain[i]);
        cr_assert_str_eq(name_of(&keep, plain[i]), plain[i]);
    }
    static const char path[] = "collect at /srv/alice/etl.py:12";
    struct joblog_privacy hash = policies(JOBLOG_DROP, JOBLOG_HASH, JOBLOG_DROP);
    cr_assert_str_eq(name_of(&nothing, path), "collect at etl.py:12");
    cr_assert_str_eq(name_of(&keep, path), path);
    const char *hashed = name_of(&hash, path);
    cr_assert_eq(strncmp(hashed, "collect at path:0000000b", 24), 0, "%s", hashed);
    cr_assert_not_null(strstr(hashed, "/etl.py:12"));
    /* Random names of directories do not cost the name. */
    cr_assert_str_eq(
        name_of(&nothing,
                "wrapper at /W/ff6841501e_commits/6c022efa2cdde20921e626a948ba956d/n.py:1"),
        "wrapper at n.py:1");
}

Test(sparklog_privacy, other_names_are_free_texts)
{
    static const char *const free_texts[] = {
        "select name from people where ssn = '078-05-1120'",
        "alice",
        "load at the office",
        "read at db7.prod.example.com:5432",
        "collect at s3://bucket/customers.csv",
        "collect at /data/customers.csv:12",
    };
    struct joblog_privacy hash = policies(JOBLOG_HASH, JOBLOG_KEEP, JOBLOG_KEEP);
    struct joblog_privacy keep = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_KEEP);
    for (size_t i = 0; i < sizeof free_texts / sizeof *free_texts; i++) {
        cr_assert_str_eq(name_of(&nothing, free_texts[i]), "");
        cr_assert_eq(strncmp(name_of(&hash, free_texts[i]), "text:", 5), 0);
        cr_assert_eq(strlen(name_of(&hash, free_texts[i])), 5 + 16);
        cr_assert_str_eq(name_of(&keep, free_texts[i]), free_texts[i]);
    }
    char first[64];
    (void)strcpy(first, name_of(&hash, "select 1"));
    cr_assert_str_eq(name_of(&hash, "select 1"), first);
    cr_assert_str_neq(name_of(&hash, "select 2"), first);
}

Test(sparklog_privacy, paths_and_hosts_within_a_text_that_is_kept)
{
    static const char text[] =
        "copy s3://bucket.example/a/b.csv to '/mnt/x y' on db.prod.example.com, "
        "10.0.0.7 and db:5432 or db.lan:5432; team/job 1/2 v1.2 a.b";
    struct joblog_privacy drop = policies(JOBLOG_KEEP, JOBLOG_DROP, JOBLOG_DROP);
    cr_assert_str_eq(name_of(&drop, text), "copy ... to '... y' on ..., ... and db:5432 or ...; "
                                           "team/job 1/2 v1.2 a.b");
    struct joblog_privacy hosts = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_DROP);
    cr_assert_str_eq(name_of(&hosts, "read hdfs://nn.example.com:8020/a/b"), "read hdfs://.../a/b");
    struct joblog_privacy hash = policies(JOBLOG_KEEP, JOBLOG_HASH, JOBLOG_HASH);
    const char *got = name_of(&hash, "read /a/b on db.prod.example.com");
    cr_assert_eq(strncmp(got, "read path:00000004", 18), 0, "%s", got);
    cr_assert_not_null(strstr(got, " on host:00000013"), "%s", got);
}

Test(sparklog_privacy, credentials_are_kept_under_no_policy)
{
    static const char *const bad[] = {
        "load with password=hunter2", "jdbc:postgresql://u:hunter2@db/x",
        "AKIAIOSFODNN7EXAMPLE at A.scala:1", "use wJalrXUtnFEMI0K7MDENG0bPxRfiCYEXAMPLEKEY now"};
    struct joblog_privacy keep = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_KEEP);
    struct joblog_privacy hash = policies(JOBLOG_HASH, JOBLOG_HASH, JOBLOG_HASH);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_str_eq(name_of(&keep, bad[i]), "", "%s", bad[i]);
        cr_assert_str_eq(name_of(&hash, bad[i]), "", "%s", bad[i]);
    }
    cr_assert_str_eq(name_of(&keep, "collect at /srv/token=x/etl.py:1"), "");
    cr_assert_str_eq(name_of(&keep, "collect at /srv/token/etl.py:1"),
                     "collect at /srv/token/etl.py:1");
    cr_assert_str_eq(name_of(&hash, "collect at /srv/token/etl.py:1") + 11 + 5 + 16, "/etl.py:1");
}

Test(sparklog_privacy, long_texts_end_at_a_word)
{
    char text[2001];
    for (size_t i = 0; i < 2000; i++)
        text[i] = i % 10 == 9 ? ' ' : 'x';
    text[2000] = '\0';
    struct joblog_privacy keep = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_KEEP);
    const char *got = name_of(&keep, text);
    cr_assert_eq(strlen(got), 250);
    cr_assert_eq(strncmp(got, text, 250), 0);
}

static const char *id_of(const struct joblog_privacy *privacy, const char *text)
{
    static char id[256];
    (void)strcpy(id, text);
    (void)privacy_id(privacy, id, sizeof id);
    return id;
}

Test(sparklog_privacy, ids_are_kept_or_hashed)
{
    static const char *const good[] = {"application_1603128018386_7846",
                                       "app-20240919162642-0000",
                                       "local-1426533911241",
                                       "spark-0190b5a71c2d7abc8def001122334455",
                                       "1",
                                       ""};
    static const char *const bad[] = {"alice", "AKIAIOSFODNN7EXAMPLE", "s3://bucket/1",
                                      "my token 1", "db7.prod.example.com"};
    struct joblog_privacy keep = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_KEEP);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert_str_eq(id_of(&nothing, good[i]), good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_str_eq(id_of(&nothing, bad[i]), "", "without a hash nothing is left");
        cr_assert_eq(strncmp(id_of(&keep, bad[i]), "id:", 3), 0, "%s", bad[i]);
        cr_assert_eq(strlen(id_of(&keep, bad[i])), 3 + 16);
    }
}

static const char *application_of(const struct joblog_privacy *privacy, const char *text)
{
    static char name[256];
    (void)strcpy(name, text);
    privacy_application_name(privacy, name, sizeof name);
    return name;
}

Test(sparklog_privacy, names_of_applications)
{
    struct joblog_privacy hash = policies(JOBLOG_HASH, JOBLOG_DROP, JOBLOG_HASH);
    cr_assert_str_eq(application_of(&hash, "nightly-etl 2026-01-05"), "nightly-etl 2026-01-05");
    cr_assert_str_eq(application_of(&hash, "team/etl"), "team/etl");
    cr_assert_str_eq(application_of(&hash, "Select at Scale"), "Select at Scale");
    /* Paths and hosts in a name are its owner's choice. */
    cr_assert_str_eq(application_of(&hash, "/srv/alice/etl.py"), "/srv/alice/etl.py");
    cr_assert_str_eq(application_of(&hash, "com.acme.etl.NightlyLoad"), "com.acme.etl.NightlyLoad");
    cr_assert_str_eq(application_of(&hash, "etl on db.prod.example.com"),
                     "etl on db.prod.example.com");
    cr_assert_eq(strncmp(application_of(&hash, "INSERT OVERWRITE TABLE x(Stage-1)"), "query(", 6),
                 0);
    cr_assert_eq(strlen(application_of(&hash, "INSERT OVERWRITE TABLE x(Stage-1)")), 6 + 16 + 1);
    struct joblog_privacy keep = policies(JOBLOG_KEEP, JOBLOG_KEEP, JOBLOG_KEEP);
    cr_assert_str_eq(application_of(&keep, "insert into x from y"), "insert into x from y");
    cr_assert_str_eq(application_of(&nothing, "insert into x from y"), "");
}

Test(sparklog_privacy, versions)
{
    cr_assert(privacy_is_version("3.5.1"));
    cr_assert(privacy_is_version("3.3.0.1.3.317211000.0-3"));
    cr_assert(privacy_is_version("3.1.1-amzn-0"));
    cr_assert_not(privacy_is_version("hunter2"));
    cr_assert_not(privacy_is_version("3.5.1 on db"));
    cr_assert_not(privacy_is_version(""));
}
