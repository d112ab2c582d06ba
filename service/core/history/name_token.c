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
    [NAME_TOKEN_EPOCH] = {"epoch", 10, 19},
    [NAME_TOKEN_UUID] = {"uuid", 32, 36},
    [NAME_TOKEN_HEX] = {"hex", 8, 64},
    [NAME_TOKEN_NUMBER] = {"number", 1, 20},
    [NAME_TOKEN_WORD] = {"word", 1, (size_t)-1},
    [NAME_TOKEN_SEP] = {"sep", 1, (size_t)-1},
    [NAME_TOKEN_HOUR] = {"hour", 1, 2},
    [NAME_TOKEN_MONTH] = {"month", 7, 7},
    [NAME_TOKEN_PERIOD] = {"period", 6, 10},
    [NAME_TOKEN_TRIGGER] = {"trigger", 6, 21},
    [NAME_TOKEN_POD] = {"pod", 5, 16},
    [NAME_TOKEN_EMR] = {"emr", 12, 24},
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
    return month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] - (month == 2 && !leap ? 1 : 0);
}

static bool is_date_separator(char c)
{
    return c == '-' || c == '_' || c == '.' || c == '/';
}

static bool is_year(int year)
{
    return year >= 1970 && year < 2200;
}

static bool matches_month(struct strview text)
{
    int month = number_at(text, 5, 2);
    return is_year(number_at(text, 0, 4)) && is_date_separator(text.at[4]) && month >= 1 &&
           month <= 12;
}

/* 2026-W41, 2026W41, 2026-W41-3, 2026W413, 2026Q4, 2026-Q4. */
static bool matches_period(struct strview text)
{
    size_t at = 4 + (size_t)is_date_separator(text.at[4]);
    char kind = (char)(text.at[at] | 0x20);
    if (!is_year(number_at(text, 0, 4)))
        return false;
    if (kind == 'q')
        return text.n == at + 2 && text.at[at + 1] >= '1' && text.at[at + 1] <= '4';
    int week = number_at(text, at + 1, 2);
    size_t day = at + 3;
    if (kind != 'w' || week < 1 || week > 53)
        return false;
    if (day < text.n && is_date_separator(text.at[day]))
        day++;
    return text.n == at + 3 || (text.n == day + 1 && text.at[day] >= '1' && text.at[day] <= '7');
}

static bool matches_date(struct strview text)
{
    int year = number_at(text, 0, 4);
    if (text.n == 8)
        return is_year(year) && is_day(year, number_at(text, 4, 2), number_at(text, 6, 2));
    return text.n == 10 && is_year(year) && is_date_separator(text.at[4]) &&
           text.at[7] == text.at[4] && is_day(year, number_at(text, 5, 2), number_at(text, 8, 2));
}

/* Z or z, or +01:00, +0100, -01; returns the length of what stands before it. */
static size_t before_zone(struct strview text)
{
    if (text.n > 1 && (text.at[text.n - 1] | 0x20) == 'z')
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

/* 021500, with a fraction or not. Labels of Kubernetes have no + before the zone: 0215000000. */
static bool matches_short_time(struct strview t)
{
    struct strview behind = {t.at + 6, t.n - 6};
    if (behind.n > 4 && behind.at[0] == '.')
        behind = (struct strview){behind.at + 1, behind.n - 1};
    else if (behind.n != 0 && behind.n != 4)
        return false;
    return is_clock(number_at(t, 0, 2), number_at(t, 2, 2), number_at(t, 4, 2)) &&
           (behind.n == 0 || all(behind, is_digit));
}

static bool matches_time(struct strview text)
{
    struct strview t = {text.at, before_zone(text)};
    if (t.n == 4)
        return is_clock(number_at(t, 0, 2), number_at(t, 2, 2), 0);
    if (t.n >= 6 && is_digit(t.at[2]))
        return matches_short_time(t);
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
    return (text.n == 10 || text.n == 13 || text.n == 16 || text.n == 19) && text.at[0] >= '1' &&
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

static bool matches_trigger(struct strview text)
{
    static const char *const triggers[] = {"manual",
                                           "scheduled",
                                           "backfill",
                                           "dataset_triggered",
                                           "asset_triggered",
                                           "asset_materialization",
                                           "operator_triggered"};
    for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++) {
        if (strview_is(text, triggers[i]))
            return true;
    }
    return false;
}

/* Generated names avoid vowels, 0, 1 and 3, so that they never spell a word. */
static bool is_generated(char c)
{
    return c != '\0' && strchr("bcdfghjklmnpqrstvwxz2456789", c) != NULL;
}

/*
 * The five characters behind a generated name, the hash of a ReplicaSet before them, or both:
 * x7k2m, 7d9f8b6c5-x2k4q. Letters and digits have to change places twice ("256gb" is a size).
 */
static bool matches_pod(struct strview text)
{
    size_t hash = text.n;
    if (text.n > 10 && text.at[text.n - 6] == '-')
        hash = text.n - 6;
    size_t changes = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (i != hash && !is_generated(text.at[i]))
            return false;
        changes += i > 0 && i < hash && is_digit(text.at[i]) != is_digit(text.at[i - 1]);
    }
    bool behind = hash < text.n;
    return changes >= 2 && (hash == 5 ? !behind : hash >= 8 && hash <= 10);
}

/* s-1A2B3C4D5E6F7 and j-2AXYZ...: ten characters and more, digits among them. */
static bool matches_emr(struct strview text)
{
    if (strchr("sj", text.at[0]) == NULL || text.at[1] != '-')
        return false;
    bool digit = false;
    for (size_t i = 2; i < text.n; i++) {
        digit = digit || is_digit(text.at[i]);
        if (!is_digit(text.at[i]) && (text.at[i] < 'A' || text.at[i] > 'Z'))
            return false;
    }
    return digit;
}

static bool matches_hour(struct strview text)
{
    int hour = number_at(text, 0, text.n);
    return hour >= 0 && hour < 24;
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
    case NAME_TOKEN_HOUR:
        return matches_hour(text);
    case NAME_TOKEN_MONTH:
        return matches_month(text);
    case NAME_TOKEN_PERIOD:
        return matches_period(text);
    case NAME_TOKEN_TRIGGER:
        return matches_trigger(text);
    case NAME_TOKEN_POD:
        return matches_pod(text);
    case NAME_TOKEN_EMR:
        return matches_emr(text);
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
