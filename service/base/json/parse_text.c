#include <string.h>

#include "base/json/escape.h"
#include "base/json/parse_internal.h"

/* Standing at a backslash: what it stands for, behind *out. */
static bool take_escape(struct json_parser *p, char **out)
{
    const char *from = p->at++;
    uint32_t c = json_escape_take(&p->at, p->end);
    if (c == JSON_NO_CHARACTER)
        return json_parser_fault(p, from, "a backslash begins no escape that JSON has%s",
                                 p->at - from > 2 ? ", or half a pair of surrogates" : "");
    if (c == 0)
        return json_parser_fault(p, from, "a text may not hold \\u0000");
    *out += json_escape_encode(c, *out);
    return true;
}

/* Standing at what is no plain character and does not end the text. */
static bool take_special(struct json_parser *p, char **out)
{
    unsigned char c = (unsigned char)*p->at;
    if (c == '\\')
        return take_escape(p, out);
    if (c < 0x20)
        return json_parser_fault(p, p->at, "the control character 0x%02x stands in a text as it is",
                                 c);
    size_t n = strview_character((struct strview){p->at, (size_t)(p->end - p->at)});
    if (n == 0)
        return json_parser_fault(p, p->at, "the byte 0x%02x is not UTF-8", c);
    memcpy(*out, p->at, n);
    *out += n;
    p->at += n;
    return true;
}

bool json_parser_take_text(struct json_parser *p, struct strview *text)
{
    const char *from = p->at++;
    char *out = p->texts;
    for (;;) {
        p->at = json_copy_plain(p->at, p->end, &out);
        if (p->at == p->end)
            return json_parser_fault(p, from, "a text begins that does not end");
        if (*p->at == '"')
            break;
        if (!take_special(p, &out))
            return false;
    }
    p->at++;
    *out = '\0';
    *text = (struct strview){p->texts, (size_t)(out - p->texts)};
    p->texts = out + 1;
    return true;
}
