#include "core/joblog/common/secret_scan.h"

#include <string.h>

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_letter(c) || is_digit(c);
}

static bool is_url(char c)
{
    return is_alnum(c) || c == '-' || c == '_';
}

static bool is_hex(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

/* Compared without regard to upper and lower case; `word` is in lower case. */
static bool begins_with(struct strview text, const char *word)
{
    size_t k = 0;
    while (word[k] != '\0' && k < text.n && lower(text.at[k]) == word[k])
        k++;
    return word[k] == '\0';
}

static struct strview tail(struct strview text, size_t at)
{
    return (struct strview){text.at + at, text.n - at};
}

/* Length of the beginning that is made of such characters. */
static size_t span(struct strview text, bool (*is)(char))
{
    size_t n = 0;
    while (n < text.n && is(text.at[n]))
        n++;
    return n;
}

/* --- randomness --- */

/* The letters that follow each letter in nearly all pairs (97.5 %) within English words. */
static const char *const followers[26] = {
    "bcdfgiklmnprstuvwxy",
    "aeilorsu",
    "acehiklmorstuy",
    "adeilmorsuy",
    "abcdefghilmnopqrstuvwxy",
    "aefilorstuy",
    "aeghilnorsu",
    "aeiorstu",
    "abcdefgklmnoprstvxz",
    "eo",
    "aeilns",
    "adeilostuy",
    "abeimopsu",
    "acdefgiklnopstuvy",
    "abcdfgiklmnoprstuvw",
    "aehiloprstuy",
    "u",
    "abcdefgiklmnoprstuvy",
    "acehiklmnopstuwy",
    "acdehiloprstuwy",
    "abcdefgilmnoprst",
    "aeio",
    "aehinors",
    "ceipt",
    "einopst",
    "e",
};

static bool is_usual_pair(char a, char b)
{
    return is_letter(a) && is_letter(b) && (is_upper(a) || !is_upper(b)) &&
           strchr(followers[lower(a) - 'a'], lower(b)) != NULL;
}

/*
 * Share of a run's pairs that words do not have: letters that seldom follow each other, a capital
 * after a small letter, a digit next to a letter. Two digits say nothing. In names it is 0.1 to 0.4,
 * in random runs 0.7 on average.
 */
static double unusual_share(struct strview run)
{
    size_t pairs = 0;
    size_t unusual = 0;
    for (size_t i = 1; i < run.n; i++) {
        char a = run.at[i - 1];
        char b = run.at[i];
        if ((is_digit(a) && is_digit(b)) || !is_alnum(a) || !is_alnum(b))
            continue;
        pairs++;
        unusual += !is_usual_pair(a, b);
    }
    return pairs == 0 ? 0 : (double)unusual / (double)pairs;
}

enum { RANDOM_RUN = 20, RANDOM_PART = 8, RANDOM_SUM = 24 };
static const double random_share = 0.47;

/* Of 20 letters and digits on end, or of 24 in parts of 8 and more: base64 has other characters, too.
 */
static bool find_random(struct strview text, size_t *at)
{
    size_t sum = 0;
    for (size_t i = 0; i < text.n; i++) {
        size_t n = span(tail(text, i), is_alnum);
        struct strview run = {text.at + i, n};
        if (n >= RANDOM_PART && unusual_share(run) >= random_share) {
            *at = sum == 0 ? i : *at;
            sum += n;
            if (n >= RANDOM_RUN || sum >= RANDOM_SUM)
                return true;
        }
        i += n;
        if (i < text.n && strchr("-_.+/=~", text.at[i]) == NULL)
            sum = 0;
    }
    return false;
}

/* --- well-known keys --- */

/*
 * Beginnings of keys, and the least number of characters of a kind behind them. A key whose
 * beginning could be a name's has to look random as well. Checksums (GitHub, npm) are not asked for:
 * a key with a slip in it does not belong in a name either.
 */
static const struct known_key {
    const char *prefix;
    size_t least;
    bool (*is)(char);
    bool random;
} known_keys[] = {
    {"AKIA", 16, is_alnum, false},      /* AWS: of a user */
    {"ASIA", 16, is_alnum, false},      /* AWS: for a while */
    {"ABIA", 16, is_alnum, false},      /* AWS: bearer token */
    {"ghp_", 16, is_alnum, false},      /* GitHub: personal, OAuth, user, server, refresh */
    {"gho_", 16, is_alnum, false},      /**/
    {"ghu_", 16, is_alnum, false},      /**/
    {"ghs_", 16, is_alnum, false},      /**/
    {"ghr_", 16, is_alnum, false},      /**/
    {"github_pat_", 20, is_url, false}, /**/
    {"glpat-", 16, is_url, true},       /* GitLab: personal, deploy, runner, trigger */
    {"gldt-", 16, is_url, true},        /**/
    {"glrt-", 16, is_url, true},        /**/
    {"glptt-", 16, is_url, true},       /**/
    {"xoxb-", 16, is_url, false},       /* Slack: bot, user, app, refresh, legacy */
    {"xoxp-", 16, is_url, false},       /**/
    {"xoxa-", 16, is_url, false},       /**/
    {"xoxr-", 16, is_url, false},       /**/
    {"xoxs-", 16, is_url, false},       /**/
    {"xapp-", 16, is_url, false},       /**/
    {"eyJ", 16, is_url, true},          /* JSON Web Token */
    {"dapi", 32, is_hex, false},        /* Databricks */
    {"dose", 32, is_hex, false},        /* Databricks: OAuth */
    {"sk_live_", 16, is_alnum, false},  /* Stripe */
    {"sk_test_", 16, is_alnum, false},  /**/
    {"rk_live_", 16, is_alnum, false},  /**/
    {"sk-", 20, is_url, true},          /* OpenAI, Anthropic */
    {"AIza", 30, is_url, true},         /* Google: API key, OAuth, refresh, client */
    {"ya29.", 16, is_url, true},        /**/
    {"1//0", 24, is_url, true},         /**/
    {"GOCSPX-", 20, is_url, false},     /**/
    {"npm_", 30, is_alnum, false},      /* npm */
    {"pypi-", 40, is_url, true},        /* PyPI */
    {"hf_", 30, is_alnum, true},        /* Hugging Face */
    {"SG.", 20, is_url, true},          /* SendGrid */
    {"SK", 32, is_hex, false},          /* Twilio: key, account */
    {"AC", 32, is_hex, false},          /**/
    {"key-", 32, is_hex, false},        /* Mailgun */
    {"dop_v1_", 32, is_hex, false},     /* DigitalOcean */
    {"shpat_", 32, is_hex, false},      /* Shopify */
    {"shpss_", 32, is_hex, false},      /**/
    {"sq0atp-", 20, is_url, false},     /* Square */
    {"sq0csp-", 20, is_url, false},     /**/
    {"hvs.", 20, is_url, true},         /* HashiCorp Vault */
    {"hvb.", 20, is_url, true},         /**/
    {"ATATT3", 20, is_url, true},       /* Atlassian */
    {"NRAK-", 20, is_alnum, false},     /* New Relic */
    {"lin_api_", 20, is_alnum, false},  /* Linear */
    {"dckr_pat_", 20, is_url, false},   /* Docker */
    {"PMAK-", 20, is_url, true},        /* Postman */
    {"LTAI", 12, is_alnum, true},       /* Alibaba */
    {"AKID", 28, is_alnum, true},       /* Tencent */
    {"AGE-SECRET-KEY-1", 30, is_alnum, false},
    {"prv_", 16, is_url, true},    /* provisor: token, secret of a webhook */
    {"whsec_", 16, is_url, false}, /**/
    {"-----BEGIN", 1, is_letter, false},
    {"-----BEGIN ", 3, is_letter, false},
};

static bool find_known_key(struct strview text, size_t *at)
{
    for (*at = 0; *at < text.n; ++*at) {
        if (*at > 0 && is_alnum(text.at[*at - 1]))
            continue;
        struct strview here = tail(text, *at);
        for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++) {
            const struct known_key *key = &known_keys[i];
            if (key->prefix[0] != here.at[0])
                continue;
            size_t n = strlen(key->prefix);
            if (here.n < n + key->least || memcmp(here.at, key->prefix, n) != 0)
                continue;
            struct strview value = {here.at + n, span(tail(here, n), key->is)};
            if (value.n >= key->least && (!key->random || unusual_share(value) >= random_share))
                return true;
        }
    }
    return false;
}

/* --- words with values --- */

/* In lower case; spaced: a space before the value is enough. */
static const struct {
    const char *text;
    bool spaced;
} words[] = {
    {"password", false},
    {"passwd", false},
    {"passphrase", false},
    {"pwd", false},
    {"secret", false},
    {"token", false},
    {"credential", false},
    {"credentials", false},
    {"apikey", false},
    {"api_key", false},
    {"api-key", false},
    {"api key", false},
    {"accesskey", false},
    {"access_key", false},
    {"access-key", false},
    {"access key", false},
    {"private key", false},
    {"private_key", false},
    {"private-key", false},
    {"privatekey", false},
    {"accountkey", false},
    {"account_key", false},
    {"secretkey", false},
    {"secret_key", false},
    {"signature", false},
    {"sig", false},
    {"authorization", false},
    {"bearer", true},
    {"authorization: basic", true},
    {"identified by", true},
};

/* Put where a value was removed: "***", "*(redacted)", "<hidden>", "${PASSWORD}", "null". */
static bool is_placeholder(struct strview value)
{
    static const char *const none[] = {"true", "false", "null", "none", "redacted", "hidden"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (value.n == strlen(none[i]) && begins_with(value, none[i]))
            return true;
    }
    return strchr("*<${[%", value.at[0]) != NULL;
}

/* Neither a word nor a number, date or time: it mixes letters with digits or signs, or cases. */
static bool is_mixed(struct strview value)
{
    bool digit = false;
    bool letter = false;
    bool sign = false;
    for (size_t i = 0; i < value.n; i++) {
        digit = digit || is_digit(value.at[i]);
        letter = letter || is_letter(value.at[i]);
        sign = sign || strchr("!#$%&*+?@^~=", value.at[i]) != NULL ||
               (i > 0 && is_upper(value.at[i]) && is_letter(value.at[i - 1]) &&
                !is_upper(value.at[i - 1]));
    }
    return letter && (digit || sign);
}

static bool is_of_value(char c)
{
    return strchr(" ,;&\"'<)}", c) == NULL;
}

static struct strview skip(struct strview text, const char *characters)
{
    size_t n = 0;
    while (n < text.n && strchr(characters, text.at[n]) != NULL)
        n++;
    return tail(text, n);
}

/* "2026w41", "v2": behind ':' names have these. */
static bool is_year_or_version(struct strview value)
{
    return begins_with(value, "19") || begins_with(value, "20") ||
           (begins_with(value, "v") && is_digit(value.at[1]));
}

/*
 * Does the value of a word follow it? Behind '=', and behind a space in an option ("--token x"),
 * any text is one. Behind ':', or behind a space for words that allow it, a text is one if it is in
 * quotes or does not look like a word, a number or a date.
 */
static bool is_assigned(struct strview after, bool spaced, bool option)
{
    struct strview rest = skip(after, "\"'])}>");
    struct strview value = begins_with(rest, "%3d") ? tail(rest, 3) : skip(rest, " =:>\"'");
    struct strview between = {after.at, (size_t)(value.at - after.at)};
    value.n = span(value, is_of_value);
    if (between.n == 0 || value.n == 0 || is_placeholder(value))
        return false;
    if (memchr(between.at, '=', between.n) != NULL || begins_with(rest, "%3d"))
        return true;
    if (between.at[0] == ' ' && option)
        return value.at[0] != '-';
    bool colon = memchr(between.at, ':', between.n) != NULL;
    bool quoted = strchr("\"'", value.at[-1]) != NULL;
    if (!colon && !spaced && between.at[0] != '>')
        return false;
    return quoted || (value.n >= 6 && is_mixed(value) && !is_year_or_version(value));
}

static bool find_assignment(struct strview text, size_t *at)
{
    for (*at = 0; *at < text.n; ++*at) {
        struct strview here = tail(text, *at);
        if (strchr("paistcb", lower(here.at[0])) == NULL)
            continue; /* no word begins so */
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t n = strlen(words[i].text);
            if (!begins_with(here, words[i].text) ||
                (n <= 3 && *at > 0 && is_letter(text.at[*at - 1])))
                continue;
            size_t option = *at;
            while (option > 0 && is_url(text.at[option - 1]))
                option--;
            bool is_option = *at - option >= 2 && memcmp(text.at + option, "--", 2) == 0;
            if (is_assigned(tail(here, n), words[i].spaced, is_option))
                return true;
        }
    }
    return false;
}

/* --- addresses --- */

/* scheme://user:password@host, and user/password@ of Oracle's JDBC addresses. */
static bool find_user_information(struct strview text, size_t *at)
{
    static const struct {
        const char *before;
        char between;
    } forms[] = {{"://", ':'}, {"oracle:thin:", '/'}};
    for (*at = 0; *at < text.n; ++*at) {
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            struct strview here = tail(text, *at);
            if (!begins_with(here, forms[i].before))
                continue;
            struct strview user = tail(here, strlen(forms[i].before));
            const char *sign = memchr(user.at, '@', user.n);
            const char *between = memchr(user.at, forms[i].between, user.n);
            if (sign != NULL && between != NULL && between + 1 < sign &&
                memchr(user.at, ' ', (size_t)(sign - user.at)) == NULL)
                return true;
        }
    }
    return false;
}

/* --- all of them --- */

static const struct {
    bool (*find)(struct strview text, size_t *at);
    const char *what;
} evidence[] = {
    {find_assignment, "a password, key or token with its value"},
    {find_user_information, "a user and password in an address"},
    {find_known_key, "a key of a well-known form"},
    {find_random, "a long random text"},
};

enum { EVIDENCE = sizeof evidence / sizeof *evidence };

static const char *find_evidence(struct strview text, size_t kinds, size_t *at)
{
    for (size_t i = 0; i < kinds; i++) {
        if (evidence[i].find(text, at))
            return evidence[i].what;
    }
    return NULL;
}

const char *secret_found(struct strview text, size_t *at)
{
    size_t place;
    return find_evidence(text, EVIDENCE, at == NULL ? &place : at);
}

bool screen_is_suspicious(struct strview text)
{
    return secret_found(text, NULL) != NULL;
}

bool screen_is_marked(struct strview text)
{
    size_t at;
    return find_evidence(text, EVIDENCE - 1, &at) != NULL;
}
