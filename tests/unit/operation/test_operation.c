#include "operation/operation.h"

#include <criterion/criterion.h>
#include <string.h>

#include "operation/runner_internal.h"

TestSuite(operation, .timeout = 5);

Test(operation, progress_never_falls_and_hears_the_first_reason_to_stop)
{
    struct progress_flags flags;
    struct operation_run run = {.flags = &flags};
    progress_flags_reset(&flags);
    cr_assert(operation_progress(&run, 5, 10, "steps"));
    cr_assert(operation_progress(&run, 3, 12, "steps"));
    cr_assert_eq(atomic_load(&flags.done), 5);
    cr_assert_eq(atomic_load(&flags.total), 12);
    progress_flags_stop(&flags, STOP_CANCELLED);
    progress_flags_stop(&flags, STOP_LOST);
    cr_assert_eq(atomic_load(&flags.stop), STOP_CANCELLED);
    cr_assert_not(operation_progress(&run, 6, 12, "steps"));
    cr_assert_not(operation_goes_on(&run));
    progress_flags_reset(&flags);
    cr_assert(operation_goes_on(&run), "the next attempt begins anew");
    cr_assert_eq(atomic_load(&flags.done), 0);
}

Test(operation, words_of_status_go_both_ways)
{
    for (int i = OPERATION_QUEUED; i <= OPERATION_CANCELLED; i++) {
        enum operation_status status = OPERATION_QUEUED;
        cr_assert(operation_status_parse(operation_status_word((enum operation_status)i), &status));
        cr_assert_eq((int)status, i);
    }
    enum operation_status status;
    cr_assert_not(operation_status_parse("done", &status));
}

Test(operation, the_event_names_what_ended)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *text = operation_event_data(&arena, "i", strview_of("refit"), strview_of("a\"b"),
                                            OPERATION_FAILED);
    cr_assert_str_eq(text, "{\"id\":\"i\",\"kind\":\"refit\",\"application\":\"a\\\"b\","
                           "\"status\":\"failed\"}");
    arena_fini(&arena);
}
