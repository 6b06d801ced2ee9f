/* The settings (environment variables) of the driver and the software GPU: the table is ptx2amd/settings/__init__.py. */
#ifndef PTX2AMD_SETTINGS_H
#define PTX2AMD_SETTINGS_H
#include <stdbool.h>

#include "settings_names.h"

/* What the user has set, else the default, which may be "". Wrong values count as not set: settings_check says so. */
const char *setting_text(enum setting setting);
bool setting_is_set(enum setting setting);
/* Counts; bytes; seconds; 0 or 1 of a switch; 100 * major + minor of a version. 0 where there is no default. */
double setting_number(enum setting setting);
bool setting_on(enum setting setting);

/* Says what is wrong: values that cannot be, of settings with one of these readers and none of `others`; with `unknown`,
 * variables of our prefix that are no settings. */
void settings_check(unsigned readers, unsigned others, bool unknown,
                    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2))));
#endif
