/* Proves on a real PostgreSQL that what each aggregate is given comes back as it was. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "run_text.h"
#include "store/advice/accuracy.h"
#include "store/history/run_durations.h"
#include "threads/clock.h"

static struct database db;
static struct pv_error err;

static struct store_tx *begin(const struct principal *who, enum store_mode mode)
{
    struct store_tx *tx = NULL;
    DO(store_begin(db.store, who, "req-1", mode, &tx, &err));
    return tx;
}

/* An application of that name, committed. */
static struct application
new_application(const struct principal *who, struct arena *arena, const char *name)
{
    struct store_tx *tx = begin(who, STORE_WRITE);
    struct application application;
    DO(store_application_ensure(tx, arena, name, &application, &err));
    DO(store_commit(&tx, &err));
    return application;
}

static void insert_run(const struct principal *who,
                       struct arena *arena,
                       const struct application *application,
                       struct run *run)
{
    struct store_tx *tx = begin(who, STORE_WRITE);
    struct run_insert insert;
    DO(store_run_insert(tx, arena, application, NULL, run, &insert, &err));
    CHECK(insert.outcome == RUN_INSERTED);
    DO(store_commit(&tx, &err));
}

/* --- applications --- */

static void applications_keep_their_fields_and_versions(struct arena *arena)
{
    struct principal who = database_team(&db, "applications");
    struct run_label labels[] = {{strview_of("a"), strview_of("1")},
                                 {strview_of("b"), strview_of("")}};
    struct application a = {.name = strview_of("nightly etl/é"),
                            .labels = labels,
                            .n_labels = 2,
                            .retention_days = 30,
                            .retention_runs = RUN_UNKNOWN};
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_application_insert(tx, arena, &a, &err));
    CHECK(a.version == 1 && a.history_version == 0 && a.runs == 0 && a.id[0] != '\0');
    CHECK(a.description.at == NULL && a.retention_days == 30 && a.retention_runs == RUN_UNKNOWN);
    CHECK(a.n_labels == 2 && strview_is(a.labels[1].key, "b") && a.labels[1].value.n == 0);
    DO(store_commit(&tx, &err));

    tx = begin(&who, STORE_WRITE);
    struct application again = {
        .name = a.name, .retention_days = RUN_UNKNOWN, .retention_runs = RUN_UNKNOWN};
    REFUSES(PV_E_CONFLICT, store_application_insert(tx, arena, &again, &err));
    store_rollback(&tx);

    struct application_change change = {
        .has_description = true, .to.description = strview_of("words"), .has_labels = true};
    struct application now;
    tx = begin(&who, STORE_WRITE);
    DO(store_application_update(tx, arena, a.name.at, 1, &change, &now, &err));
    CHECK(now.version == 2 && strview_is(now.description, "words") && now.n_labels == 0);
    CHECK(now.retention_days == 30);
    REFUSES(PV_E_PRECONDITION,
            store_application_update(tx, arena, a.name.at, 1, &change, &now, &err));
    REFUSES(PV_E_NOT_FOUND,
            store_application_update(tx, arena, "nobody", RUN_UNKNOWN, &change, &now, &err));
    DO(store_commit(&tx, &err));
}

static void applications_are_listed_by_name_in_pages(struct arena *arena)
{
    struct principal who = database_team(&db, "pages");
    (void)new_application(&who, arena, "b");
    (void)new_application(&who, arena, "B");
    (void)new_application(&who, arena, "a");
    struct store_tx *tx = begin(&who, STORE_READ);
    struct application_list list;
    DO(store_application_list(tx, arena,
                              &(struct application_filter){
                                  .name_prefix = "", .name_contains = "", .after = "", .limit = 2},
                              &list, &err));
    CHECK(list.n == 2 && list.more);
    CHECK(strview_is(list.items[0].name, "B") && strview_is(list.items[1].name, "a"));
    DO(store_application_list(tx, arena,
                              &(struct application_filter){
                                  .name_prefix = "", .name_contains = "", .after = "a", .limit = 2},
                              &list, &err));
    CHECK(list.n == 1 && !list.more && strview_is(list.items[0].name, "b"));
    DO(store_commit(&tx, &err));
}

static void deleting_an_application_takes_everything_with_it(struct arena *arena)
{
    struct principal who = database_team(&db, "deletes");
    struct application a = new_application(&who, arena, "doomed");
    struct run run = database_log_run(arena, "application_1", true);
    insert_run(&who, arena, &a, &run);
    struct store_tx *tx = begin(&who, STORE_WRITE);
    REFUSES(PV_E_PRECONDITION, store_application_delete(tx, "doomed", 9, &err));
    DO(store_application_delete(tx, "doomed", 1, &err));
    DO(store_commit(&tx, &err));
    tx = begin(&who, STORE_READ);
    struct run gone;
    REFUSES(PV_E_NOT_FOUND,
            store_run_find(tx, arena, NULL, run.id, RUN_WITH_TASKS, &gone, NULL, &err));
    struct audit_list audit;
    DO(store_audit_list(tx, arena, "", 10, &audit, &err));
    CHECK(strview_is(audit.items[0].action, "application.delete"));
    CHECK(strview_is(audit.items[0].subject, "application/doomed"));
    CHECK(strview_is(audit.items[0].request_id, "req-1"));
    DO(store_commit(&tx, &err));
    /* The name is free again, and so is the log. */
    a = new_application(&who, arena, "doomed");
    run = database_log_run(arena, "application_1", true);
    insert_run(&who, arena, &a, &run);
}

/* --- runs --- */

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_stage(const struct run_stage *a, const struct run_stage *b, bool with_tasks)
{
    CHECK(a->id == b->id && strview_equal(a->name, b->name) && a->skipped == b->skipped);
    CHECK((a->name.at == NULL) == (b->name.at == NULL));
    CHECK(a->n_parents == b->n_parents && a->n_tasks == b->n_tasks);
    for (size_t i = 0; i < a->n_parents; i++)
        CHECK(a->parents[i] == b->parents[i]);
    CHECK(same_double(a->task_duration_s, b->task_duration_s));
    CHECK(same_double(a->task_time_s, b->task_time_s));
    CHECK(same_double(a->duration_s, b->duration_s) && same_double(a->started_s, b->started_s));
    CHECK(same_double(a->input_records, b->input_records));
    CHECK(same_double(a->nominal_rate_per_s, b->nominal_rate_per_s));
    CHECK((with_tasks && a->task_durations_s != NULL) == (b->task_durations_s != NULL));
    for (size_t i = 0; b->task_durations_s != NULL && i < (size_t)a->n_tasks; i++)
        CHECK(same_double(a->task_durations_s[i], b->task_durations_s[i]));
}

static void runs_come_back_bit_by_bit(struct arena *arena)
{
    struct principal who = database_team(&db, "runs");
    struct application a = new_application(&who, arena, "exact");
    struct run_label labels[] = {{strview_of("branch"), strview_of("main")}};
    struct findings warnings = {.arena = arena};
    finding_count(finding_add(&warnings, "damaged_lines", "%s", ""), 3);
    (void)finding_add(&warnings, "truncated", "cut");
    struct run_label properties[] = {{strview_of("spark.executor.cores"), strview_of("4")}};
    struct run run = database_log_run(arena, "application_2", true);
    run.labels = labels;
    run.n_labels = 1;
    run.warnings = warnings;
    run.spark_properties = properties;
    run.n_spark_properties = 1;
    insert_run(&who, arena, &a, &run);

    struct store_tx *tx = begin(&who, STORE_READ);
    struct run back;
    struct strview name;
    DO(store_run_find(tx, arena, "exact", run.id, RUN_WITH_TASKS, &back, &name, &err));
    CHECK(strview_is(name, "exact") && strcmp(back.id, run.id) == 0 && back.advice_id[0] == '\0');
    CHECK(back.problem_size == 64 && back.executors == 8 && back.cores_per_executor == 4);
    CHECK(same_double(back.duration_s, run.duration_s) && isnan(back.initialization_s));
    CHECK(back.started_us == run.started_us && back.recorded_us == run.recorded_us);
    CHECK(back.succeeded && back.from_log && back.ended && back.jobs == RUN_UNKNOWN);
    CHECK(strview_is(back.spark_application_id, "application_2"));
    CHECK(back.spark_attempt_id.at == NULL && strview_is(back.spark_version, "3.5.1"));
    CHECK(back.n_labels == 1 && strview_is(back.labels[0].value, "main"));
    CHECK(back.warnings.n == 2 && finding_value(&back.warnings.items[0], "count") == 3);
    CHECK(back.warnings.items[0].message[0] == '\0' && back.warnings.items[1].n_evidence == 0);
    CHECK(back.n_spark_properties == 1 && strview_is(back.spark_properties[0].value, "4"));
    CHECK(back.has_stages && back.n_stages == 3);
    for (size_t i = 0; i < 3; i++)
        check_stage(&run.stages[i], &back.stages[i], true);
    char *wrote = run_text(&run);
    char *read = run_text(&back);
    CHECK(wrote != NULL && read != NULL && strcmp(wrote, read) == 0);
    free(wrote);
    free(read);
    DO(store_run_find(tx, arena, NULL, run.id, RUN_WITH_STAGES, &back, &name, &err));
    for (size_t i = 0; i < 3; i++)
        check_stage(&run.stages[i], &back.stages[i], false);
    DO(store_run_find(tx, arena, NULL, run.id, 0, &back, NULL, &err));
    CHECK(!back.has_stages && back.n_stages == 0);
    REFUSES(PV_E_NOT_FOUND, store_run_find(tx, arena, "other", run.id, 0, &back, NULL, &err));
    DO(store_commit(&tx, &err));
}

static void the_history_version_follows_the_runs(struct arena *arena)
{
    struct principal who = database_team(&db, "versions");
    struct application a = new_application(&who, arena, "counted");
    struct run first = database_run(arena, 8, 2);
    struct run second = database_run(arena, 16, 2);
    insert_run(&who, arena, &a, &first);
    insert_run(&who, arena, &a, &second);
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_application_find(tx, arena, "counted", &a, &err));
    CHECK(a.runs == 2 && a.history_version == 2 && a.version == 1);
    DO(store_run_delete(tx, "counted", first.id, &err));
    REFUSES(PV_E_NOT_FOUND, store_run_delete(tx, "counted", first.id, &err));
    DO(store_application_find(tx, arena, "counted", &a, &err));
    CHECK(a.runs == 1 && a.history_version == 3);
    DO(store_commit(&tx, &err));
}

static void a_log_is_known_by_application_id_and_attempt(struct arena *arena)
{
    struct principal who = database_team(&db, "logs");
    struct application a = new_application(&who, arena, "logs");
    const unsigned char one[32] = {1};
    const unsigned char two[32] = {2};
    struct run_insert insert;
    struct run run = database_log_run(arena, "app", false);
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_run_insert(tx, arena, &a, one, &run, &insert, &err));
    CHECK(insert.outcome == RUN_INSERTED);
    struct run same = database_log_run(arena, "app", false);
    DO(store_run_insert(tx, arena, &a, one, &same, &insert, &err));
    CHECK(insert.outcome == RUN_UNCHANGED && strcmp(same.id, run.id) == 0 && !same.has_stages);
    struct run longer = database_log_run(arena, "app", true);
    DO(store_run_insert(tx, arena, &a, two, &longer, &insert, &err));
    CHECK(insert.outcome == RUN_REPLACED && strcmp(longer.id, run.id) == 0);
    struct run back;
    DO(store_run_find(tx, arena, "logs", run.id, RUN_WITH_TASKS, &back, NULL, &err));
    CHECK(back.ended && back.n_stages == 3);
    struct run attempt = database_log_run(arena, "app", true);
    attempt.spark_attempt_id = strview_of("2");
    DO(store_run_insert(tx, arena, &a, one, &attempt, &insert, &err));
    CHECK(insert.outcome == RUN_INSERTED);
    DO(store_application_find(tx, arena, "logs", &a, &err));
    CHECK(a.runs == 2 && a.history_version == 3);
    struct run other = database_log_run(arena, "app", true);
    REFUSES(PV_E_CONFLICT, store_run_insert(tx, arena, &a, one, &other, &insert, &err));
    store_rollback(&tx);
}

static struct run twin(struct arena *arena, int64_t started_us, bool ended)
{
    struct run run = database_log_run(arena, "twins", ended);
    run.started_us = started_us;
    return run;
}

static void runs_that_start_at_other_instants_are_two(struct arena *arena)
{
    struct principal who = database_team(&db, "twins");
    struct application a = new_application(&who, arena, "twins");
    const unsigned char one[32] = {1}, two[32] = {2}, three[32] = {3};
    struct run_insert insert;
    struct run first = twin(arena, 1000, false), second = twin(arena, 2000, false);
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_run_insert(tx, arena, &a, one, &first, &insert, &err));
    DO(store_run_insert(tx, arena, &a, two, &second, &insert, &err));
    CHECK(insert.outcome == RUN_INSERTED && strcmp(first.id, second.id) != 0);
    struct run whole = twin(arena, 1000, true);
    DO(store_run_insert(tx, arena, &a, three, &whole, &insert, &err));
    CHECK(insert.outcome == RUN_REPLACED && strcmp(whole.id, first.id) == 0);
    CHECK(insert.compared && insert.sent.ended && !insert.stored.ended);
    struct run again = twin(arena, 1000, false);
    DO(store_run_insert(tx, arena, &a, one, &again, &insert, &err));
    CHECK(insert.outcome == RUN_UNCHANGED && insert.compared && again.ended);
    struct run same = twin(arena, 2000, false);
    DO(store_run_insert(tx, arena, &a, two, &same, &insert, &err));
    CHECK(insert.outcome == RUN_UNCHANGED && !insert.compared);
    CHECK(strcmp(same.id, second.id) == 0);
    DO(store_application_find(tx, arena, "twins", &a, &err));
    CHECK(a.runs == 2);
    store_rollback(&tx);
}

static void the_audit_keeps_the_figures_of_a_run_that_was_replaced(struct arena *arena)
{
    struct principal who = database_team(&db, "replaced");
    struct application a = new_application(&who, arena, "replaced");
    const unsigned char one[32] = {1}, two[32] = {2};
    struct run_insert insert;
    struct run part = twin(arena, 1000, false), whole = twin(arena, 1000, true);
    part.duration_s = 12.5;
    part.executors = 3;
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_run_insert(tx, arena, &a, one, &part, &insert, &err));
    DO(store_run_insert(tx, arena, &a, two, &whole, &insert, &err));
    DO(store_commit(&tx, &err));
    struct audit_list list;
    tx = begin(&who, STORE_READ);
    DO(store_audit_list(tx, arena, "", 10, &list, &err));
    const struct audit_record *record = list.items; /* of one millisecond, in any order */
    while (record < list.items + list.n - 1 && !strview_is(record->action, "run.replace"))
        record++;
    CHECK(strview_is(record->action, "run.replace"));
    CHECK(strstr(record->subject.at, part.id) != NULL);
    CHECK(strstr(record->replaced.at, "\"duration_s\" : 12.5") != NULL);
    CHECK(strstr(record->replaced.at, "\"executors\" : 3") != NULL);
    CHECK(strstr(record->replaced.at, "\"log_digest\" : \"0100") != NULL);
    store_rollback(&tx);
}

static void a_run_may_only_follow_advice_that_is_there(struct arena *arena)
{
    struct principal who = database_team(&db, "follows");
    struct application a = new_application(&who, arena, "follows");
    struct run run = database_run(arena, 8, 2);
    clock_uuid7(run.advice_id);
    struct run_insert insert;
    struct store_tx *tx = begin(&who, STORE_WRITE);
    REFUSES(PV_E_INVALID, store_run_insert(tx, arena, &a, NULL, &run, &insert, &err));
    CHECK(err.n_faults == 1 && strcmp(err.faults[0].at, "/advice_id") == 0);
    store_rollback(&tx);
}

/* Twelve runs an hour apart, every third labelled x, every second y as well. */
static void seed_list(const struct principal *who, struct arena *arena, struct application *a)
{
    static struct run_label both[] = {{{"x", 1}, {"1", 1}}, {{"y", 1}, {"2", 1}}};
    *a = new_application(who, arena, "listed");
    for (int64_t i = 0; i < 12; i++) {
        struct run run = database_run(arena, i + 1, 2);
        run.started_us = INT64_C(3600000000) * i;
        run.labels = i % 3 == 0 ? &both[0] : &both[1];
        run.n_labels = i % 6 == 0 ? 2 : i % 3 == 0 || i % 2 == 0 ? 1 : 0;
        insert_run(who, arena, a, &run);
    }
}

static void runs_are_listed_newest_first_by_cursor_and_filter(struct arena *arena)
{
    struct principal who = database_team(&db, "lists");
    struct application a;
    seed_list(&who, arena, &a);
    struct store_tx *tx = begin(&who, STORE_READ);
    struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                .until_us = RUN_NO_INSTANT,
                                .before_us = RUN_NO_INSTANT,
                                .limit = 5,
                                .with = RUN_WITH_STAGES};
    struct run_list list;
    int64_t wanted = 12;
    do {
        DO(store_run_list(tx, arena, &a, &filter, &list, &err));
        for (size_t i = 0; i < list.n; i++) {
            CHECK(list.items[i].problem_size == (double)wanted--);
            CHECK(list.items[i].n_stages == 3 && list.items[i].stages[2].id == 7);
        }
        filter.before_us = list.instants_us[list.n - 1];
        memcpy(filter.before_id, list.items[list.n - 1].id, sizeof filter.before_id);
    } while (list.more);
    CHECK(wanted == 0);

    filter.before_us = RUN_NO_INSTANT;
    filter.since_us = INT64_C(3600000000) * 2;
    filter.until_us = INT64_C(3600000000) * 5;
    DO(store_run_list(tx, arena, &a, &filter, &list, &err));
    CHECK(list.n == 3 && list.items[0].problem_size == 5 && list.items[2].problem_size == 3);

    struct run_label labels[] = {{strview_of("x"), strview_of("1")},
                                 {strview_of("y"), strview_of("2")}};
    filter = (struct run_filter){.since_us = RUN_NO_INSTANT,
                                 .until_us = RUN_NO_INSTANT,
                                 .labels = labels,
                                 .n_labels = 1,
                                 .before_us = RUN_NO_INSTANT,
                                 .limit = 3};
    DO(store_run_list(tx, arena, &a, &filter, &list, &err));
    CHECK(list.n == 3 && list.more && list.items[0].problem_size == 10);
    filter.n_labels = 2;
    DO(store_run_list(tx, arena, &a, &filter, &list, &err));
    CHECK(list.n == 2 && !list.more);
    CHECK(list.items[0].problem_size == 7 && list.items[1].problem_size == 1);
    DO(store_commit(&tx, &err));
}

static void the_nearest_runs_are_nearest_then_latest(struct arena *arena)
{
    struct principal who = database_team(&db, "nearest");
    struct application a = new_application(&who, arena, "nearest");
    const int64_t sizes[] = {10, 20, 30, 30, 40};
    for (int64_t i = 0; i < 5; i++) {
        struct run run = database_run(arena, sizes[i], 2);
        run.started_us = INT64_C(1000000) * i;
        insert_run(&who, arena, &a, &run);
    }
    struct run bare = database_run(arena, 25, 2);
    bare.has_stages = false;
    bare.n_stages = 0;
    insert_run(&who, arena, &a, &bare);
    struct run failed = database_run(arena, 26, 2);
    failed.succeeded = false;
    insert_run(&who, arena, &a, &failed);

    struct store_tx *tx = begin(&who, STORE_READ);
    struct run_list list;
    DO(store_run_nearest(tx, arena, &a, 26, true, 3, &list, &err));
    CHECK(list.n == 3 && list.items[0].problem_size == 30 && list.items[1].problem_size == 30);
    CHECK(list.instants_us[0] > list.instants_us[1] && list.items[2].problem_size == 20);
    CHECK(list.items[2].n_stages == 3 && list.items[2].stages[0].task_durations_s != NULL);
    DO(store_run_nearest(tx, arena, &a, 26, false, 1, &list, &err));
    CHECK(list.n == 1 && list.items[0].problem_size == 25);
    DO(store_run_nearest(tx, arena, &a, (double)NAN, true, 1, &list, &err));
    CHECK(list.n == 1 && list.items[0].problem_size == 40);
    DO(store_run_nearest(tx, arena, &a, 1000, true, 10, &list, &err));
    CHECK(list.n == 5);
    struct run_id ids[] = {{""}, {"00000000-0000-7000-8000-000000000000"}, {""}};
    memcpy(ids[0].text, list.items[3].id, sizeof ids[0].text);
    memcpy(ids[2].text, list.items[1].id, sizeof ids[2].text);
    struct run_list chosen;
    DO(store_run_of_ids(tx, arena, &a, ids, 3, &chosen, &err));
    CHECK(chosen.n == 2 && strcmp(chosen.items[0].id, ids[0].text) == 0);
    CHECK(strcmp(chosen.items[1].id, ids[2].text) == 0 && chosen.items[1].n_stages == 3);
    DO(store_commit(&tx, &err));
}

/* --- advice --- */

static struct advice_row new_advice(const struct application *a, bool feasible)
{
    struct advice_row advice = {.application_name = a->name,
                                .objective = strview_of("min_executors"),
                                .feasible = feasible,
                                .executors = 22,
                                .predicted_duration_s = 531.1,
                                .deadline_s = (double)NAN,
                                .request = strview_of("{\"application\" :\"x\"}"),
                                .document = strview_of("{ \"b\":1,  \"a\":0.10000000000000001}"),
                                .created_us = clock_wall_us()};
    clock_uuid7(advice.id);
    memcpy(advice.application_id, a->id, sizeof advice.application_id);
    return advice;
}

static void advice_is_kept_byte_for_byte(struct arena *arena)
{
    struct principal who = database_team(&db, "advice");
    struct application a = new_application(&who, arena, "advised");
    struct advice_row first = new_advice(&a, true);
    struct advice_row second = new_advice(&a, false);
    second.created_us = first.created_us + 1; /* the clock may stand still, or step back */
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_advice_insert_commit(&tx, &first, strview_of("{\"id\":1}"), &err));
    CHECK(tx == NULL);
    tx = begin(&who, STORE_WRITE);
    DO(store_advice_insert_commit(&tx, &second, strview_of("{\"id\":2}"), &err));

    tx = begin(&who, STORE_READ);
    struct advice_row back;
    DO(store_advice_find(tx, arena, first.id, &back, &err));
    CHECK(strview_equal(back.document, first.document));
    CHECK(strview_equal(back.request, first.request) && back.created_us == first.created_us);
    CHECK(same_double(back.predicted_duration_s, 531.1) && isnan(back.deadline_s));
    struct advice_filter filter = {.since_us = RUN_NO_INSTANT,
                                   .until_us = RUN_NO_INSTANT,
                                   .feasible = RUN_UNKNOWN,
                                   .before_us = RUN_NO_INSTANT,
                                   .limit = 1};
    struct advice_list list;
    DO(store_advice_list(tx, arena, &filter, &list, &err));
    CHECK(list.n == 1 && list.more && strcmp(list.items[0].id, second.id) == 0);
    filter.before_us = list.items[0].created_us;
    memcpy(filter.before_id, list.items[0].id, sizeof filter.before_id);
    filter.application_name = "advised";
    DO(store_advice_list(tx, arena, &filter, &list, &err));
    CHECK(list.n == 1 && !list.more && strcmp(list.items[0].id, first.id) == 0);
    filter.application_name = "other";
    DO(store_advice_list(tx, arena, &filter, &list, &err));
    CHECK(list.n == 0);
    DO(store_commit(&tx, &err));
}

static void follow(const struct principal *who,
                   struct arena *arena,
                   const struct application *application,
                   const char *advice_id,
                   int64_t executors,
                   double duration_s)
{
    static struct run_label labels[] = {{{"machine", 7}, {"m5", 2}}};
    struct run run = database_run(arena, 8, executors);
    run.labels = labels;
    run.n_labels = 1;
    run.cores_per_executor = 4;
    run.duration_s = duration_s;
    run.initialization_s = 1.5;
    run.started_us = INT64_C(1000000) * (int64_t)duration_s;
    memcpy(run.advice_id, advice_id, sizeof run.advice_id);
    insert_run(who, arena, application, &run);
}

/* Errors of the runs that did as advised, found by hand; a page at a time, another team none. */
static void runs_are_held_against_the_advice_they_follow(struct arena *arena)
{
    struct principal who = database_team(&db, "accuracy");
    struct application a = new_application(&who, arena, "followed");
    struct advice_row advice = new_advice(&a, true);
    advice.predicted_duration_s = 100;
    advice.lower_s = 80;
    advice.upper_s = 125;
    advice.cores_per_executor = 4;
    advice.model_kind = strview_of("ernest");
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_advice_insert_commit(&tx, &advice, strview_of("{}"), &err));
    follow(&who, arena, &a, "", 22, 1000);
    follow(&who, arena, &a, advice.id, 22, 125);
    follow(&who, arena, &a, advice.id, 22, 200);
    follow(&who, arena, &a, advice.id, 21, 400);

    tx = begin(&who, STORE_READ);
    struct accuracy_filter filter = {.before_us = RUN_NO_INSTANT, .limit = 2};
    struct accuracy_list list;
    DO(store_accuracy_list(tx, arena, &a, &filter, &list, &err));
    CHECK(list.n == 2 && list.more && list.summary.runs == 3 && list.summary.compared == 2);
    CHECK(same_double(list.summary.mape_percent, 35));
    CHECK(same_double(list.summary.mean_error_percent, -35));
    CHECK(same_double(list.summary.inside_interval, 0.5));
    CHECK(!list.items[0].compared && list.items[0].executors == 21);
    CHECK(list.items[0].advised_executors == 22 && strview_is(list.items[0].model_kind, "ernest"));
    CHECK(same_double(list.items[1].error_percent, -50));
    CHECK(list.items[1].inside_known && !list.items[1].inside);
    filter.before_us = list.items[1].instant_us;
    memcpy(filter.before_id, list.items[1].run_id, sizeof filter.before_id);
    DO(store_accuracy_list(tx, arena, &a, &filter, &list, &err));
    CHECK(list.n == 1 && !list.more && list.items[0].inside && list.summary.runs == 3);
    CHECK(same_double(list.items[0].error_percent, -20));

    struct run_observations durations;
    DO(store_run_durations(tx, arena, &a, 3, &durations, &err));
    CHECK(durations.n == 3 && same_double(durations.rows[0].duration_s, 1000));
    CHECK(same_double(durations.rows[1].executors, 21));
    CHECK(durations.evidence[1].cores_per_executor == 4);
    CHECK(same_double(durations.rows[2].initialization_s, 1.5));
    CHECK(durations.evidence[0].replayable && durations.labels[0].n == 1);
    CHECK(strview_is(durations.labels[0].labels[0].value, "m5"));
    CHECK(strlen(durations.evidence[0].run_id) == 36);
    DO(store_commit(&tx, &err));

    struct principal other = database_team(&db, "not accuracy");
    tx = begin(&other, STORE_READ);
    filter.before_us = RUN_NO_INSTANT;
    DO(store_accuracy_list(tx, arena, &a, &filter, &list, &err));
    CHECK(list.n == 0 && list.summary.runs == 0 && isnan(list.summary.mape_percent));
    DO(store_run_durations(tx, arena, &a, 3, &durations, &err));
    CHECK(durations.n == 0);
    DO(store_commit(&tx, &err));
}

/* --- access --- */

static void tokens_are_found_revoked_and_noted(struct arena *arena)
{
    struct principal who = database_team(&db, "tokens");
    struct token token = {.name = strview_of("ci"),
                          .scopes = SCOPE_READ,
                          .hash = {9},
                          .expires_us = INT64_C(4102444800000000)};
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_token_insert(tx, &token, &err));
    DO(store_commit(&tx, &err));
    struct token found;
    int64_t left_us = 0;
    DO(store_token_lookup(db.store, arena, token.id, &found, &left_us, &err));
    CHECK(left_us > INT64_C(86400000000) && left_us < token.expires_us);
    CHECK(strcmp(found.team_id, who.team_id) == 0 && found.scopes == SCOPE_READ);
    CHECK(memcmp(found.hash, token.hash, TOKEN_HASH_BYTES) == 0);
    CHECK(found.expires_us == token.expires_us && found.revoked_us == RUN_NO_INSTANT);
    CHECK(found.last_used_us != RUN_NO_INSTANT);
    int64_t used_us = found.last_used_us;
    DO(store_token_lookup(db.store, arena, token.id, &found, NULL, &err));
    CHECK(found.last_used_us == used_us);
    REFUSES(PV_E_NOT_FOUND, store_token_lookup(db.store, arena, who.team_id, &found, NULL, &err));

    tx = begin(&who, STORE_WRITE);
    DO(store_token_revoke(tx, token.id, &err));
    DO(store_token_revoke(tx, token.id, &err));
    struct token_list list;
    DO(store_token_list(tx, arena, "", 1, &list, &err));
    CHECK(list.n == 1 && list.more);
    DO(store_commit(&tx, &err));
    DO(store_token_lookup(db.store, arena, token.id, &found, NULL, &err));
    CHECK(found.revoked_us != RUN_NO_INSTANT);
}

static void another_team_sees_and_changes_nothing(struct arena *arena)
{
    struct principal a_team = database_team(&db, "ours");
    struct principal b_team = database_team(&db, "theirs");
    struct application a = new_application(&a_team, arena, "secret");
    struct run run = database_run(arena, 8, 2);
    insert_run(&a_team, arena, &a, &run);
    struct advice_row advice = new_advice(&a, true);
    struct store_tx *tx = begin(&a_team, STORE_WRITE);
    DO(store_advice_insert_commit(&tx, &advice, strview_of("{}"), &err));

    tx = begin(&b_team, STORE_WRITE);
    struct application seen;
    struct run read;
    struct run_list runs;
    struct advice_row found;
    struct run_insert insert;
    REFUSES(PV_E_NOT_FOUND, store_application_find(tx, arena, "secret", &seen, &err));
    REFUSES(PV_E_NOT_FOUND, store_application_delete(tx, "secret", RUN_UNKNOWN, &err));
    REFUSES(PV_E_NOT_FOUND, store_run_find(tx, arena, NULL, run.id, 0, &read, NULL, &err));
    REFUSES(PV_E_RETRY, store_run_insert(tx, arena, &a, NULL, &run, &insert, &err));
    REFUSES(PV_E_NOT_FOUND, store_advice_find(tx, arena, advice.id, &found, &err));
    REFUSES(PV_E_NOT_FOUND, store_token_revoke(tx, a_team.token_id, &err));
    DO(store_run_nearest(tx, arena, &a, 8, true, 5, &runs, &err));
    CHECK(runs.n == 0);
    struct team_list teams;
    REFUSES(PV_E_FORBIDDEN, store_team_list(tx, arena, "", 5, &teams, &err));
    store_rollback(&tx);
    unsigned char key[32] = {0};
    unsigned char again[32] = {0};
    DO(store_service_key(db.store, key, &err));
    DO(store_service_key(db.store, again, &err));
    CHECK(memcmp(key, again, 32) == 0 && memcmp(key, (unsigned char[32]){0}, 32) != 0);
}

/* --- idempotency --- */

static void a_key_replays_its_reply_and_refuses_another_body(struct arena *arena)
{
    struct principal who = database_team(&db, "keys");
    const unsigned char body[32] = {1};
    const unsigned char other[32] = {2};
    const struct idempotency_reply kept = {
        201, strview_of("application/json"), strview_of("/v1/applications/x"), {"{\0}", 3}};
    enum idempotency_state state;
    struct idempotency_reply reply;
    struct store_tx *tx = begin(&who, STORE_WRITE);
    DO(store_idempotency_claim(tx, arena, "POST", "/p", "k", body, &state, &reply, &err));
    CHECK(state == IDEMPOTENCY_FRESH);
    struct store_tx *second = begin(&who, STORE_WRITE);
    REFUSES(PV_E_CONFLICT,
            store_idempotency_claim(second, arena, "POST", "/p", "k", body, &state, &reply, &err));
    store_rollback(&second);
    DO(store_idempotency_keep(tx, "POST", "/p", "k", &kept, &err));
    DO(store_commit(&tx, &err));

    tx = begin(&who, STORE_WRITE);
    DO(store_idempotency_claim(tx, arena, "POST", "/p", "k", body, &state, &reply, &err));
    CHECK(state == IDEMPOTENCY_REPLAY && reply.status == 201);
    CHECK(strview_equal(reply.body, kept.body) && strview_equal(reply.location, kept.location));
    REFUSES(PV_E_INVALID,
            store_idempotency_claim(tx, arena, "POST", "/p", "k", other, &state, &reply, &err));
    CHECK(strcmp(err.faults[0].code, "key_reused") == 0);
    DO(store_idempotency_claim(tx, arena, "POST", "/q", "k", other, &state, &reply, &err));
    CHECK(state == IDEMPOTENCY_FRESH);
    store_rollback(&tx);
}

static const struct {
    const char *name;
    void (*run)(struct arena *arena);
} tests[] = {
#define TEST(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
    TEST(applications_keep_their_fields_and_versions),
    TEST(applications_are_listed_by_name_in_pages),
    TEST(deleting_an_application_takes_everything_with_it),
    TEST(runs_come_back_bit_by_bit),
    TEST(the_history_version_follows_the_runs),
    TEST(a_log_is_known_by_application_id_and_attempt),
    TEST(runs_that_start_at_other_instants_are_two),
    TEST(the_audit_keeps_the_figures_of_a_run_that_was_replaced),
    TEST(a_run_may_only_follow_advice_that_is_there),
    TEST(runs_are_listed_newest_first_by_cursor_and_filter),
    TEST(the_nearest_runs_are_nearest_then_latest),
    TEST(advice_is_kept_byte_for_byte),
    TEST(runs_are_held_against_the_advice_they_follow),
    TEST(tokens_are_found_revoked_and_noted),
    TEST(another_team_sees_and_changes_nothing),
    TEST(a_key_replays_its_reply_and_refuses_another_body),
};

int main(void)
{
    db = database_open(4);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        tests[i].run(&arena);
        arena_fini(&arena);
        (void)printf("ok %zu - %s\n", i + 1, tests[i].name);
    }
    database_close(&db);
    return 0;
}
