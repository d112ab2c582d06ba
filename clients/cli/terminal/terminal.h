#ifndef CLI_TERMINAL_TERMINAL_H
#define CLI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What standard output and standard error are connected to. Colour only on a terminal, and not where
 * NO_COLOR is set or TERM is "dumb".
 */
struct terminal {
    bool out;       /* standard output is a terminal */
    bool err;       /* standard error is one */
    bool color_out; /* may be coloured */
    bool color_err;
    size_t width; /* columns of the terminal; 0: none, nothing is to be shortened */
};

/* color: "auto", "always" or "never". */
struct terminal terminal_ask(const char *color);

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_GOOD, STYLE_WARNING, STYLE_BAD, STYLE_FAINT };

/* The sequence that begins a style, and the one that ends any; "" without colour. */
const char *style_begin(bool color, enum style style);
const char *style_end(bool color);

/* Columns that a UTF-8 text takes; bytes that are no UTF-8 and control characters count one each. */
size_t text_columns(const char *text);

/* Texts from elsewhere shall not command a terminal: control characters of ASCII become blanks, others
 * and changes of direction become their code, such as \u0085 or \u202e. The text may become longer, up
 * to `room` - 1 bytes; what does not fit is cut. */
void text_defuse(char *text, size_t room);

/* How many bytes of the text fit into so many columns; no character is cut in two. */
size_t text_fitting(const char *text, size_t columns);

#endif
