/* Reading the lines of a cache entry into structs. What lines there are the rows in ptx2amd/interface say, from
 * which the tables and structs are generated. */
#ifndef PTX2AMD_LINES_H
#define PTX2AMD_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_kind {
  COLUMN_BOOL, COLUMN_INT, COLUMN_U32, COLUMN_U64, COLUMN_I64,
  COLUMN_CHOICE, /* an enum, by its names */
  COLUMN_SET,    /* the rest of the line: numbers, as bits */
  COLUMN_WORD, COLUMN_TEXT, /* const char * into the text: a word; the rest of the line */
};
struct line_column {
  enum column_kind kind;
  size_t at;                  /* in its record, or in the element of a list */
  const char *const *choices; /* ended by NULL */
};
struct line_table;
struct line_row {
  const char *key;
  const struct line_column *columns;
  unsigned column_count;      /* 0: a line for people */
  size_t list, count, size;   /* of a list: where its pointer and its uint32_t count are, bytes of an element; else 0 */
  const struct line_table *block; /* the lines that follow are the element's; or NULL */
};
#define COLUMNS(...) .columns = (const struct line_column[]){__VA_ARGS__}, \
                     .column_count = sizeof((const struct line_column[]){__VA_ARGS__}) / sizeof(struct line_column)
#define LIST(record, name, number) .list = offsetof(record, name), .count = offsetof(record, number), \
                                   .size = sizeof *((record *)0)->name
struct line_table {
  const char *name; /* of the record */
  const struct line_row *rows;
  unsigned row_count;
};

/* Fills a zeroed record from text, which it splits: texts and words of the record point into it. False: a line that is
 * not understood, or no memory; `problem` says which. In both cases lines_drop frees the lists. */
bool lines_read(char *text, const struct line_table *table, void *record, char *problem, size_t size);
void lines_drop(const struct line_table *table, void *record);
#endif
