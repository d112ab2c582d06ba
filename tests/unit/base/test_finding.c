#include "base/finding.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

/* A list takes as many as there are, and none of them changes when others follow. */
Test(finding, a_list_grows)
{
    enum { MANY = 100 };
    struct arena arena;
    arena_init(&arena, 0);
    struct findings findings = {.arena = &arena};
    for (int i = 0; i < MANY; i++)
        finding_count(finding_add(&findings, i % 2 == 0 ? "even" : "odd", "number %d", i),
                      (size_t)i);
    cr_assert_eq(findings.n, MANY);
    for (int i = 0; i < MANY; i++) {
        char message[32];
        (void)snprintf(message, sizeof message, "number %d", i);
        cr_assert_str_eq(findings.items[i].message, message);
        cr_assert_eq(finding_value(&findings.items[i], "count"), i);
    }
    cr_expect_eq(finding_find(&findings, "odd"), &findings.items[1]);
    cr_expect_null(finding_find(&findings, "neither"));
    cr_expect_eq(findings_check(&findings, NULL), PV_OK);
    arena_fini(&arena);
}

Test(finding, unknown_evidence_is_left_out)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct findings findings = {.arena = &arena};
    struct finding *finding = finding_add(&findings, "code", "message");
    finding_number(finding, "unknown", (double)NAN);
    finding_number(finding, "endless", (double)INFINITY);
    finding_text(finding, "nothing", NULL);
    finding_text(finding, "empty", "");
    cr_expect_eq(finding->n_evidence, 0);
    finding_number(finding, "zero", 0);
    finding_text(finding, "name", "value");
    cr_assert_eq(finding->n_evidence, 2);
    cr_expect_eq(finding_value(finding, "zero"), 0);
    cr_expect(isnan(finding_value(finding, "name")));
    cr_expect_str_eq(finding->evidence[1].text, "value");
    arena_fini(&arena);
}

Test(finding, a_list_without_an_arena_takes_nothing)
{
    struct findings findings = {.arena = NULL};
    struct finding *finding = finding_add(&findings, "code", "message");
    cr_expect_null(finding);
    finding_number(finding, "n", 1);
    finding_text(finding, "t", "x");
    cr_expect_eq(findings.n, 0);
    cr_expect_eq(findings_check(&findings, NULL), PV_OK);
}

/* What does not fit is remembered, and what fitted stays. */
Test(finding, missing_memory_is_remembered)
{
    struct arena arena;
    arena_init(&arena, 16384);
    struct findings findings = {.arena = &arena};
    size_t added = 0;
    while (finding_add(&findings, "code", "message %zu", added) != NULL)
        added++;
    cr_expect_gt(added, 0);
    cr_expect_eq(findings.n, added);
    cr_expect_str_eq(findings.items[0].message, "message 0");
    struct pv_error err = {0};
    cr_expect_eq(findings_check(&findings, &err), PV_E_MEMORY);
    arena_fini(&arena);
}
