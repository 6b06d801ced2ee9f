/* A pass of multi-head attention, and its steps (multihead_steps.c): products of matrices by rocBLAS, for all vectors or
 * for the heads of each sequence, and kernels. */
#ifndef CUDNN_MULTIHEAD_PASS_H
#define CUDNN_MULTIHEAD_PASS_H
#include "multihead.h"

/* A pass with its memory. Steps note that one has failed, and those after it do nothing. */
struct pass {
  cudnnHandle_t handle;
  const struct cudnn_attention *of;
  struct multihead_layout layout;
  char *kept, *work;
  const struct cudnnSeqDataDescriptor_t_st *sequence[OPERANDS];
  const char *weights; /* of the program's type */
  cudnnStatus_t status;
};

size_t multihead_number(const struct pass *pass); /* size of one that is computed with */
char *multihead_place(const struct pass *pass, int which); /* of a part */
/* A projected operand, or the input itself. */
char *multihead_operand(const struct pass *pass, int which);
int multihead_vectors(const struct cudnnSeqDataDescriptor_t_st *of);

/* What a kernel walks through: vectors of sequences, of which it may know the lengths; or numbers. */
struct multihead_arguments multihead_walk(const struct cudnnSeqDataDescriptor_t_st *of, int width, const int *lengths);
struct multihead_arguments multihead_list(size_t count);
void multihead_launch(struct pass *pass, enum multihead_kernel which, struct multihead_arguments *a, uint32_t threads);

enum { PLAIN = 111, TURNED };
struct factor { const void *at; int turned, lead; int64_t apart; };
/* c = a b (+ c), by columns; `count` of them. */
void multihead_multiply(struct pass *pass, int m, int n, int k, struct factor a, struct factor b, int keep, char *c,
                        int lead, int64_t apart, int count);

/* For each sequence: products of queries and keys, and of their shares with values; and their gradients. */
typedef void for_sequence(struct pass *pass, int batch, int beam);
void multihead_each(struct pass *pass, for_sequence *step);
for_sequence multihead_products, multihead_mixtures, multihead_mixtures_back, multihead_products_back;

/* Rows of products, of keys within windows and lengths. */
struct windows { const int *low, *high, *queries, *keys; };
void multihead_rows(struct pass *pass, enum multihead_kernel which, const struct windows *windows, char *from, char *to);
#endif
