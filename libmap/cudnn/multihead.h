/* Multi-head attention of cuDNN 7.5 to 9: descriptors (multihead_descriptors.c), the passes (multihead.c) and their kernels
 * (multihead_ptx.c). */
#ifndef CUDNN_MULTIHEAD_H
#define CUDNN_MULTIHEAD_H
#include "cudnn_objects.h"

/* Sequences: vectors of `size[VECTOR]` numbers, in memory in an order of axes of which the vector's is the last. */
enum { TIME, BATCH, BEAM, VECTOR, SEQUENCE_AXES };
struct cudnnSeqDataDescriptor_t_st {
  enum cudnn_mark mark;
  cudnnDataType_t type;
  int count; /* of dimensions; 0: nothing was set */
  int size[SEQUENCE_AXES], axis[SEQUENCE_AXES];
  size_t lengths;
  int *length; /* NULL: none */
};

/* Queries, keys, values and results. */
enum { QUERY, KEY, VALUE, RESULT, OPERANDS };
enum { MODE_ONE_TO_ONE = 1, MODE_BIASES = 2 };
struct cudnn_attention {
  unsigned mode;
  int heads; /* 0: nothing was set */
  double scale;
  cudnnDataType_t type, compute;
  cudnnMathType_t math;
  cudnnDropoutDescriptor_t dropout, later;
  int size[OPERANDS - 1], projected[OPERANDS]; /* projected: 0: it is not */
  int queries, keys, batch, beams;             /* the most that a call may have */
};
struct cudnnAttnDescriptor_t_st {
  enum cudnn_mark mark;
  struct cudnn_attention set;
};

/* Numbers of a head in an operand, and of all heads where these have their own. The result is of `heads` vectors of
 * values, or of their projection. */
int multihead_length(const struct cudnn_attention *of, int operand);
int multihead_width(const struct cudnn_attention *of, int operand);
/* The matrix of a projection, by columns: rows, columns and where it begins among the weights; the bias has its rows. */
struct multihead_matrix { int rows, columns; size_t at, bias; };
struct multihead_matrix multihead_matrix(const struct cudnn_attention *of, int operand);
size_t multihead_weights(const struct cudnn_attention *of);

/* What a pass keeps for the next ones, and what it needs itself. IN: inputs with zeros after their ends; OWN: projected
 * ones, and the gradients of these in TURNED. */
enum multihead_part {
  PART_IN, PART_OWN = PART_IN + 3, PART_SHARES = PART_OWN + 3, PART_HEADS, PART_SLOPE, PART_TURNED,
  KEPT_PARTS = PART_TURNED + 3,
  PART_WEIGHTS = KEPT_PARTS, PART_RESULT, PART_SHARES_SLOPE, PART_HEADS_SLOPE, PART_WINDOWS, PART_ROOM, PARTS
};
struct multihead_layout { size_t at[PARTS], kept, all; }; /* in bytes; `kept`: those before KEPT_PARTS */
struct multihead_layout multihead_layout(const struct cudnn_attention *of);

/* The parameter of a kernel: addresses; numbers in all and in a vector; for sequences, how many vectors lie between those
 * that differ by one along an axis. */
struct multihead_arguments {
  uint64_t from, to, bias, more, lengths, key_lengths, low, high;
  double scale;
  uint32_t count, width, step[3], size[3], only, keep, heads, keys, key_beams;
};
enum multihead_kernel { KERNEL_TAKE, KERNEL_AGAIN, KERNEL_GIVE, KERNEL_SHARE, KERNEL_SHARE_BACK, KERNEL_SUM, KERNELS };
enum { MULTIHEAD_THREADS = 128, ALL_TIMES = -1 };
extern const char *const multihead_names[KERNELS];
char *multihead_ptx(enum multihead_kernel kernel, cudnnDataType_t type);
#endif
