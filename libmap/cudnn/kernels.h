/* Kernels in PTX, made for a step (text.c), and what they are launched with. */
#ifndef CUDNN_KERNELS_H
#define CUDNN_KERNELS_H
#include "program.h"

enum { CUDNN_THREADS = 256 };

/* What decides about a kernel's text. */
struct cudnn_text {
  const struct cudnn_function *function; /* or the following */
  const struct cudnn_sum *sum;
  enum cudnn_computed computed;
  const struct place *operand[CUDNN_OPERANDS];
  bool scaled[2]; /* whether x and b have a factor */
  bool ragged;    /* whether b has the offsets of x, or of the result if x is in the workspace */
  int results, sums; /* dimensions */
  unsigned threads;
};

/* The parameter of a kernel. */
struct cudnn_arguments {
  uint64_t pointer[CUDNN_OPERANDS];
  double value[CUDNN_OPERANDS]; /* of operands in the host's memory */
  double factor[2], setting[3], count; /* count: of numbers in a sum */
  int64_t stride[CUDNN_OPERANDS][CUDNN_WALK];
  uint32_t size[CUDNN_WALK], results, sums;
};

/* PTX, to be freed; NULL: no memory. */
char *cudnn_ptx(const struct cudnn_text *text);
bool cudnn_known_type(int type);
/* A number in the host's memory. */
double cudnn_number_at(int type, const void *at);
#endif
