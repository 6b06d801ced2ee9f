#include "layout.h"

/* cuFFT's description of strides; false: it has none, as they are not multiples of one another. */
static bool describe(struct fftw_side *side, int rank, const ptrdiff_t *stride) {
  side->stride = stride[rank - 1];
  side->embed[0] = 1; /* which cuFFT ignores */
  for (int k = 1; k < rank; k++) {
    if (stride[k] < 1 || stride[k - 1] % stride[k]) return false;
    side->embed[k] = stride[k - 1] / stride[k];
  }
  return side->stride >= 1;
}

static long long extent(const struct fftw_layout *of, const long long *sizes, const ptrdiff_t *strides, bool input) {
  long long last = of->batch > 1 ? (of->batch - 1) * (input ? of->in.distance : of->out.distance) : 0;
  for (int k = 0; k < of->rank; k++) last += (sizes[k] - 1) * strides[k];
  for (int k = 0; k < of->loops; k++) last += (of->loop[k].n - 1) * (input ? of->loop[k].is : of->loop[k].os);
  return last + 1;
}

bool fftw_layout(struct fftw_layout *made, enum fftw_kind kind, int rank, const struct fftw_dimension *dims, int many,
                 const struct fftw_dimension *batches) {
  ptrdiff_t strides[2][FFTW_RANKS];
  if (rank < 1 || rank > FFTW_RANKS || !dims || many < 0 || many > FFTW_LOOPS || (many && !batches)) return false;
  *made = (struct fftw_layout){.kind = kind, .rank = rank, .batch = 1};
  long long half[FFTW_RANKS]; /* the sizes of the complex side of real numbers */
  for (int k = 0; k < rank; k++) {
    if (dims[k].n < 1) return false;
    made->n[k] = dims[k].n, half[k] = k < rank - 1 ? dims[k].n : dims[k].n / 2 + 1;
    strides[0][k] = dims[k].is, strides[1][k] = dims[k].os;
  }
  for (int k = 0; k < many; k++) {
    if (batches[k].n < 1 || batches[k].is < 0 || batches[k].os < 0) return false;
  }
  if (many) {
    made->batch = batches[many - 1].n, made->in.distance = batches[many - 1].is;
    made->out.distance = batches[many - 1].os, made->loops = many - 1;
    for (int k = 0; k < made->loops; k++) made->loop[k] = batches[k];
  }
  if (!describe(&made->in, rank, strides[0]) || !describe(&made->out, rank, strides[1])) return false;
  made->in.extent = extent(made, kind == FFTW_BACKWARD_REAL ? half : made->n, strides[0], true);
  made->out.extent = extent(made, kind == FFTW_FORWARD_REAL ? half : made->n, strides[1], false);
  return true;
}

void fftw_rows(struct fftw_dimension *dims, int rank, const int *n, const int *inembed, int istride, const int *onembed,
               int ostride) {
  for (int k = rank - 1; k >= 0; k--) {
    bool last = k == rank - 1;
    dims[k].n = n[k];
    dims[k].is = last ? istride : dims[k + 1].is * inembed[k + 1];
    dims[k].os = last ? ostride : dims[k + 1].os * onembed[k + 1];
  }
}
