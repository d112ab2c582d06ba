#include "core/history/name_token.h"

static const struct {
    const char *word;
    size_t least;
    size_t most;
} tokens[NAME_TOKEN_COUNT] = {
    [NAME_TOKEN_TEXT] = {"", 1, 0},
    [NAME_TOKEN_NAME] = {"name", 1, (size_t)-1},
    [NAME_TOKEN_REST] = {"rest", 1, (size_t)-1},
    [NAME_TOKEN_ANY] = {"any", 1, (size_t)-1},
    [NAME_TOKEN_DATE] = {"date", 8, 10},
    [NAME_TOKEN_TIME] = {"time", 4, 24},
    [NAME_TOKEN_EPOCH] = {"epoch", 10, 16},
    [NAME_TOKEN_UUID] = {"uuid", 32, 36},
    [NAME_TOKEN_HEX] = {"hex", 8, 64},
    [NAME_TOKEN_NUMBER] = {"number", 1, 20},
    [NAME_TOKEN_WORD] = {"word", 1, (size_t)-1},
    [NAME_TOKEN_SEP] = {"sep", 1, (size_t)-1},
};

enum name_token name_token_of(struct strview word)
{
    enum name_token token = NAME_TOKEN_NAME;
    while (token < NAME_TOKEN_COUNT && !strview_is(word, tokens[token].word))
        token++;
    return token;
}

bool name_token_is_open(enum name_token token)
{
    return token == NAME_TOKEN_NAME || token == NAME_TOKEN_REST || token == NAME_TOKEN_ANY;
}

bool name_token_is_endless(enum name_token token)
{
    return tokens[token].most == (size_t)-1;
}

/* --- characters --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c);
}

static bool is_separator(char c)
{
    return c != '\0' && strchr("-_.:/@+#~ ", c) != NULL;
}

static bool all(struct strview text, bool (*is)(char))
{
    for (size_t i = 0; i < text.n; i++) {
        if (!is(text.at[i]))
            return false;
    }
    return text.n > 0;
}

/* The n digits at `at`, or -1 where they are none. */
static int number_at(struct strview text, size_t at, size_t n)
{
    int value = 0;
    if (at + n > text.n)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (!is_digit(text.at[i]))
            return -1;
        value = value * 10 + (text.at[i] - '0');
    }
    return value;
}

/* --- kinds --- */

static bool is_day(int year, int month, int day)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return year >= 1970 && year < 2200 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] - (month == 2 && !leap ? 1 : 0);
}

static bool matches_date(struct strview text)
{
    if (text.n == 8)
        return is_day(number_at(text, 0, 4), number_at(text, 4, 2), number_at(text, 6, 2));
    char separator = text.n == 10 ? text.at[4] : '\0';
    bool separated = separator == '-' || separator == '_' || separator == '.' || separator == '/';
    return separated && text.at[7] == separator &&
           is_day(number_at(text, 0, 4), number_at(text, 5, 2), number_at(text, 8, 2));
}

/* Z, or +01:00, +0100, -01; returns the length of what stands before it. */
static size_t before_zone(struct strview text)
{
    if (text.n > 1 && text.at[text.n - 1] == 'Z')
        return text.n - 1;
    static const size_t lengths[] = {6, 5, 3};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        if (text.n <= n)
            continue;
        size_t at = text.n - n;
        bool sign = text.at[at] == '+';
        bool minutes = n == 3 || (n == 5 && number_at(text, at + 3, 2) >= 0) ||
                       (n == 6 && text.at[at + 3] == ':' && number_at(text, at + 4, 2) >= 0);
        if (sign && number_at(text, at + 1, 2) >= 0 && minutes)
            return at;
    }
    return text.n;
}

static bool is_clock(int hour, int minute, int second)
{
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
}

static bool matches_time(struct strview text)
{
    struct strview t = {text.at, before_zone(text)};
    if (t.n == 4 || (t.n == 6 && is_digit(t.at[2])))
        return is_clock(number_at(t, 0, 2), number_at(t, 2, 2), t.n == 4 ? 0 : number_at(t, 4, 2));
    char separator = t.n >= 5 ? t.at[2] : '\0';
    if (separator != ':' && separator != '-' && separator != '_')
        return false;
    int second = t.n == 5 ? 0 : t.n >= 8 && t.at[5] == separator ? number_at(t, 6, 2) : -1;
    if (!is_clock(number_at(t, 0, 2), number_at(t, 3, 2), second))
        return false;
    struct strview fraction = {t.at + 9, t.n > 9 ? t.n - 9 : 0};
    return t.n <= 8 || (t.at[8] == '.' && all(fraction, is_digit));
}

/* From September 2001 on, and for as long as ten digits do. */
static bool matches_epoch(struct strview text)
{
    return (text.n == 10 || text.n == 13 || text.n == 16) && text.at[0] >= '1' &&
           text.at[0] <= '4' && all(text, is_digit);
}

static bool matches_uuid(struct strview text)
{
    if (text.n == 32)
        return all(text, is_hex);
    if (text.n != 36)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (hyphen ? text.at[i] != '-' : !is_hex(text.at[i]))
            return false;
    }
    return true;
}

/* A word such as "deadbeef" or a number alone is left to {word} and {number}. */
static bool matches_hex(struct strview text)
{
    bool digit = false;
    bool letter = false;
    for (size_t i = 0; i < text.n; i++) {
        digit |= is_digit(text.at[i]);
        letter |= is_letter(text.at[i]);
    }
    return digit && letter && all(text, is_hex);
}

bool name_token_matches(enum name_token token, struct strview text)
{
    if (text.n < tokens[token].least || text.n > tokens[token].most)
        return false;
    switch ((unsigned)token) {
    case NAME_TOKEN_DATE:
        return matches_date(text);
    case NAME_TOKEN_TIME:
        return matches_time(text);
    case NAME_TOKEN_EPOCH:
        return matches_epoch(text);
    case NAME_TOKEN_UUID:
        return matches_uuid(text);
    case NAME_TOKEN_HEX:
        return matches_hex(text);
    case NAME_TOKEN_NUMBER:
        return all(text, is_digit);
    case NAME_TOKEN_WORD:
        return all(text, is_word);
    case NAME_TOKEN_SEP:
        return all(text, is_separator);
    default:
        return token != NAME_TOKEN_TEXT;
    }
}

/* --- beginnings --- */

/* The characters of which a kind consists that is recognised character by character, or NULL. */
static bool (*characters_of(enum name_token token))(char)
{
    switch ((unsigned)token) {
    case NAME_TOKEN_HEX:
        return is_hex;
    case NAME_TOKEN_NUMBER:
        return is_digit;
    case NAME_TOKEN_WORD:
        return is_word;
    case NAME_TOKEN_SEP:
        return is_separator;
    default:
        return NULL;
    }
}

size_t name_token_reach(enum name_token token, struct strview text, size_t *least, bool *sure)
{
    bool (*is)(char) = characters_of(token);
    size_t most = tokens[token].most < text.n ? tokens[token].most : text.n;
    *least = tokens[token].least;
    *sure = is != NULL || name_token_is_open(token);
    if (is == NULL)
        return most;
    bool digit = token != NAME_TOKEN_HEX; /* of which a hex id needs both */
    bool letter = digit;
    size_t n = 0;
    for (; n < most && is(text.at[n]); n++) {
        digit |= is_digit(text.at[n]);
        letter |= is_letter(text.at[n]);
        if (*least < n + 2 && !(digit && letter))
            *least = n + 2;
    }
    return n;
}
