#include "base/instant.h"

#include <stdio.h>
#include <string.h>

static const int64_t US_PER_S = 1000000;
static const int64_t S_PER_DAY = 86400;

/* Days since 1970-01-01 of a Gregorian date, by 400-year cycles that start on 1 March. */
static int64_t days_from_date(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year =
        (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void date_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    *day = (unsigned)(day_of_year - (153 * shifted + 2) / 5 + 1);
    *month = (unsigned)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

/* n decimal digits at text; -1 when there are fewer. */
static int digits(const char *text, size_t n)
{
    int value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

bool instant_parse(const char *text, int64_t *us)
{
    if (strnlen(text, 20) < 20)
        return false;
    int year = digits(text, 4);
    int month = digits(text + 5, 2);
    int day = digits(text + 8, 2);
    int hour = digits(text + 11, 2);
    int minute = digits(text + 14, 2);
    int second = digits(text + 17, 2);
    bool marks = text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == 't') &&
                 text[13] == ':' && text[16] == ':';
    if (!marks || year < 1 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    if (day > days_in_month(year, month))
        return false;
    const char *at = text + 19;
    int64_t fraction = 0;
    if (*at == '.') {
        at++;
        int64_t unit = US_PER_S / 10;
        size_t n = 0;
        for (; *at >= '0' && *at <= '9'; at++, n++) {
            fraction += (*at - '0') * unit;
            unit /= 10;
        }
        if (n == 0 || n > 9)
            return false;
    }
    int64_t offset_s = 0;
    if (*at == 'Z' || *at == 'z') {
        at++;
    } else if (*at == '+' || *at == '-') {
        if (strnlen(at, 6) < 6 || at[3] != ':')
            return false;
        int hours = digits(at + 1, 2);
        int minutes = digits(at + 4, 2);
        if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
            return false;
        offset_s = (hours * 3600 + minutes * 60) * (*at == '-' ? -1 : 1);
        at += 6;
    } else {
        return false;
    }
    if (*at != '\0')
        return false;
    int64_t seconds = days_from_date(year, (unsigned)month, (unsigned)day) * S_PER_DAY +
                      hour * 3600 + minute * 60 + (second == 60 ? 59 : second) - offset_s;
    *us = seconds * US_PER_S + fraction;
    return true;
}

void instant_format(int64_t us, char out[INSTANT_TEXT])
{
    int64_t seconds = us / US_PER_S;
    int64_t fraction = us % US_PER_S;
    if (fraction < 0) {
        fraction += US_PER_S;
        seconds--;
    }
    int64_t days = seconds / S_PER_DAY;
    int64_t of_day = seconds % S_PER_DAY;
    if (of_day < 0) {
        of_day += S_PER_DAY;
        days--;
    }
    int64_t year;
    unsigned month;
    unsigned day;
    date_from_days(days, &year, &month, &day);
    char tail[12] = "";
    if (fraction % 1000 != 0)
        (void)snprintf(tail, sizeof tail, ".%06d", (int)fraction);
    else if (fraction != 0)
        (void)snprintf(tail, sizeof tail, ".%03d", (int)(fraction / 1000));
    (void)snprintf(out, INSTANT_TEXT, "%04d-%02u-%02uT%02d:%02d:%02d%sZ", (int)year, month, day,
                   (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60), tail);
}
