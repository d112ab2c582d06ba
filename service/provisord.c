#include <stdio.h>

int main(void)
{
    fputs("provisord: no subcommand given\n", stderr);
    return 2;
}
