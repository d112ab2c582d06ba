#include "core/joblog/common/secret_scan.h"

#include <string.h>

/* Lower case. */
static const char *const words[] = {
    "password",   "passwd",     "passphrase",    "pwd=",        "secret",
    "token",      "credential", "apikey",        "api_key",     "api-key",
    "accesskey",  "access_key", "access-key",    "private key", "private_key",
    "privatekey", "bearer",     "authorization", "signature",   "-----begin",
};

/* How well-known keys begin. */
static const char *const marks[] = {
    "AKIA", "ASIA", "ghp_", "gho_", "ghs_",   "github_pat_", "glpat-", "xox",
    "eyJ",  "dapi", "sk-",  "prv_", "whsec_", "AIza",        "ya29.",
};

/* Runs of letters and digits as long as these, with as many digits, are taken for random: names
 * have few digits in many letters. */
enum { RANDOM_RUN = 24, RANDOM_SHARE = 8, LONG_RUN = 36, LONG_DIGITS = 2, KEY_RUN = 16 };

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool has_word(struct strview text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++) {
        size_t k = 0;
        while (k < n && lower(text.at[i + k]) == word[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

static bool is_key_character(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '+' || c == '_' ||
           c == '-' || c == '=';
}

static bool has_mark(struct strview run)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i]);
        if (run.n >= KEY_RUN && memcmp(run.at, marks[i], n) == 0)
            return true;
    }
    return false;
}

static bool looks_random(struct strview run)
{
    size_t digits = 0;
    for (size_t i = 0; i < run.n; i++)
        digits += run.at[i] >= '0' && run.at[i] <= '9';
    if (digits == run.n)
        return false;
    return (run.n >= RANDOM_RUN && digits >= run.n / RANDOM_SHARE) ||
           (run.n >= LONG_RUN && digits >= LONG_DIGITS);
}

static bool is_mark_or_random(struct strview run)
{
    return has_mark(run) || looks_random(run);
}

/* Is there a run of a key's characters that is such? */
static bool has_run(struct strview text, bool (*is_such)(struct strview run))
{
    for (size_t i = 0; i < text.n; i++) {
        size_t from = i;
        while (i < text.n && is_key_character(text.at[i]))
            i++;
        if (is_such((struct strview){text.at + from, i - from}))
            return true;
    }
    return false;
}

/* scheme://user:password@host */
static bool has_user_information(struct strview text)
{
    for (size_t i = 0; i + 3 <= text.n; i++) {
        if (memcmp(text.at + i, "://", 3) != 0)
            continue;
        for (size_t k = i + 3; k < text.n && text.at[k] != ' '; k++) {
            if (text.at[k] == '@')
                return true;
        }
    }
    return false;
}

static bool has_any_word(struct strview text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (has_word(text, words[i]))
            return true;
    }
    return false;
}

bool screen_is_marked(struct strview text)
{
    return has_any_word(text) || has_user_information(text) || has_run(text, has_mark);
}

bool screen_is_suspicious(struct strview text)
{
    return has_any_word(text) || has_user_information(text) || has_run(text, is_mark_or_random);
}
