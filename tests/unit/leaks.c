#include <stdlib.h>

/*
 * LeakSanitizer asks at the end of each process. Tests run in workers that Criterion starts with
 * BXFI_MAP in their environment: there leaks count. The runner itself holds nothing but what
 * Criterion allocated, some of which it never frees.
 */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return getenv("BXFI_MAP") == NULL;
}
