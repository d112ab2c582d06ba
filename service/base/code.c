#include "base/code.h"

static const struct {
    const char *name;
    const char *text;
} codes[] = {
#define PV_CODE_ROW(code, name, text) [code] = {name, text},
    PV_CODES(PV_CODE_ROW)
#undef PV_CODE_ROW
};

const char *pv_code_name(enum pv_code code)
{
    return (unsigned)code < PV_CODE_COUNT ? codes[code].name : "unknown";
}

const char *pv_code_text(enum pv_code code)
{
    return (unsigned)code < PV_CODE_COUNT ? codes[code].text : "unknown";
}
