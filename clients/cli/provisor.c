#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments/help.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"

/* Does the command run without settings, which may be wrong, and without a service? */
static bool is_offline(const struct command *command)
{
    static const char *const names[] = {"help", "man", "completion"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(command->name, names[i]) == 0)
            return true;
    return false;
}

static int run_command(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    const struct command *command = arguments->path[arguments->depth - 1];
    if (arguments->help) {
        help_command(stdout, arguments->path, arguments->depth);
        return EXIT_DONE;
    }
    if (command->run == NULL) {
        help_command(stderr, arguments->path, arguments->depth);
        return EXIT_USAGE;
    }
    if (!is_offline(arguments->path[0]) &&
        !settings_read(arguments, &invocation->settings, &invocation->failure))
        return invocation_failed(invocation);
    return command->run(invocation);
}

static int run(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    if (arguments->version) {
        printf("provisor %s\n", PROVISOR_VERSION);
        return EXIT_DONE;
    }
    if (arguments->depth == 0) {
        help_overview(arguments->help ? stdout : stderr, all_commands);
        return arguments->help ? EXIT_DONE : EXIT_USAGE;
    }
    return run_command(invocation);
}

/* What was written has to have arrived; a reader who had enough is no failure. */
static int finish(struct invocation *invocation, int status)
{
    failure_print(&invocation->failure);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout) != 0) && errno != EPIPE && errno != 0 &&
        invocation->failure.status == EXIT_DONE) {
        fprintf(stderr, "provisor: standard output cannot be written: %s\n", strerror(errno));
        status = status == EXIT_DONE ? EXIT_FAILED : status;
    }
    remote_close(invocation->remote);
    settings_clear(&invocation->settings);
    return status;
}

/* A descriptor that is closed would be given to the next file that is opened, and words would go there.
 * What is written to these fails. */
static void open_standard_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            _exit(EXIT_FAILED);
}

int main(int argc, char *argv[])
{
    static struct arguments arguments;
    static struct invocation invocation;
    open_standard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* the width of characters; numbers stay as they are */
    invocation.arguments = &arguments;
    invocation.commands = all_commands;
    if (!arguments_parse(argc, argv, all_commands, &arguments, &invocation.failure))
        return finish(&invocation, invocation_failed(&invocation));
    invocation.quiet = argument_given(&arguments, "quiet");
    return finish(&invocation, run(&invocation));
}
