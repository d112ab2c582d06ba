#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"

static const struct option_spec options[] = {
    {"skip-test", 0, OPTION_FLAG, NULL, "Store URL and token without asking the service.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};

/* From the terminal, unseen. */
static bool ask_token(struct settings *settings, struct failure *failure)
{
    struct termios shown;
    bool terminal = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &shown) == 0;
    if (terminal) {
        struct termios hidden = shown;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        fprintf(stderr, "Token for %s: ", settings->url);
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    bool good = settings_read_token_file("-", settings->token, failure);
    if (terminal) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
        fputc('\n', stderr);
    }
    return good;
}

/* Any call that a token may make whatever its scopes are: without `read` it is refused with 403, which
 * tells as much. */
static bool test_token(struct invocation *invocation)
{
    struct remote_request request = {.method = "GET", .path = "/v1/usage"};
    struct remote_reply reply = {.status = 0};
    struct failure failure = {.status = EXIT_DONE};
    bool good = remote_call(invocation->remote, &request, &reply, &failure) || reply.status == 403;
    if (good && reply.status != 403)
        invocation_say(invocation, "The token works for %s.", invocation->settings.url);
    else if (good)
        invocation_say(invocation, "The token works for %s, but may not read.",
                       invocation->settings.url);
    else
        invocation->failure = failure;
    remote_reply_clear(&reply);
    return good;
}

static int run(struct invocation *invocation)
{
    struct settings *settings = &invocation->settings;
    /* The token of the environment or of another profile is not the one to store. */
    if (!argument_given(invocation->arguments, "token-file") &&
        !ask_token(settings, &invocation->failure))
        return invocation_failed(invocation);
    (void)snprintf(settings->token_from, sizeof settings->token_from, "this login");
    settings->token_of_login = true;
    if (!invocation_begin(invocation, 1U << FORM_TABLE))
        return invocation_failed(invocation);
    if (!argument_given(invocation->arguments, "skip-test") && !test_token(invocation)) {
        invocation_say(invocation, "Nothing was stored.");
        return invocation_failed(invocation);
    }
    if (!settings_write_login(settings, &invocation->failure))
        return invocation_failed(invocation);
    invocation_say(invocation, "URL and token are stored as profile %s in %s and %s.",
                   settings->profile, settings->config_file, settings->credentials_file);
    return EXIT_DONE;
}

const struct command command_login = {
    .name = "login",
    .summary = "Store where the service is, and a token for it.",
    .description = "Asks for a token, or takes it from --token-file or standard input, tests it, "
                   "and stores it in a file that "
                   "only you can read (mode 0600), the URL in the configuration file beside it. "
                   "--profile stores several of them "
                   "side by side.\n\n"
                   "The token of a profile is only ever sent to the URL of that profile.",
    .examples = "  provisor login --url https://provisor.example\n"
                "  provisor login --url https://provisor.example --profile staging < token",
    .groups = {&group},
    .run = run};
