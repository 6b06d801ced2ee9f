/* Reads settings by the rules of values.py. secure_getenv: in a program that runs with rights which its caller lacks, the
 * caller's variables do not count. No strtod: programs set locales with another decimal point. */
#define _GNU_SOURCE
#include "settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { KIND_TEXT, KIND_PATH, KIND_SWITCH, KIND_CHOICE, KIND_COUNT, KIND_BYTES, KIND_SECONDS, KIND_VERSION };
struct row {
  const char *variable;
  enum kind kind;
  const char *fallback, *choices, *expected; /* choices: each ended by a NUL, one more at the end */
  double least, most;
  unsigned readers;
};
struct unit { enum kind kind; const char *name; double factor; };

#include "settings_rows.h"

enum { PREFIX = 8 }; /* PTX2AMD_ */

static bool read_switch(const char *text, double *number) {
  static const char *const words[] = {"0", "1", "off", "on", "no", "yes", "false", "true"};
  for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcasecmp(text, words[i])) {
      *number = i % 2;
      return true;
    }
  return false;
}

static bool read_unit(enum kind kind, const char *text, double *number) {
  for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
    if (units[i].kind == kind && !strcmp(units[i].name, text)) {
      *number *= units[i].factor;
      return true;
    }
  return false;
}

static bool read_number(enum kind kind, const char *text, double *number) {
  size_t length = strspn(text, "0123456789."), whole = strspn(text, "0123456789");
  double value = 0, part = 0, place = 1;
  if (!whole || length > 18) return false;
  for (size_t i = 0; i < whole; i++) value = value * 10 + (text[i] - '0');
  for (size_t i = whole + 1; i < length; i++) {
    if (text[i] == '.') return false;
    part = part * 10 + (text[i] - '0');
    place *= 10;
  }
  bool dot = length > whole;
  if (kind == KIND_VERSION) {
    *number = value * 100 + part;
    return (place == 10 || place == 100) && !text[length];
  }
  *number = value + part / place;
  return !(kind == KIND_COUNT && dot) && read_unit(kind, text + length, number);
}

static bool is_choice(const char *choices, const char *text) {
  for (; *choices; choices += strlen(choices) + 1)
    if (!strcmp(choices, text)) return true;
  return false;
}

static bool allowed(const struct row *row, const char *text, double *number) {
  *number = 0;
  if (row->kind == KIND_TEXT || row->kind == KIND_PATH) return true;
  if (row->kind == KIND_CHOICE) return is_choice(row->choices, text);
  bool read = row->kind == KIND_SWITCH ? read_switch(text, number) : read_number(row->kind, text, number);
  return read && *number >= row->least && *number <= row->most;
}

static const char *value(enum setting setting, double *number) {
  const char *text = secure_getenv(rows[setting].variable);
  if (text && *text && allowed(&rows[setting], text, number)) return text;
  if (*rows[setting].fallback) allowed(&rows[setting], rows[setting].fallback, number);
  else *number = 0;
  return rows[setting].fallback;
}

const char *setting_text(enum setting setting) {
  double number;
  return value(setting, &number);
}

double setting_number(enum setting setting) {
  double number;
  value(setting, &number);
  return number;
}

bool setting_on(enum setting setting) { return setting_number(setting) != 0; }

bool setting_is_set(enum setting setting) { return setting_text(setting) != rows[setting].fallback; }

/* ---- what is wrong ---- */

/* Insertions, deletions and replacements from one name to the other. */
static unsigned distance(const char *a, size_t a_size, const char *b) {
  enum { LONGEST = 63 };
  unsigned row[LONGEST + 1];
  size_t b_size = strlen(b);
  if (a_size > LONGEST || b_size > LONGEST) return LONGEST;
  for (unsigned j = 0; j <= b_size; j++) row[j] = j;
  for (unsigned i = 1; i <= a_size; i++) {
    unsigned corner = row[0];
    row[0] = i;
    for (unsigned j = 1; j <= b_size; j++) {
      unsigned replaced = corner + (a[i - 1] != b[j - 1]), other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      corner = row[j];
      row[j] = replaced < other ? replaced : other;
    }
  }
  return row[b_size];
}

static const struct row *row_of(const char *name, size_t size) {
  for (unsigned i = 0; i < SETTINGS; i++)
    if (strlen(rows[i].variable) == size && !strncmp(rows[i].variable, name, size)) return &rows[i];
  return NULL;
}

static const char *similar(const char *name, size_t size) {
  unsigned nearest = (unsigned)(size - PREFIX) / 3 + 1, far;
  const char *found = NULL;
  for (unsigned i = 0; i < SETTINGS; i++)
    if ((far = distance(name, size, rows[i].variable)) < nearest) nearest = far, found = rows[i].variable;
  return found;
}

void settings_check(unsigned readers, unsigned others, bool unknown,
                    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)))) {
  extern char **environ;
  for (char **item = environ; item && *item; item++) {
    const char *equals = strchr(*item, '=');
    if (strncmp(*item, "PTX2AMD_", PREFIX) || !equals || !equals[1]) continue;
    size_t size = (size_t)(equals - *item);
    const struct row *row = row_of(*item, size);
    double number;
    if (row && (row->readers & readers) && !(row->readers & others) && !allowed(row, equals + 1, &number))
      say("%s is ignored: expected %s", *item, row->expected);
    if (row || !unknown) continue;
    const char *other = similar(*item, size);
    say("there is no setting %.*s%s%s%s", (int)size, *item, other ? "; did you mean " : "", other ? other : "",
        other ? "?" : "");
  }
}
