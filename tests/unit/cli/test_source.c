#include "cli/sources/source.h"

#include <criterion/criterion.h>

Test(source, names_of_logs_that_spark_still_writes)
{
    cr_assert(source_name_unfinished("app-1.inprogress"));
    cr_assert(source_name_unfinished(".inprogress"));
    static const char *const no[] = {"", "inprogress", "app-1", "app-1.inprogress.zst",
                                     "app-1.INPROGRESS"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        cr_assert_not(source_name_unfinished(no[i]), "%s", no[i]);
}

Test(source, closing_nothing_is_allowed)
{
    source_read_close(NULL);
    source_close(NULL);
}
