/* wcwidth is of the X/Open part of POSIX. */
#define _XOPEN_SOURCE 700
#include "cli/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/unseen_character.h"

enum { WIDTH_LEAST = 40, WIDTH_MOST = 1000 };

static size_t ask_width(void)
{
    const char *columns = getenv("COLUMNS");
    long value = columns == NULL ? 0 : strtol(columns, NULL, 10);
    struct winsize size = {.ws_col = 0};
    if (value <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        value = size.ws_col;
    if (value <= 0)
        value = 80;
    if (value < WIDTH_LEAST)
        value = WIDTH_LEAST;
    return (size_t)(value > WIDTH_MOST ? WIDTH_MOST : value);
}

struct terminal terminal_ask(const char *color)
{
    struct terminal terminal = {.out = isatty(STDOUT_FILENO) == 1,
                                .err = isatty(STDERR_FILENO) == 1};
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool wanted = (no_color == NULL || no_color[0] == '\0') &&
                  (term == NULL || strcmp(term, "dumb") != 0) && strcmp(color, "never") != 0;
    bool always = strcmp(color, "always") == 0;
    terminal.color_out = always || (wanted && terminal.out);
    terminal.color_err = always || (wanted && terminal.err);
    terminal.width = terminal.out ? ask_width() : 0;
    return terminal;
}

const char *style_begin(bool color, enum style style)
{
    static const char *const begins[] = {
        [STYLE_PLAIN] = "",           [STYLE_BOLD] = "\033[1m", [STYLE_GOOD] = "\033[32m",
        [STYLE_WARNING] = "\033[33m", [STYLE_BAD] = "\033[31m", [STYLE_FAINT] = "\033[2m"};
    return color ? begins[style] : "";
}

const char *style_end(bool color)
{
    return color ? "\033[0m" : "";
}

/* The next character: its bytes (1 at least), and its columns in *columns. */
static size_t next_character(const char *text, size_t n, size_t *columns)
{
    wchar_t wide;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    size_t used = mbrtowc(&wide, text, n, &state);
    *columns = 1;
    if (used == 0 || used == (size_t)-1 || used == (size_t)-2)
        return 1;
    int width = wcwidth(wide);
    *columns = width < 0 ? 1 : (size_t)width;
    return used;
}

size_t text_columns(const char *text)
{
    size_t sum = 0;
    for (size_t n = strlen(text), at = 0; at < n;) {
        size_t columns;
        at += next_character(text + at, n - at, &columns);
        sum += columns;
    }
    return sum;
}

void text_defuse(char *text, size_t room)
{
    enum { ESCAPE_BYTES = sizeof "\\u0085" - 1 };
    size_t n = strlen(text), unseen;
    unsigned code;
    for (size_t i = 0; i < n; i++) {
        unseen = unseen_character((struct strview){text + i, n - i}, &code);
        if (unseen == 1)
            text[i] = ' ';
        if (unseen <= 1)
            continue;
        if (i + ESCAPE_BYTES >= room) {
            text[i] = '\0';
            return;
        }
        size_t rest = n - i - unseen, kept = room - 1 - i - ESCAPE_BYTES;
        kept = rest < kept ? rest : kept;
        char escape[ESCAPE_BYTES + 1];
        (void)snprintf(escape, sizeof escape, "\\u%04x", code & 0xffffU);
        memmove(text + i + ESCAPE_BYTES, text + i + unseen, kept);
        memcpy(text + i, escape, ESCAPE_BYTES);
        n = i + ESCAPE_BYTES + kept;
        text[n] = '\0';
        i += ESCAPE_BYTES - 1;
    }
}

size_t text_fitting(const char *text, size_t columns)
{
    size_t n = strlen(text);
    size_t at = 0;
    size_t sum = 0;
    while (at < n) {
        size_t more;
        size_t used = next_character(text + at, n - at, &more);
        if (sum + more > columns)
            break;
        sum += more;
        at += used;
    }
    return at;
}
