#include <stdio.h>

#include "api/shared/documents.h"
#include "command/command.h"

/* Two versions (docs/compatibility.md): of the program, and of the contract that it serves. */
int command_version(int argc, char *argv[])
{
    (void)argc, (void)argv;
    printf("provisord %s, contract %s\n", PROVISOR_VERSION, contract_version);
    return fflush(stdout) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
