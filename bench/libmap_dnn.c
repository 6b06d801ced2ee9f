/* cudnnGetReductionWorkspaceSize of ours against MIOpen's beneath it, in turn: `libmap_dnn LIBCUDNN` prints, for each
 * round, the nanoseconds of a call of both. Neither launches anything. */
#define _GNU_SOURCE
#include "libmap.h"

typedef int question(void *, void *, void *, void *, size_t *);
enum { SIZES = 4, MIOPEN_FLOAT = 1 };

static double calls(question *ask, void *handle, void *reduction, void *from, void *to) {
  size_t size;
  double start = now();
  for (int i = 0; i < CALLS; i++)
    if (ask(handle, reduction, from, to, &size)) exit(2);
  return (now() - start) / CALLS;
}

/* Tensors of 2x3x4x5 numbers, and of their sum. */
static void tensors(void *library, const char *create, const char *set, int type, void **from, void **to) {
  int (*make)(void **) = (int (*)(void **))need(library, create);
  int (*describe)(void *, int, int, const int *, const int *) =
      (int (*)(void *, int, int, const int *, const int *))need(library, set);
  if (make(from) || make(to)) exit(4);
  if (describe(*from, type, SIZES, (const int[]){2, 3, 4, 5}, (const int[]){60, 20, 5, 1})) exit(4);
  if (describe(*to, type, SIZES, (const int[]){1, 1, 1, 1}, (const int[]){1, 1, 1, 1})) exit(4);
}

/* A sum in f32, whose enumerators are those of both sides but for the type. */
static void *sum(void *library, const char *create, const char *set, int type) {
  void *made;
  int (*make)(void **) = (int (*)(void **))need(library, create);
  int (*describe)(void *, int, int, int, int, int) = (int (*)(void *, int, int, int, int, int))need(library, set);
  if (make(&made) || describe(made, 0, type, 0, 0, 0)) exit(4);
  return made;
}

int main(int count, char **words) {
  void *dnn = dlopen(count > 1 ? words[1] : "libcudnn.so.9", RTLD_NOW), *ours, *theirs, *from, *to, *low_from, *low_to;
  if (!dnn) return fprintf(stderr, "%s\n", dlerror()), 1;
  enter();
  if (((int (*)(void **))need(dnn, "cudnnCreate"))(&ours)) return 4;
  void *miopen = dlopen("libMIOpen.so.1", RTLD_NOW);
  if (((int (*)(void **))need(miopen, "miopenCreate"))(&theirs)) return 4;
  tensors(dnn, "cudnnCreateTensorDescriptor", "cudnnSetTensorNdDescriptor", 0, &from, &to);
  tensors(miopen, "miopenCreateTensorDescriptor", "miopenSetTensorDescriptor", MIOPEN_FLOAT, &low_from, &low_to);
  void *above = sum(dnn, "cudnnCreateReduceTensorDescriptor", "cudnnSetReduceTensorDescriptor", 0);
  void *below = sum(miopen, "miopenCreateReduceTensorDescriptor", "miopenSetReduceTensorDescriptor", MIOPEN_FLOAT);
  question *through = (question *)need(dnn, "cudnnGetReductionWorkspaceSize");
  question *beneath = (question *)need(miopen, "miopenGetReductionWorkspaceSize");
  for (int i = 0; i < ROUNDS; i++) {
    double one = calls(beneath, theirs, below, low_from, low_to), other = calls(through, ours, above, from, to);
    printf("%.2f\t%.2f\n", one, other);
  }
  return 0;
}
