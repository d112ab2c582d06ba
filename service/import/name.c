#include "codec/run.h"
#include "core/sparklog/screen.h"
#include "import/bulk.h"

static enum pv_code refuse_name(const char *code, const char *why, struct pv_error *err)
{
    return pv_fault(err, PV_PLACE_POINTER, "", code, "%s", why);
}

enum pv_code bulk_application_of(const struct bulk_options *options,
                                 const struct run *run,
                                 struct arena *arena,
                                 struct strview *name,
                                 struct pv_error *err)
{
    (void)arena;
    *name = strview_of(options->application);
    if (options->application != NULL)
        return PV_OK; /* checked when it was given */
    *name = run->log_name;
    if (run->log_name.at == NULL)
        return refuse_name("no_name", "the log does not name its application: give --application",
                           err);
    if (!codec_is_name(*name))
        return refuse_name("invalid_name",
                           "the application's name in the log is longer than 255 characters or"
                           " holds control characters: give --application",
                           err);
    if (screen_is_suspicious(*name))
        return refuse_name("name_suspicious",
                           "the application's name in the log looks as if it held a credential:"
                           " give --application",
                           err);
    return PV_OK;
}
