/* A graph of operations as a list of steps: convolutions of MIOpen, products of rocBLAS, and kernels of ours for what is
 * done number by number and for sums (kernels.c). What builds steps answers false where it cannot, with the reason in
 * the program. */
#ifndef CUDNN_PROGRAM_H
#define CUDNN_PROGRAM_H
#include "backend.h"

enum { /* functions of single numbers that are used here */
  PW_ADD = 0, PW_MUL, PW_MAX = 3, PW_SUB = 9, PW_EXP = 13, PW_LOG = 15, PW_RSQRT = 17, PW_IDENTITY = 21,
  PW_LESS = 304, PW_GEN_INDEX = 501, PW_BINARY_SELECT = 601,
};
enum { CUDNN_PLACES = 256, CUDNN_STEPS = 128 };
enum { CUDNN_FIRST, CUDNN_SECOND, CUDNN_THIRD, CUDNN_RESULT, CUDNN_OPERANDS }; /* of a step */

/* A tensor of a graph. */
struct place {
  int64_t id; /* the program's; negative: only this library knows it */
  int type, count;
  int64_t size[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS];
  bool between, made;   /* whether it is in the workspace; and whether an earlier step makes it */
  bool value;           /* one number in the host's memory */
  const void *constant; /* that number, where the graph has it; else NULL */
  bool index;           /* its numbers are where they are: nothing is read */
  size_t at;            /* in the workspace */
  /* A tensor of the program whose samples begin at offsets (counted in `unit` numbers; the next one's is its end), and the
   * one in the workspace that stands for it, with zeros from each end on; waiting: it has to be copied back. */
  struct place *packed, *ragged, *offsets;
  int64_t unit;
  bool waiting;
  struct cudnn_tensor tensor; /* for MIOpen, where a convolution uses it */
};

struct cudnn_run {
  cudnnHandle_t handle;
  const struct cudnn_backend *pack;
  char *space;
  size_t between, size; /* bytes of the workspace: tensors, and what a convolution needs */
};

/* How a kernel walks through tensors: dimensions of its results, then those that it sums up. */
enum { CUDNN_WALK = 2 * CUDNN_DIMENSIONS };
struct cudnn_walk {
  int results, sums;
  int64_t size[CUDNN_WALK], stride[CUDNN_OPERANDS][CUDNN_WALK];
  int64_t skip[CUDNN_OPERANDS]; /* numbers before the first */
};
struct cudnn_numbers { double factor[2], setting[3]; };

/* One axis of a product's batch, and strides there. */
enum { CUDNN_AXES = 2 * CUDNN_DIMENSIONS };
struct cudnn_axis { int64_t size, stride[3]; };

struct step {
  miopenStatus_t (*run)(const struct step *step, const struct cudnn_run *run);
  void (*drop)(struct step *step); /* may be NULL */
  struct place *operand[CUDNN_OPERANDS]; /* NULL: none */
  union {
    struct {
      struct cudnn_problem problem;
      double alpha, beta; /* of the result and of what is there */
    } convolution;
    struct {
      void *function;
      struct cudnn_walk walk;
      struct cudnn_numbers numbers;
      unsigned threads;
    } kernel;
    struct {
      int m, n, k, ld[3];
      bool turned[2]; /* whether rocBLAS transposes them */
      int axes;
      struct cudnn_axis axis[CUDNN_AXES];
    } product;
  };
};

struct cudnn_program {
  cudnnHandle_t handle;
  int places, steps;
  struct place place[CUDNN_PLACES];
  struct step step[CUDNN_STEPS];
  size_t between, space;
  const char *why; /* it cannot be made */
};

/* ---- tensors (program.c) ---- */

/* The tensor of an attribute: what a step reads, which is there or made; what one makes; either may be missing. */
struct place *cudnn_input(struct cudnn_program *program, const struct cudnn_backend *op, int name);
struct place *cudnn_output(struct cudnn_program *program, const struct cudnn_backend *op, int name);
/* A number. */
struct place *cudnn_constant(struct cudnn_program *program, int count, const double *number);
/* A tensor of the program with its last two dimensions exchanged; NULL: it is made by the graph. */
struct place *cudnn_turned(struct cudnn_program *program, const struct place *place);
/* By the program's number; NULL: there is none. */
struct place *cudnn_found(struct cudnn_program *program, int64_t id);
/* As an input, of a descriptor. */
struct place *cudnn_input_of(struct cudnn_program *program, const struct cudnn_backend *desc);
/* A new one in the workspace, row after row. */
struct place *cudnn_between(struct cudnn_program *program, int type, int count, const int64_t *size);
/* One whose numbers are 0, 1, 2 ... along an axis. */
struct place *cudnn_index(struct cudnn_program *program, int count, int axis, int64_t size);
/* Up to so many integers of an attribute; their count, or -1. */
int cudnn_integers(const struct cudnn_backend *of, int name, int64_t *to);
int64_t cudnn_elements(const struct place *place);
/* Where it is, in a run; NULL: the program gave no pointer. */
void *cudnn_data(const struct place *place, const struct cudnn_run *run);
/* A place for another step; NULL: there are too many. */
struct step *cudnn_step(struct cudnn_program *program);
/* Answers false, for this reason. */
bool cudnn_cannot(struct cudnn_program *program, const char *why);

/* ---- steps ---- */

/* y = function(x, b, t), of which b and t may be NULL; tensors of one number along a dimension spread. `precision`: a
 * type, or negative. */
bool cudnn_apply(struct cudnn_program *program, int64_t mode, int precision, struct place *x, struct place *b,
                 struct place *t, struct place *y, const struct cudnn_numbers *numbers);
/* The same with how tensors are walked through. */
bool cudnn_walk(struct cudnn_program *program, int64_t mode, int precision, struct place *const *operand,
                const struct cudnn_walk *walk, const struct cudnn_numbers *numbers);
/* y = a copy of x, of another type or with other strides. */
bool cudnn_copy(struct cudnn_program *program, struct place *x, struct place *y);
/* A ragged tensor's copy in the workspace is filled; or what is in there is copied to the ragged tensor. */
bool cudnn_gather(struct cudnn_program *program, struct place *ragged, struct place *packed);
bool cudnn_scatter(struct cudnn_program *program, struct place *packed, struct place *ragged);
/* y is what is left of x where y has one number along a dimension. */
bool cudnn_reduce(struct cudnn_program *program, int operation, struct place *x, struct place *y);
/* c = a b. */
bool cudnn_multiply(struct cudnn_program *program, struct place *a, struct place *b, struct place *c);

/* A copy of x whose numbers from a length on, along an axis, are 0; lengths may differ in a batch. into: NULL: a new
 * place. */
struct place *cudnn_cut(struct cudnn_program *program, struct place *x, int axis, struct place *length,
                        struct place *into);

/* ---- operations, from their descriptors ---- */
bool cudnn_add_all(struct cudnn_program *program, const struct cudnn_attribute *ops);
bool cudnn_add_attention(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_convolution(struct cudnn_program *program, const struct cudnn_backend *op, int which);
bool cudnn_add_pointwise(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_reduction(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_matmul(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_movement(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_softmax(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_mask(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_norm(struct cudnn_program *program, const struct cudnn_backend *op);
bool cudnn_add_norm_back(struct cudnn_program *program, const struct cudnn_backend *op);

/* ---- PTX (functions.c) ---- */

enum cudnn_computed { CUDNN_F32, CUDNN_F64, CUDNN_S64 }; /* types that kernels compute in */
struct cudnn_setting { int name; double otherwise; };    /* an attribute of a pointwise function */
/* Functions of numbers x, b, t with result y, and temporaries f0 to f3 and p; $ stands for the type, u, v, w for
 * settings. `text` NULL: it is refused. */
struct cudnn_function {
  int mode, inputs;
  unsigned types; /* a bit for each cudnn_computed */
  const char *text;
  struct cudnn_setting setting[3];
};
/* NULL: there is none for the type. */
const struct cudnn_function *cudnn_function(int64_t mode, enum cudnn_computed type);
/* What is said of that. */
const char *cudnn_missing(int64_t mode);
/* Sums: what begins, what is done to each number x, how it joins y, and what is done at the end with n numbers. */
struct cudnn_sum { int operation; const char *first[2], *each, *join, *last; };
const struct cudnn_sum *cudnn_sum(int operation);
/* Functions that cuDNN does not have. */
enum {
  PW_BELOW = 1000, /* x where b < t, else 0 */
  PW_SUB_FINITE,   /* x - b, and x where b is -infinity */
  PW_SHARE,        /* x / b, and 0 where b is 0 */
  PW_SCALE_SUB,    /* (x - b) * t */
  SUM_MEAN_SQUARE = 1000,
};
#endif
