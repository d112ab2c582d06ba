#include "cli/arguments/completion.h"

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"

typedef void write_script(FILE *out, const struct command *const commands[]);

static int run_shell(struct invocation *invocation, write_script *write)
{
    write(stdout, invocation->commands);
    return EXIT_DONE;
}

static int run_bash(struct invocation *invocation)
{
    return run_shell(invocation, completion_bash);
}

static int run_zsh(struct invocation *invocation)
{
    return run_shell(invocation, completion_zsh);
}

static int run_fish(struct invocation *invocation)
{
    return run_shell(invocation, completion_fish);
}

static const struct command command_bash = {
    .name = "bash",
    .summary = "Write the script of bash.",
    .examples = "  provisor completion bash > "
                "~/.local/share/bash-completion/completions/provisor",
    .run = run_bash};
static const struct command command_zsh = {
    .name = "zsh",
    .summary = "Write the script of zsh.",
    .description = "Put it into a folder of $fpath, before compinit runs.",
    .examples = "  provisor completion zsh > ~/.zfunc/_provisor",
    .run = run_zsh};
static const struct command command_fish = {
    .name = "fish",
    .summary = "Write the script of fish.",
    .examples = "  provisor completion fish > ~/.config/fish/completions/provisor.fish",
    .run = run_fish};

static const struct command *const subcommands[] = {&command_bash, &command_zsh, &command_fish,
                                                    NULL};

const struct command command_completion = {
    .name = "completion",
    .summary = "Write a script that completes command lines in a shell.",
    .description = "The scripts complete commands, options, their words, files, and the names of "
                   "your applications, for which the service is asked.",
    .examples = "  source <(provisor completion bash)",
    .subcommands = subcommands};
