/* Operations that are made of several: what lies between is f32, or f64 where x is. NULL: it cannot be done, as it
 * cannot be with NULL for x. */
#ifndef CUDNN_COMPOSE_H
#define CUDNN_COMPOSE_H
#include "program.h"

enum { PRECISION = CUDNN_DATA_FLOAT };
enum { SUM_ADD = 0, SUM_MAX = 3, SUM_MEAN = 5 };

static inline struct place *cudnn_like(struct cudnn_program *program, const struct place *place) {
  int type = place->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  return cudnn_between(program, type, place->count, place->size);
}

/* function(x, b, t) in a new place with the sizes of `size`. */
static inline struct place *cudnn_of(struct cudnn_program *program, int mode, struct place *x, struct place *b,
                                     struct place *t, const struct place *size) {
  struct place *y = x && size ? cudnn_like(program, size) : NULL;
  return y && cudnn_apply(program, mode, PRECISION, x, b, t, y, NULL) ? y : NULL;
}

static inline struct place *cudnn_summed(struct cudnn_program *program, int operation, struct place *x,
                                         const struct place *size) {
  struct place *y = x && size ? cudnn_like(program, size) : NULL;
  return y && cudnn_reduce(program, operation, x, y) ? y : NULL;
}

/* A copy for the program, where it wants one. */
static inline bool cudnn_hand(struct cudnn_program *program, struct place *x, struct place *to) {
  return x && (!to || cudnn_copy(program, x, to));
}
#endif
