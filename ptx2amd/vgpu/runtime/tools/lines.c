/* Reads DWARF 4 line tables. All reads are checked: the file may come from anywhere. */
#include "lines.h"

#include <stdio.h>
#include <string.h>

struct reader {
  const uint8_t *at, *end;
  bool bad;
};

static uint64_t fixed(struct reader *r, unsigned bytes) {
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) < bytes) {
    r->bad = true;
    r->at = r->end;
    return 0;
  }
  memcpy(&value, r->at, bytes);
  r->at += bytes;
  return value;
}

static uint64_t leb(struct reader *r, bool is_signed) {
  uint64_t value = 0;
  unsigned shift = 0;
  for (;;) {
    uint64_t byte = fixed(r, 1);
    if (shift < 64) value |= (byte & 127) << shift;
    shift += 7;
    if (byte < 128 || r->bad) {
      if (is_signed && (byte & 64) && shift < 64) value |= ~UINT64_C(0) << shift;
      return value;
    }
  }
}

static const char *string(struct reader *r) {
  const uint8_t *end = memchr(r->at, 0, (size_t)(r->end - r->at));
  if (!end) {
    r->bad = true;
    r->at = r->end;
    return "";
  }
  const char *text = (const char *)r->at;
  r->at = end + 1;
  return text;
}

struct program {
  uint8_t min_length, opcode_base, line_range;
  int8_t line_base;
  uint8_t lengths[256];
  const uint8_t *files;
};

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BASIC_BLOCK, CONST_ADD_PC, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

enum { STRONG = 0xffffffffu, APART = 0xfffffffeu };   /* rows with marks: struct place */

struct row { uint64_t address, file, line; bool valid; };

static void name_of(const struct program *p, const uint8_t *end, uint64_t number, char *out, size_t size) {
  struct reader r = {.at = p->files, .end = end};
  for (uint64_t k = 1; !r.bad; k++) {
    const char *name = string(&r);
    if (!*name) break;
    leb(&r, false), leb(&r, false), leb(&r, false);
    if (k == number) {
      snprintf(out, size, "%s", name);
      return;
    }
  }
  snprintf(out, size, "?");
}

/* Runs one line program; true when the address lies in one of its rows. */
static bool run(struct reader r, const struct program *p, uint64_t address, struct row *found) {
  struct row now = {.file = 1, .line = 1}, last = {0};   /* last: with a line, in this sequence */
  uint64_t previous = 0;
  bool open = false;
  while (r.at < r.end && !r.bad) {
    unsigned opcode = (unsigned)fixed(&r, 1);
    bool emit = false, end = false;
    if (opcode >= p->opcode_base) {
      unsigned adjusted = opcode - p->opcode_base;
      now.address += adjusted / p->line_range * p->min_length;
      now.line = (uint32_t)(now.line + (uint64_t)(int64_t)(p->line_base + (int)(adjusted % p->line_range)));
      emit = true;
    } else if (opcode == 0) {
      uint64_t length = leb(&r, false);
      if (!length || length > (uint64_t)(r.end - r.at)) return false;
      const uint8_t *next = r.at + length;
      unsigned extended = (unsigned)fixed(&r, 1);
      if (extended == END_SEQUENCE) emit = end = true;
      else if (extended == SET_ADDRESS && length == 9) now.address = fixed(&r, 8);
      r.at = next;
    } else {
      switch (opcode) {
      case COPY: emit = true; break;
      case ADVANCE_PC: now.address += leb(&r, false) * p->min_length; break;
      case ADVANCE_LINE: now.line = (uint32_t)(now.line + leb(&r, true)); break;
      case SET_FILE: now.file = leb(&r, false); break;
      case CONST_ADD_PC: now.address += (255u - p->opcode_base) / p->line_range * p->min_length; break;
      case FIXED_ADVANCE_PC: now.address += fixed(&r, 2); break;
      default:
        for (unsigned k = 0; k < p->lengths[opcode]; k++) leb(&r, false);
      }
    }
    if (!emit) continue;
    if (open && address >= previous && address < now.address && last.valid) {
      *found = last;
      return true;
    }
    previous = now.address;
    open = !end;
    if (end) {
      now = (struct row){.file = 1, .line = 1};
      last.valid = false;
    } else if (now.line) {   /* line 0: made by the compiler, counted to what comes before */
      last = now;
      last.valid = true;
    }
  }
  return false;
}

static void find_origin(const struct lines *lines, struct place *place) {
  uint32_t count, row[3];
  if (lines->origins_size < 4) return;
  memcpy(&count, lines->origins, 4);
  if (count > (lines->origins_size - 4) / sizeof row) return;
  size_t names = 4 + (size_t)count * sizeof row;
  for (uint32_t k = 0; k < count; k++) {   /* the last one that begins at the line or before */
    memcpy(row, lines->origins + 4 + k * sizeof row, sizeof row);
    if (row[0] > place->line) break;
    if (row[1] == STRONG || row[1] == APART) {
      bool *mark = row[1] == STRONG ? &place->strong : &place->apart;
      *mark |= row[0] == place->line;
      continue;
    }
    const uint8_t *end = lines->origins + lines->origins_size;
    if (row[1] >= lines->origins_size - names || !memchr(lines->origins + names + row[1], 0,
                                                         (size_t)(end - (lines->origins + names + row[1])))) return;
    place->origin_line = row[2];
    snprintf(place->origin, sizeof place->origin, "%s", (const char *)lines->origins + names + row[1]);
  }
}

bool lines_find(const struct lines *lines, uint64_t address, struct place *place) {
  struct reader r = {.at = lines->table, .end = lines->table + lines->table_size};
  memset(place, 0, sizeof *place);
  while (r.at && r.end - r.at > 4) {
    uint64_t length = fixed(&r, 4);
    if (length > (uint64_t)(r.end - r.at)) return false;
    struct reader unit = {.at = r.at, .end = r.at + length};
    r.at = unit.end;
    if (fixed(&unit, 2) != 4) continue;
    uint64_t header = fixed(&unit, 4);
    if (unit.bad || header > (uint64_t)(unit.end - unit.at)) return false;
    struct reader body = {.at = unit.at + header, .end = unit.end};
    unit.end = body.at;
    struct program p = {.min_length = (uint8_t)fixed(&unit, 1)};
    fixed(&unit, 2);   /* operations per instruction, default_is_stmt */
    p.line_base = (int8_t)fixed(&unit, 1);
    p.line_range = (uint8_t)fixed(&unit, 1);
    p.opcode_base = (uint8_t)fixed(&unit, 1);
    for (unsigned k = 1; k < p.opcode_base; k++) p.lengths[k] = (uint8_t)fixed(&unit, 1);
    while (!unit.bad && *string(&unit)) {}   /* directories */
    if (unit.bad || !p.line_range || !p.opcode_base) return false;
    p.files = unit.at;
    struct row row;
    if (!run(body, &p, address - lines->bias, &row)) continue;
    place->line = (uint32_t)row.line;
    name_of(&p, unit.end, row.file, place->file, sizeof place->file);
    find_origin(lines, place);
    return true;
  }
  return false;
}

const char *lines_describe(const struct lines *lines, uint64_t address, char *text, size_t size) {
  struct place p;
  text[0] = 0;
  if (!lines || !lines->table || !lines_find(lines, address, &p)) return text;
  if (p.origin_line) snprintf(text, size, "PTX line %u of %s (%s:%u)", p.line, p.file, p.origin, p.origin_line);
  else snprintf(text, size, "PTX line %u of %s", p.line, p.file);
  return text;
}
