/* Reads records for test_lines.py: "RECORD BYTES\n" and so many bytes of text; answers "read" or what is wrong, and what the
 * record has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

/* One column of a record, by its kind. */
static void show_column(const struct line_column *c, const char *record) {
  const char *at = record + c->at;
  int32_t i;
  uint32_t u;
  uint64_t w;
  memcpy(&u, at, 4);
  i = (int32_t)u;
  switch (c->kind) {
    case COLUMN_BOOL: printf(" %d", *(const bool *)at); return;
    case COLUMN_INT: printf(" %" PRId32, i); return;
    case COLUMN_U32: printf(" %" PRIu32, u); return;
    case COLUMN_CHOICE: printf(" %s", c->choices[i]); return;
    case COLUMN_SET:
      for (unsigned bit = 0; bit < 32; bit++) if (u & 1u << bit) printf(" %u", bit);
      return;
    case COLUMN_U64: case COLUMN_I64:
      memcpy(&w, at, 8);
      if (c->kind == COLUMN_U64) printf(" %" PRIu64, w);
      else printf(" %" PRId64, (int64_t)w);
      return;
    default: printf(" %s", *(const char *const *)at ? *(const char *const *)at : "");
  }
}

static void show(const struct line_table *table, const char *record) {
  for (unsigned i = 0; i < table->row_count; i++) {
    const struct line_row *row = &table->rows[i];
    uint32_t count = 1;
    const char *elements = record;
    if (row->size) {
      memcpy(&count, record + row->count, sizeof count);
      memcpy(&elements, record + row->list, sizeof elements);
    }
    for (uint32_t k = 0; row->column_count && k < count; k++) {
      const char *element = elements + k * row->size;
      if (row->columns->kind == COLUMN_TEXT && !*(const char *const *)(element + row->columns->at)) continue; /* no line */
      printf("%s", row->key);
      for (unsigned n = 0; n < row->column_count; n++) show_column(&row->columns[n], element);
      printf("\n");
      if (row->block) show(row->block, element);
    }
  }
}

int main(void) {
  char name[100], problem[160];
  size_t bytes;
  while (scanf("%99s %zu", name, &bytes) == 2 && getchar() == '\n') {
    char *text = calloc(1, bytes + 1);
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++) {
      if (strcmp(tables[i].table->name, name)) continue;
      void *record = calloc(1, tables[i].size);
      if (fread(text, 1, bytes, stdin) != bytes) return 1;
      if (lines_read(text, tables[i].table, record, problem, sizeof problem)) {
        printf("read\n");
        show(tables[i].table, record);
      } else {
        printf("%s\n", problem);
      }
      lines_drop(tables[i].table, record);
      free(record);
    }
    free(text);
    printf("end\n");
    fflush(stdout);
  }
}
