#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "codec/json/reader.h"
#include "command/args.h"
#include "command/command.h"
#include "core/history/run.h"
#include "http/token.h"
#include "store/access/access.h"
#include "threads/clock.h"

/*
 * Tokens by the hand of whoever owns the database: no service need run. The text of a new token is
 * all that comes on standard output, so that it can go straight into a file.
 */

static int token_fail(const struct config *config, const char *what, const struct pv_error *err)
{
    fprintf(stderr, "provisord: token %s: %s\n", what, err->detail);
    args_explain_unreachable(config, true, err);
    return COMMAND_FAILED;
}

static int token_usage(const char *why)
{
    fprintf(stderr,
            "provisord: token: %s\n"
            "usage: provisord token create --team T --name N --scopes read,write,admin"
            " [--expires-in 90d]\n"
            "       provisord token list [--team T]\n"
            "       provisord token revoke ID\n",
            why);
    return COMMAND_USAGE;
}

static enum pv_code read_service_key(const char *owner, unsigned char key[32], struct pv_error *err)
{
    struct store_options options = {
        .conninfo = owner, .connections_max = 1, .wait_ms = 10000, .statement_timeout_ms = 10000};
    struct store *store = NULL;
    PV_TRY(store_open(&options, &store, err));
    enum pv_code code = store_service_key(store, key, err);
    store_close(store);
    return code;
}

static enum pv_code
make_token(const char *owner, const char *team, struct token *row, struct pv_error *err)
{
    unsigned char key[32];
    enum pv_code code = read_service_key(owner, key, err);
    if (code != PV_OK)
        return code;
    unsigned char secret[TOKEN_SECRET];
    char text[TOKEN_TEXT];
    clock_uuid7(row->id);
    token_make(row->id, secret, text);
    token_hash(key, row->id, secret, row->hash);
    sodium_memzero(secret, sizeof secret);
    code = store_bootstrap_token(owner, team, row, err);
    if (code == PV_OK && (puts(text) < 0 || fflush(stdout) != 0))
        code = pv_fail(err, PV_E_INTERNAL, "the token was made but could not be written");
    sodium_memzero(text, sizeof text);
    return code;
}

static int command_token_create(const struct config *config,
                                const char *team,
                                const char *name,
                                const char *scopes,
                                const char *expires_in)
{
    if (team == NULL || !codec_is_name(strview_of(team)))
        return token_usage("create needs --team, a name of 1 to 255 characters");
    if (name == NULL || !codec_is_name(strview_of(name)))
        return token_usage("create needs --name, a name of 1 to 255 characters");
    struct token row = {.team = strview_of(team),
                        .name = strview_of(name),
                        .scopes = scopes == NULL ? 0 : args_parse_scopes(scopes),
                        .created_us = clock_wall_us(),
                        .expires_us = RUN_NO_INSTANT,
                        .last_used_us = RUN_NO_INSTANT,
                        .revoked_us = RUN_NO_INSTANT};
    if (row.scopes == 0)
        return token_usage("create needs --scopes, some of read,write,admin");
    int64_t seconds;
    if (expires_in != NULL) {
        if (!args_parse_duration(expires_in, &seconds))
            return token_usage(
                "--expires-in wants a number with s, m, h or d behind it, such as 90d");
        row.expires_us = row.created_us + seconds * 1000000;
    }
    struct pv_error err = {.code = PV_OK};
    if (make_token(args_owner_url(config), team, &row, &err) != PV_OK)
        return token_fail(config, "create", &err);
    fprintf(stderr, "provisord: token %s of team %s; its text is not shown again\n", row.id, team);
    return COMMAND_DONE;
}

static void print_token(const struct token *row)
{
    printf("%s\t%.*s\t%.*s\t%s%s%s", row->id, (int)row->team.n, row->team.at, (int)row->name.n,
           row->name.at, (row->scopes & SCOPE_READ) != 0 ? "r" : "-",
           (row->scopes & SCOPE_WRITE) != 0 ? "w" : "-",
           (row->scopes & SCOPE_ADMIN) != 0 ? "a" : "-");
    args_print_instant(row->created_us);
    args_print_instant(row->expires_us);
    args_print_instant(row->last_used_us);
    args_print_instant(row->revoked_us);
    (void)putchar('\n');
}

static int command_token_list(const struct config *config, const char *team)
{
    struct pv_error err = {.code = PV_OK};
    struct arena arena;
    arena_init(&arena, 0);
    struct token_list tokens;
    enum pv_code code = store_owner_token_list(args_owner_url(config), &arena, team, &tokens, &err);
    if (code == PV_OK) {
        puts("id\tteam\tname\tscopes\tcreated\texpires\tlast used\trevoked");
        for (size_t i = 0; i < tokens.n; i++)
            print_token(&tokens.items[i]);
    }
    arena_fini(&arena);
    return code == PV_OK ? COMMAND_DONE : token_fail(config, "list", &err);
}

static int revoke(const struct config *config, const char *text)
{
    char id[37];
    if (!uuid_parse(text, id))
        return token_usage("revoke wants the id of a token, as `token list` shows it");
    struct pv_error err = {.code = PV_OK};
    if (store_owner_token_revoke(args_owner_url(config), id, &err) != PV_OK)
        return token_fail(config, "revoke", &err);
    fprintf(stderr, "provisord: token %s is revoked; it is refused within %lld ms\n", id,
            (long long)config->token_cache_ms);
    return COMMAND_DONE;
}

int command_token(int argc, char *argv[])
{
    struct arg_option options[] = {
        {.name = "team"}, {.name = "name"}, {.name = "scopes"}, {.name = "expires-in"}, {0}};
    const char *words[2] = {"", NULL};
    size_t n;
    struct config config;
    if (!args_read(argc, argv, options, words, 2, &n, &config))
        return COMMAND_USAGE;
    if (n == 1 && strcmp(words[0], "create") == 0)
        return command_token_create(&config, options[0].value, options[1].value, options[2].value,
                                    options[3].value);
    if (n == 1 && strcmp(words[0], "list") == 0)
        return command_token_list(&config, options[0].value);
    if (n == 2 && strcmp(words[0], "revoke") == 0)
        return revoke(&config, words[1]);
    return token_usage("say create, list or revoke");
}
