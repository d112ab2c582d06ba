#include "base/fault_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strview.h"

static void append(char name[FAULT_NAME_MAX], const char *text, size_t n)
{
    size_t at = strlen(name);
    if (at + n >= FAULT_NAME_MAX)
        n = FAULT_NAME_MAX - 1 - at;
    memcpy(name + at, text, n);
    name[at + n] = '\0';
}

static bool is_index(const char *segment, size_t n)
{
    return n > 0 && strspn(segment, "0123456789") >= n;
}

/* A segment of a pointer: "[1]" for an index, else ".name", unescaped (RFC 6901). */
static void append_segment(char name[FAULT_NAME_MAX], const char *segment, size_t n)
{
    if (is_index(segment, n)) {
        append(name, "[", 1);
        append(name, segment, n);
        append(name, "]", 1);
        return;
    }
    if (name[0] != '\0')
        append(name, ".", 1);
    for (size_t i = 0; i < n; i++) {
        bool escaped = segment[i] == '~' && i + 1 < n;
        append(name, escaped ? segment[i + 1] == '1' ? "/" : "~" : segment + i, 1);
        i += escaped;
    }
}

void fault_name_place(enum pv_place place, const char *at, char name[FAULT_NAME_MAX])
{
    name[0] = '\0';
    if (place != PV_PLACE_POINTER) {
        append(name, at, strlen(at));
        return;
    }
    while (*at == '/') {
        size_t n = strcspn(at + 1, "/");
        append_segment(name, at + 1, n);
        at += n + 1;
    }
    if (name[0] == '\0')
        append(name, "the body", 8);
}

struct fault_quoted fault_quote(const char *name)
{
    struct fault_quoted made = {"\""};
    strview_shorten(strview_of(name), made.text + 1, sizeof made.text - 2);
    size_t n = strlen(made.text);
    made.text[n] = '"';
    made.text[n + 1] = '\0';
    return made;
}

static bool begins_with_verb(const char *text)
{
    static const char *const verbs[] = {"is",    "must",  "may",   "has",    "have", "needs",
                                        "holds", "names", "makes", "begins", "does"};
    size_t n = strcspn(text, " ");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strlen(verbs[i]) == n && strncmp(text, verbs[i], n) == 0)
            return true;
    return false;
}

/* Is it "there is no application ..." of the place "application"? */
static bool names_place(const char *name, const char *text)
{
    static const char none[] = "there is no ";
    size_t n = strlen(name);
    return strncmp(text, none, sizeof none - 1) == 0 &&
           strncmp(text + sizeof none - 1, name, n) == 0 && text[sizeof none - 1 + n] == ' ';
}

void fault_write_sentence(const char *name, const char *text, char *out, size_t room)
{
    if (names_place(name, text)) {
        (void)snprintf(out, room, "%s", text);
        return;
    }
    (void)snprintf(out, room, begins_with_verb(text) ? "%s %s" : "%s: %s", name, text);
}
