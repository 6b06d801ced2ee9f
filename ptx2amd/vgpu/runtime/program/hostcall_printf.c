/* printf and the text of assert in kernels: a message of words that arrives in parts, and its formatting. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"
#include "hostcall.h"

/* The first word of a part: flags, the number of its words, the message's number. */
enum { PART_BEGINS = 1, PART_ENDS = 2, PART_WORDS_SHIFT = 5, PART_WORDS = 7, PART_ID_SHIFT = 8 };

struct message {
  uint64_t *words;
  size_t count, room;
  bool live;
};
static struct message *messages;   /* under the lock of the packets */
static size_t message_count;

static struct message *begin(uint64_t *id) {
  size_t k = 0;
  while (k < message_count && messages[k].live) k++;
  if (k == message_count) {
    struct message *more = realloc(messages, (k + 1) * sizeof *more);
    if (!more) return NULL;
    messages = more;
    messages[message_count++] = (struct message){0};
  }
  messages[k].live = true;
  messages[k].count = 0;
  *id = k;
  return &messages[k];
}

static bool append(struct message *m, const uint64_t *words, size_t count) {
  if (m->count + count > m->room) {
    size_t room = 2 * (m->count + count);
    uint64_t *more = realloc(m->words, room * sizeof *more);
    if (!more) return false;
    m->words = more;
    m->room = room;
  }
  memcpy(m->words + m->count, words, count * sizeof *words);
  m->count += count;
  return true;
}

/* The unread rest of a message while it is formatted. */
struct reader { const uint64_t *at, *end; };

static uint64_t word(struct reader *r) { return r->at < r->end ? *r->at++ : 0; }

/* A string, padded to whole words; a string that exceeds the message is truncated. */
static const char *string(struct reader *r, size_t *length) {
  const char *text = (const char *)r->at;
  size_t most = (size_t)(r->end - r->at) * sizeof *r->at;
  *length = strnlen(text, most);
  size_t words = *length / sizeof *r->at + 1;
  r->at = words < (size_t)(r->end - r->at) ? r->at + words : r->end;
  return text;
}

/* An integer with the width of its length modifier. */
static long long integer(uint64_t value, const char *modifier, bool is_signed) {
  if (*modifier == 'l' || *modifier == 'j' || *modifier == 'z' || *modifier == 't') return (long long)value;
  if (!strncmp(modifier, "hh", 2)) return is_signed ? (signed char)value : (unsigned char)value;
  if (*modifier == 'h') return is_signed ? (short)value : (unsigned short)value;
  return is_signed ? (int)value : (long long)(unsigned)value;
}

static int text_argument(FILE *out, const char *format, const int star[2], int stars, struct reader *r) {
  size_t length;
  const char *text = string(r, &length);
  char *copy = strndup(text, length);
  if (!copy) return -1;
  int n = stars == 0 ? fprintf(out, format, copy)
          : stars == 1 ? fprintf(out, format, star[0], copy) : fprintf(out, format, star[0], star[1], copy);
  free(copy);
  return n;
}

#define PUT(value)                                                                                     \
  (stars == 0 ? fprintf(out, format, value)                                                            \
   : stars == 1 ? fprintf(out, format, star[0], value) : fprintf(out, format, star[0], star[1], value))

/* One conversion: from '%' to its letter. */
static int convert(FILE *out, const char *spec, size_t length, struct reader *r) {
  enum { LONGEST = 64 };
  char format[LONGEST + 4], kind = spec[length - 1];
  size_t head = 1 + strspn(spec + 1, "-+ #0123456789.*'");   /* up to the length modifier */
  if (length > LONGEST || head >= length) return 0;
  bool whole = strchr("diouxX", kind), floating = strchr("fFeEgGaA", kind);
  snprintf(format, sizeof format, "%.*s%s%c", (int)head, spec, whole ? "ll" : "", kind);
  int star[2] = {0}, stars = 0;
  for (size_t k = 0; k < head; k++)
    if (spec[k] == '*' && stars < 2) star[stars++] = (int)word(r);
  if (whole) return PUT(integer(word(r), spec + head, kind == 'd' || kind == 'i'));
  if (kind == 's') return text_argument(out, format, star, stars, r);
  uint64_t value = word(r);
  if (kind == 'c') return PUT((int)value);
  if (kind == 'p') return PUT((void *)value);
  if (!floating) return 0;         /* %n */
  double number;
  memcpy(&number, &value, sizeof number);
  return PUT(number);
}

/* The format is the message's first string. Returns the number of characters, or -1. */
static int format_message(FILE *out, struct reader r) {
  size_t length, taken = 0;
  const char *text = string(&r, &length);
  int total = 0;
  while (taken < length) {
    const char *at = text + taken, *percent = memchr(at, '%', length - taken);
    size_t plain = percent ? (size_t)(percent - at) : length - taken;
    total += (int)fwrite(at, 1, plain, out);
    taken += plain;
    if (!percent) break;
    size_t left = length - taken, n = 1;
    while (n < left && !strchr("%diouxXfFeEgGaAcspn", percent[n])) n++;
    if (n == left) break;          /* not a conversion */
    int more = n == 1 && percent[1] == '%' ? (fputc('%', out) == EOF ? -1 : 1) : convert(out, percent, n + 1, &r);
    if (more < 0) return -1;
    total += more;
    taken += n + 1;
  }
  return total;
}

/* Words: 1 for stderr, 0 for stdout; the format; its arguments. Written at once. */
static int print(const struct message *m) {
  enum { TO_STDERR = 1 };
  struct reader r = {m->words, m->words + m->count};
  uint64_t control = word(&r);
  if (!m->count || control > TO_STDERR) return -1;
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size), *out = control ? stderr : stdout;
  if (!memory) return -1;
  int total = format_message(memory, r);
  if (fclose(memory)) total = -1;
  if (text && fwrite(text, 1, size, out) != size) total = -1;
  free(text);
  return total;
}

void hostcall_message(uint64_t slot[8]) {
  uint64_t head = slot[0], id = head >> PART_ID_SHIFT;
  struct message *m = head & PART_BEGINS ? begin(&id) : id < message_count && messages[id].live ? &messages[id] : NULL;
  bool taken = m && append(m, slot + 1, head >> PART_WORDS_SHIFT & PART_WORDS);
  slot[1] = 0;
  if (!taken) {
    slot[0] = UINT64_MAX;
    return;
  }
  slot[0] = (head & ((1 << PART_ID_SHIFT) - 1) & ~(uint64_t)PART_BEGINS) | id << PART_ID_SHIFT;
  if (!(head & PART_ENDS)) return;
  slot[0] = (uint64_t)(int64_t)print(m);
  m->live = false;
}
