#include "dispatch/event_sentence.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/json/parse.h"

static const struct {
    const char *type, *data, *text;
} cases[] = {
    {"run.ingested",
     "{'application':'etl','duration_s':88.46,'executors':8,'problem_size':1500000,'succeeded':"
     "true}",
     "etl: a run was stored, 88.5 s on 8 executors, problem size 1,500,000."},
    {"run.ingested", "{'application':'etl','duration_s':3,'executors':1,'succeeded':false}",
     "etl: a run failed after 3 s on 1 executor."},
    {"run.ingested", "{'application':'etl','run_id':null,'imported':1200,'replaced':0}",
     "etl: 1,200 runs imported."},
    {"run.ingested", "{'application':'etl','run_id':null,'imported':1,'replaced':3}",
     "etl: 1 run imported, 3 replaced."},
    {"advice.created",
     "{'application':'etl','verdict':'met','executors':24,'predicted_duration_s':6900,"
     "'deadline_s':7200}",
     "etl: 24 executors advised, predicted to take 1 h 55 min; meets the deadline of 2 h."},
    {"advice.created",
     "{'application':'etl','verdict':'at_risk','executors':24,'predicted_duration_s':59.6,"
     "'deadline_s':60}",
     "etl: 24 executors advised, predicted to take 59.6 s; may miss the deadline of 60 s."},
    {"advice.created",
     "{'application':'etl','verdict':'missed','executors':1,'predicted_duration_s':200000,"
     "'deadline_s':172799.6}",
     "etl: 1 executor advised, predicted to take 2 d 8 h; misses the deadline of 2 d."},
    {"advice.created",
     "{'application':'etl','verdict':'met','executors':6,'predicted_duration_s':0.25,"
     "'deadline_s':null}",
     "etl: 6 executors advised, predicted to take 0.25 s."},
    {"advice.created",
     "{'application':'etl','verdict':'unknown','executors':null,'predicted_duration_s':null,"
     "'deadline_s':90}",
     "etl: too little is known to advise a number of executors for the deadline of 90 s."},
    {"deadline.infeasible",
     "{'application':'etl','verdict':'missed','deadline_s':60,'executors':40,"
     "'predicted_duration_s':75}",
     "etl cannot meet its deadline of 60 s: predicted to take 75 s on 40 executors."},
    {"deadline.infeasible",
     "{'verdict':'at_risk','deadline_s':60,'executors':40,'predicted_duration_s':58.04}",
     "An application may miss its deadline of 60 s: predicted to take 58 s on 40 executors."},
    {"deadline.missed",
     "{'application':'etl','duration_s':12345,'deadline_s':9000,'predicted_duration_s':null}",
     "etl missed its deadline of 2 h 30 min: a run took 3 h 26 min."},
    {"deadline.missed",
     "{'application':'etl','duration_s':151,'deadline_s':150,'predicted_duration_s':140}",
     "etl missed its deadline of 2 min 30 s: a run took 2 min 31 s; 2 min 20 s had been "
     "predicted."},
    {"model.drifted",
     "{'application':'etl','direction':'slower','change_percent':23.4,"
     "'since_run':{'run_id':'r','at':'2026-11-20T08:00:00Z'},'runs_since':12}",
     "etl has become slower: runs take 23.4 % longer since 2026-11-20 08:00 UTC (12 runs)."},
    {"model.drifted",
     "{'application':'etl','direction':'faster','change_percent':-7.25,'since_run':null,"
     "'runs_since':1}",
     "etl has become faster: runs take 7.2 % less time (1 run)."},
    {"model.drifted", "{'application':'etl','direction':null}",
     "etl: runs no longer follow the model of those before."},
    {"operation.completed", "{'id':'o','kind':'refit','application':'etl','status':'failed'}",
     "The refit of etl failed (o)."},
    {"operation.completed",
     "{'id':'o','kind':'simulation','application':null,'status':'succeeded'}",
     "The simulation succeeded (o)."},
    {"operation.completed", "{'id':'o','kind':'import','application':'etl','status':'cancelled'}",
     "The import for etl was cancelled (o)."},
    {"admission.expired", "{'application':'etl','to_come':1}",
     "etl: a reservation expired unused."},
    {"admission.expired", "{'application':'etl','cores':16}",
     "etl: a reservation of 16 cores expired unused."},
    {"webhook.ping", "{}", "This is a test: provisor reaches this endpoint."},
    {"to.come", "{}", "Event to.come."},
};

static const char *told(struct arena *arena, const char *type, const char *data)
{
    const struct json_value *read;
    struct pv_error err = {0};
    char text[1024];
    (void)snprintf(text, sizeof text, "%s", data);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    cr_assert_eq(json_parse_own(strview_of(text), arena, &read, &err), PV_OK, "%s: %s", err.detail,
                 data);
    return event_sentence(arena, strview_of(type), read);
}

Test(event_sentence, reads_well)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(told(&arena, cases[i].type, cases[i].data), cases[i].text, "%s\n%s",
                         told(&arena, cases[i].type, cases[i].data), cases[i].text);
    arena_fini(&arena);
}

Test(event_sentence, without_any_member_it_is_still_one)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = told(&arena, cases[i].type, "{}");
        cr_expect(strlen(text) > 10 && text[strlen(text) - 1] == '.', "%s", text);
        const char *odd = told(&arena, cases[i].type,
                               "{'application':7,'executors':'x','duration_s':[],'deadline_s':{},"
                               "'verdict':1,'imported':null,'since_run':{'at':'yesterday'}}");
        cr_expect_null(strstr(odd, "null"), "%s", odd);
        cr_expect_not_null(event_sentence(&arena, strview_of(cases[i].type), NULL));
    }
    arena_fini(&arena);
}

Test(event_sentence, long_and_broken_names_make_one_line)
{
    struct arena arena;
    char data[1024];
    arena_init(&arena, 0);
    (void)snprintf(data, sizeof data, "{'application':'a\\nb\\u0007%0*d'}", 600, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = told(&arena, cases[i].type, data);
        cr_expect(strlen(text) < 600 && strpbrk(text, "\n\a") == NULL, "%s", text);
    }
    arena_fini(&arena);
}
