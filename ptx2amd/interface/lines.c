#define _GNU_SOURCE
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *next_word(char **rest) {
  char *start = *rest, *end = start + strcspn(start, " ");
  *rest = *end ? end + 1 : end;
  *end = 0;
  return start;
}

/* A decimal number in a range. */
static bool number(const char *word, long long least, unsigned long long most, void *to, size_t size) {
  char *end;
  bool negative = *word == '-';
  if (word[negative] < '0' || word[negative] > '9') return false;
  errno = 0;
  unsigned long long value = negative ? (unsigned long long)strtoll(word, &end, 10) : strtoull(word, &end, 10);
  if (errno || *end || (negative ? (long long)value < least : value > most)) return false;
  memcpy(to, &value, size); /* little-endian */
  return true;
}

static bool choice(const char *word, const char *const *choices, void *to) {
  for (int i = 0; choices[i]; i++)
    if (!strcmp(word, choices[i])) {
      memcpy(to, &i, sizeof i);
      return true;
    }
  return false;
}

static bool set(char **rest, void *to) {
  uint32_t bits = 0, bit;
  while (**rest) {
    if (!number(next_word(rest), 0, 31, &bit, sizeof bit)) return false;
    bits |= 1u << bit;
  }
  memcpy(to, &bits, sizeof bits);
  return true;
}

static bool read_column(const struct line_column *c, char **rest, void *to) {
  bool flag = false;
  switch (c->kind) {
    case COLUMN_BOOL:
      if (!number(next_word(rest), 0, 1, &flag, sizeof flag)) return false;
      memcpy(to, &flag, sizeof flag);
      return true;
    case COLUMN_INT: return number(next_word(rest), 0, INT32_MAX, to, 4);
    case COLUMN_U32: return number(next_word(rest), 0, UINT32_MAX, to, 4);
    case COLUMN_U64: return number(next_word(rest), 0, UINT64_MAX, to, 8);
    case COLUMN_I64: return number(next_word(rest), INT64_MIN, INT64_MAX, to, 8);
    case COLUMN_CHOICE: return choice(next_word(rest), c->choices, to);
    case COLUMN_SET: return set(rest, to);
    case COLUMN_WORD: return *(*(const char **)to = next_word(rest)) != 0;
    case COLUMN_TEXT:
      *(const char **)to = *rest;
      *rest += strlen(*rest);
      return true;
  }
  return false;
}

/* A new element of a list; room grows when a power of two is full. NULL: no memory. */
static char *grown(const struct line_row *row, char *record) {
  char **list = (char **)(record + row->list);
  uint32_t *count = (uint32_t *)(record + row->count), n = *count;
  if (!(n & (n - 1))) {
    char *more = n > UINT32_MAX / 4 ? NULL : reallocarray(*list, n ? 2 * (size_t)n : 1, row->size);
    if (!more) return NULL;
    *list = more;
  }
  ++*count;
  return memset(*list + n * row->size, 0, row->size);
}

static const struct line_row *row_of(const struct line_table *table, const char *key) {
  for (unsigned i = 0; table && i < table->row_count; i++)
    if (!strcmp(table->rows[i].key, key)) return &table->rows[i];
  return NULL;
}

static bool read_row(const struct line_row *row, char *element, char *rest) {
  for (unsigned i = 0; i < row->column_count; i++)
    if (!read_column(&row->columns[i], &rest, element + row->columns[i].at)) return false;
  return !*rest;
}

bool lines_read(char *text, const struct line_table *table, void *record, char *problem, size_t size) {
  const struct line_table *inner = NULL; /* of the block that lines belong to */
  char *block = NULL, *save = NULL;
  for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char *rest = line, *key = next_word(&rest), *element = block;
    const struct line_row *row = row_of(inner, key);
    if (!row && (row = row_of(table, key))) element = record;
    if (!row) {
      snprintf(problem, size, "%s has no line \"%.40s\"", table->name, key);
      return false;
    }
    if (!row->column_count) continue;
    if (row->size && !(element = grown(row, element))) {
      snprintf(problem, size, "out of memory");
      return false;
    }
    if (row->block) {
      block = element; /* the list's last: it does not move before the next one begins */
      inner = row->block;
    }
    if (!read_row(row, element, rest)) {
      snprintf(problem, size, "line \"%.40s\" of %s has a wrong value", key, table->name);
      return false;
    }
  }
  return true;
}

void lines_drop(const struct line_table *table, void *record) {
  for (unsigned i = 0; i < table->row_count; i++) {
    const struct line_row *row = &table->rows[i];
    if (!row->size) continue;
    char **list = (char **)((char *)record + row->list);
    uint32_t *count = (uint32_t *)((char *)record + row->count);
    for (uint32_t k = 0; row->block && k < *count; k++) lines_drop(row->block, *list + k * row->size);
    free(*list);
    *list = NULL;
    *count = 0;
  }
}
