/* A transform as FFTW describes it, and as cuFFT does (layout.c). */
#ifndef CUFFTW_LAYOUT_H
#define CUFFTW_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>

enum { FFTW_RANKS = 3, FFTW_LOOPS = 8 };
enum fftw_kind { FFTW_COMPLEX, FFTW_FORWARD_REAL, FFTW_BACKWARD_REAL };

/* A dimension: its length, and strides in the input and the output. */
struct fftw_dimension { ptrdiff_t n, is, os; };

/* One side of a transform: cuFFT's strides, and the numbers from the first to the last. */
struct fftw_side { long long embed[FFTW_RANKS], stride, distance, extent; };

struct fftw_layout {
  enum fftw_kind kind;
  int rank, loops; /* loops: those beyond cuFFT's batch, around the transform */
  long long n[FFTW_RANKS], batch;
  struct fftw_side in, out;
  struct fftw_dimension loop[FFTW_LOOPS];
};

/* False: cuFFT has no such transform. */
bool fftw_layout(struct fftw_layout *made, enum fftw_kind kind, int rank, const struct fftw_dimension *dims, int many,
                 const struct fftw_dimension *batches);
/* Dimensions that lie one after the other in rows of `inembed` and `onembed`. */
void fftw_rows(struct fftw_dimension *dims, int rank, const int *n, const int *inembed, int istride, const int *onembed,
               int ostride);
#endif
