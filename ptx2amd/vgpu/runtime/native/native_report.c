/* PTX2AMD_VGPU_NATIVE=report: at exit, prints the instructions of translated blocks that were executed by calling their
 * handlers, by frequency: those without native code. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "settings.h"

struct call { struct call *next; char text[56]; uint64_t count; };

static struct call *calls;

/* The mnemonic and what modifies it. */
static void describe(const struct inst *i, char *text, size_t size) {
  static const char *const ext[] = {[EXT_NONE] = "", [EXT_DPP16] = " dpp", [EXT_DPP8] = " dpp8", [EXT_SDWA] = " sdwa",
                                    [EXT_VOPD] = " dual"};
  bool sign = (i->op->traits & TRAIT_VALU) && (i->neg | i->abs | i->neg_hi);
  snprintf(text, size, "%s%s%s%s%s%s%s", i->op->name, i->ext ? ext[i->ext->kind] : "", sign ? " neg/abs" : "",
           i->omod ? " omod" : "", i->clamp ? " clamp" : "", i->op_sel ? " op_sel" : "",
           i->ext && i->ext->kind == EXT_VOPD ? i->ext->y->op->name : "");
}

static int by_count(const void *a, const void *b) {
  uint64_t x = (*(struct call *const *)a)->count, y = (*(struct call *const *)b)->count;
  return x < y ? 1 : x > y ? -1 : 0;
}

static void report(void) {
  size_t n = 0;
  for (const struct call *c = calls; c; c = c->next) n++;
  struct call **all = malloc((n + 1) * sizeof *all);
  if (!all) return;
  n = 0;
  for (struct call *c = calls; c; c = c->next) all[n++] = c;
  qsort(all, n, sizeof *all, by_count);
  for (size_t k = 0; k < n && k < 60 && all[k]->count; k++)
    fprintf(stderr, "native: %12llu calls of %s\n", (unsigned long long)all[k]->count, all[k]->text);
  free(all);
}

static bool wanted;

static void settle(void) {
  wanted = !strcmp(setting_text(SETTING_VGPU_NATIVE), "report");
  if (wanted) atexit(report);
}

static uint64_t *counter_of(const char *text, size_t size) {
  for (struct call *c = calls; c; c = c->next)
    if (!strcmp(c->text, text)) return &c->count;
  struct call *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  memcpy(c->text, text, size);
  c->next = calls;
  calls = c;
  return &c->count;
}

uint64_t *native_call_counter(const struct inst *i) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_once(&once, settle);
  if (!wanted) return NULL;
  char text[sizeof ((struct call *)0)->text];
  describe(i, text, sizeof text);
  pthread_mutex_lock(&lock);   /* code objects have separate locks */
  uint64_t *counter = counter_of(text, sizeof text);
  pthread_mutex_unlock(&lock);
  return counter;
}
