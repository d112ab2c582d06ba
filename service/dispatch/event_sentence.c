#include "dispatch/event_sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/plural.h"
#include "base/quantity_text.h"

enum { SENTENCE_BYTES = 1024, NAME_BYTES = 200, KIND_BYTES = 64, QUANTITY_BYTES = 64 };

/* The line as it grows. Names are cut to a length with which all sentences fit. */
struct sentence {
    const struct json_value *data;
    char name[NAME_BYTES + 4]; /* of the application; "": it names none */
    char text[SENTENCE_BYTES];
    size_t n;
};

static void say(struct sentence *s, const char *format, ...) PV_PRINTF(2, 3);
static void say(struct sentence *s, const char *format, ...)
{
    size_t room = sizeof s->text - s->n;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(s->text + s->n, room, format, arguments);
    va_end(arguments);
    if (n > 0)
        s->n += (size_t)n < room ? (size_t)n : room - 1;
}

/* --- members --- */

/* What a text may hold must not break the line. */
static void take_text(const struct json_value *data, const char *member, char *out, size_t room)
{
    const char *text = json_value_text(json_value_member(data, member));
    strview_shorten(strview_of(text == NULL ? "" : text), out, room);
    for (; *out != '\0'; out++)
        if ((unsigned char)*out < ' ' || *out == 0x7f)
            *out = ' ';
}

static bool text_is(const struct sentence *s, const char *member, const char *word)
{
    const char *text = json_value_text(json_value_member(s->data, member));
    return text != NULL && strcmp(text, word) == 0;
}

static bool number_of(const struct sentence *s, const char *member, double *number)
{
    const struct json_value *value = json_value_member(s->data, member);
    *number = json_value_number(value);
    return json_value_is_number(value);
}

/* --- quantities --- */

/* 1234567.5 as "1,234,567.5". */
static const char *grouped(double value, char out[QUANTITY_BYTES])
{
    char plain[32];
    (void)writer_format_number(value, plain);
    size_t digits = strspn(plain, "0123456789");
    bool has_exponent = strpbrk(plain, "eE") != NULL;
    size_t to = 0;
    for (size_t i = 0; i < digits && !has_exponent; i++) {
        if (i > 0 && (digits - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = plain[i];
    }
    (void)snprintf(out + to, QUANTITY_BYTES - to, "%s", plain + (has_exponent ? 0 : digits));
    return out;
}

/* Each says nothing, and answers false, where the member is not known. `before` comes first. */
static bool
say_duration(struct sentence *s, const char *before, const char *member, const char *behind)
{
    double seconds;
    if (!number_of(s, member, &seconds))
        return false;
    say(s, "%s%s%s", before, quantity_duration(seconds).text, behind);
    return true;
}

static bool say_count(struct sentence *s, const char *before, const char *member, const char *noun)
{
    double n;
    char words[QUANTITY_BYTES];
    if (!number_of(s, member, &n))
        return false;
    say(s, "%s%s %s%s", before, grouped(n, words), noun, PLURAL(n));
    return true;
}

/* "the deadline of 2 h" */
static void say_deadline(struct sentence *s, const char *before)
{
    say(s, "%s", before);
    (void)say_duration(s, " of ", "deadline_s", "");
}

static const char *whose(const struct sentence *s)
{
    return s->name[0] == '\0' ? "An application" : s->name;
}

/* --- events --- */

static void say_run(struct sentence *s)
{
    double size;
    char words[QUANTITY_BYTES];
    say(s, "%s: ", whose(s));
    if (say_count(s, "", "imported", "run")) {
        say(s, " imported");
        if (number_of(s, "replaced", &size) && size > 0)
            say(s, ", %s replaced", grouped(size, words));
    } else {
        bool failed = json_value_is(json_value_member(s->data, "succeeded"), JSON_VALUE_FALSE);
        say(s, failed ? "a run failed" : "a run was stored");
        (void)say_duration(s, failed ? " after " : ", ", "duration_s", "");
        (void)say_count(s, " on ", "executors", "executor");
        if (number_of(s, "problem_size", &size))
            say(s, ", problem size %s", grouped(size, words));
    }
    say(s, ".");
}

static void say_advice(struct sentence *s)
{
    double seconds;
    bool has_deadline = number_of(s, "deadline_s", &seconds);
    say(s, "%s: ", whose(s));
    if (!say_count(s, "", "executors", "executor")) {
        say(s, "too little is known to advise a number of executors");
        if (has_deadline)
            say_deadline(s, " for the deadline");
    } else {
        say(s, " advised");
        (void)say_duration(s, ", predicted to take ", "predicted_duration_s", "");
        if (has_deadline && text_is(s, "verdict", "met"))
            say_deadline(s, "; meets the deadline");
        else if (has_deadline && text_is(s, "verdict", "at_risk"))
            say_deadline(s, "; may miss the deadline");
        else if (has_deadline && text_is(s, "verdict", "missed"))
            say_deadline(s, "; misses the deadline");
    }
    say(s, ".");
}

static void say_infeasible(struct sentence *s)
{
    say(s, "%s %s", whose(s), text_is(s, "verdict", "at_risk") ? "may miss" : "cannot meet");
    say_deadline(s, " its deadline");
    if (say_duration(s, ": predicted to take ", "predicted_duration_s", ""))
        (void)say_count(s, " on ", "executors", "executor");
    say(s, ".");
}

static void say_missed(struct sentence *s)
{
    say(s, "%s missed", whose(s));
    say_deadline(s, " its deadline");
    if (say_duration(s, ": a run took ", "duration_s", ""))
        (void)say_duration(s, "; ", "predicted_duration_s", " had been predicted");
    say(s, ".");
}

/* Since the run of "2026-11-20 08:00 UTC". */
static void say_since(struct sentence *s)
{
    int64_t us;
    char at[INSTANT_TEXT];
    const char *text =
        json_value_text(json_value_member(json_value_member(s->data, "since_run"), "at"));
    if (text == NULL || !instant_parse(text, &us))
        return;
    instant_format(us, at);
    say(s, " since %.10s %.5s UTC", at, at + 11);
}

static void say_drift(struct sentence *s)
{
    double percent;
    bool faster = text_is(s, "direction", "faster");
    if (!faster && !text_is(s, "direction", "slower")) {
        say(s, "%s: runs no longer follow the model of those before.", whose(s));
        return;
    }
    say(s, "%s has become %s", whose(s), faster ? "faster" : "slower");
    if (number_of(s, "change_percent", &percent))
        say(s, ": runs take %s %s", quantity_percent(fabs(percent)).text,
            faster ? "less time" : "longer");
    say_since(s);
    if (say_count(s, " (", "runs_since", "run"))
        say(s, ")");
    say(s, ".");
}

static void say_operation(struct sentence *s)
{
    char kind[KIND_BYTES];
    char id[KIND_BYTES];
    take_text(s->data, "kind", kind, sizeof kind);
    take_text(s->data, "id", id, sizeof id);
    say(s, "The %s", kind[0] == '\0' ? "operation" : kind);
    if (s->name[0] != '\0')
        say(s, " %s %s", strcmp(kind, "import") == 0 ? "for" : "of", s->name);
    say(s, text_is(s, "status", "succeeded")   ? " succeeded"
           : text_is(s, "status", "cancelled") ? " was cancelled"
           : text_is(s, "status", "failed")    ? " failed"
                                               : " has ended");
    if (id[0] != '\0')
        say(s, " (%s)", id);
    say(s, ".");
}

static void say_expired(struct sentence *s)
{
    say(s, "%s: a reservation", whose(s));
    (void)say_count(s, " of ", "cores", "core");
    say(s, " expired unused.");
}

static void say_ping(struct sentence *s)
{
    say(s, "This is a test: provisor reaches this endpoint.");
}

const char *event_sentence(struct arena *arena, struct strview type, const struct json_value *data)
{
    static const struct {
        const char *type;
        void (*say)(struct sentence *s);
    } events[] = {
        {"run.ingested", say_run},
        {"advice.created", say_advice},
        {"deadline.infeasible", say_infeasible},
        {"deadline.missed", say_missed},
        {"model.drifted", say_drift},
        {"operation.completed", say_operation},
        {"admission.expired", say_expired},
        {"webhook.ping", say_ping},
    };
    struct sentence s = {.data = data};
    take_text(data, "application", s.name, sizeof s.name);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strview_is(type, events[i].type))
            events[i].say(&s);
    if (s.n == 0)
        say(&s, "Event %.*s.", (int)(type.n < NAME_BYTES ? type.n : NAME_BYTES), type.at);
    return arena_strndup(arena, s.text, s.n);
}
