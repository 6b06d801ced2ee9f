/* Texts of kernels: `$` is the type that is computed with, #NAME a field's place in the kernel's parameter or another number,
 * and zero, one and half are numbers of that type. */
#ifndef CUDNN_TEMPLATE_H
#define CUDNN_TEMPLATE_H
#include <stdio.h>

#include "cudnn_objects.h"

struct cudnn_field { const char *name; size_t at; };

/* A type in memory (f32, f64 or f16), what is computed with, and names beside SIZE and PAIR, which are the sizes of a number
 * and of two, OWN, that of one that is computed with, and NARROW, the rounding from f64. */
struct cudnn_template {
  cudnnDataType_t type;
  const struct cudnn_field *fields;
  size_t count;
};
void cudnn_template(FILE *out, const struct cudnn_template *as, const char *text);
/* The head of a text, with the functions Load, Store and Add of numbers in memory. */
void cudnn_template_head(FILE *out, const struct cudnn_template *as);
bool cudnn_template_type(cudnnDataType_t type);
#endif
