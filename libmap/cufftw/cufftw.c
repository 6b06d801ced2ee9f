/* libcufftw: FFTW's interface on libcufft. Arrays may be in the host's memory, as FFTW has them, or on the device. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cufftw_api.h"
#include "cufft_table.h"
#include "layout.h"

enum { MEMORY_TYPE = 2, DEVICE = 2, ALIGNED = 64, FORWARD = -1, BACKWARD = 1 };

struct plan {
  struct fftw_layout layout;
  bool single;
  int sign;
  cufftHandle cufft;
  void *in, *out;
  uint64_t staged[2]; /* device memory for arrays of the host; 0: not needed yet */
};

/* ---- the device ---- */

static struct {
  int (*init)(unsigned), (*retain)(void **, int), (*current)(void **), (*set)(void *);
  int (*attribute)(void *, int, uint64_t);
} driver;

/* FFTW's programs know of no device: the first one's context is taken where none is current. */
static bool enter(void) {
  void *cuda = driver.init ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context = NULL;
  const struct { const char *name; void *slot; } needed[] = {{"cuInit", &driver.init},
      {"cuDevicePrimaryCtxRetain", &driver.retain}, {"cuCtxGetCurrent", &driver.current},
      {"cuCtxSetCurrent", &driver.set}, {"cuPointerGetAttribute", &driver.attribute}};
  for (size_t i = 0; i < sizeof needed / sizeof *needed && cuda; i++) {
    void *found = dlsym(cuda, needed[i].name);
    memcpy(needed[i].slot, &found, sizeof found);
  }
  if (!driver.init || driver.init(0)) return false;
  if (!driver.current(&context) && context) return true;
  return !driver.retain(&context, 0) && !driver.set(context);
}

static bool is_on_device(const void *at) {
  unsigned kind = 0;
  return !driver.attribute(&kind, MEMORY_TYPE, (uint64_t)(uintptr_t)at) && kind == DEVICE;
}

/* ---- plans ---- */

static cufftType type_of(const struct plan *plan) {
  static const cufftType types[][2] = {[FFTW_COMPLEX] = {CUFFT_Z2Z, CUFFT_C2C},
      [FFTW_FORWARD_REAL] = {CUFFT_D2Z, CUFFT_R2C}, [FFTW_BACKWARD_REAL] = {CUFFT_Z2D, CUFFT_C2R}};
  return types[plan->layout.kind][plan->single];
}

/* The bytes of a number of one side. */
static size_t width(const struct plan *plan, bool input) {
  enum fftw_kind real = input ? FFTW_FORWARD_REAL : FFTW_BACKWARD_REAL;
  return (plan->single ? sizeof(float) : sizeof(double)) * (plan->layout.kind == real ? 1 : 2);
}

static void *refuse(const char *what) {
  libmap_say(what, "not supported");
  return NULL;
}

static void *planned(const struct fftw_layout *layout, bool single, void *in, void *out, int sign) {
  if (layout->kind == FFTW_COMPLEX && sign != FORWARD && sign != BACKWARD) return NULL;
  if (!libmap_ready() || !enter()) return NULL;
  struct plan *plan = calloc(1, sizeof *plan);
  if (!plan) return NULL;
  *plan = (struct plan){*layout, single, sign, 0, in, out, {0, 0}};
  struct fftw_layout *of = &plan->layout;
  size_t work;
  cufftResult status = cufft.Create(&plan->cufft);
  if (!status) {
    status = cufft.MakePlanMany64(plan->cufft, of->rank, of->n, of->in.embed, of->in.stride, of->in.distance,
                                  of->out.embed, of->out.stride, of->out.distance, type_of(plan), of->batch, &work);
    if (status) cufft.Destroy(plan->cufft);
  }
  if (!status) return plan;
  free(plan);
  return NULL;
}

static void *guru(enum fftw_kind kind, bool single, int rank, const struct fftw_dimension *dims, int many,
                  const struct fftw_dimension *batches, void *in, void *out, int sign) {
  struct fftw_layout layout;
  if (!fftw_layout(&layout, kind, rank, dims, many, batches)) return refuse("fftw_plan with these dimensions or strides");
  return planned(&layout, single, in, out, sign);
}

/* With FFTW's narrow dimensions. */
static void *guru_narrow(enum fftw_kind kind, bool single, int rank, const fftw_iodim *dims, int many,
                         const fftw_iodim *batches, void *in, void *out, int sign) {
  struct fftw_dimension wide[FFTW_RANKS + FFTW_LOOPS];
  if (rank < 1 || rank > FFTW_RANKS || many < 0 || many > FFTW_LOOPS || !dims || (many && !batches)) {
    return refuse("fftw_plan of these ranks");
  }
  for (int k = 0; k < rank; k++) wide[k] = (struct fftw_dimension){dims[k].n, dims[k].is, dims[k].os};
  for (int k = 0; k < many; k++) {
    wide[rank + k] = (struct fftw_dimension){batches[k].n, batches[k].is, batches[k].os};
  }
  return guru(kind, single, rank, wide, many, wide + rank, in, out, sign);
}

/* inembed, onembed: NULL: rows of the transform's sizes; the real side has room for the complex one where both are at
 * the same place. */
static void *many(enum fftw_kind kind, bool single, int rank, const int *n, int count, void *in, const int *inembed,
                  int istride, int idist, void *out, const int *onembed, int ostride, int odist, int sign) {
  struct fftw_dimension dims[FFTW_RANKS], batch = {count, idist, odist};
  int full[FFTW_RANKS], half[FFTW_RANKS], padded[FFTW_RANKS];
  if (rank < 1 || rank > FFTW_RANKS || !n || count < 1) return refuse("fftw_plan of this rank or count");
  for (int k = 0; k < rank; k++) {
    full[k] = n[k], half[k] = k < rank - 1 ? n[k] : n[k] / 2 + 1, padded[k] = k < rank - 1 ? n[k] : 2 * half[k];
  }
  const int *real = kind != FFTW_COMPLEX && in == out ? padded : full;
  if (!inembed) inembed = kind == FFTW_BACKWARD_REAL ? half : real;
  if (!onembed) onembed = kind == FFTW_FORWARD_REAL ? half : real;
  fftw_rows(dims, rank, n, inembed, istride, onembed, ostride);
  return guru(kind, single, rank, dims, count > 1, &batch, in, out, sign);
}

static void *simple(enum fftw_kind kind, bool single, int rank, const int *n, void *in, void *out, int sign) {
  return many(kind, single, rank, n, 1, in, NULL, 1, 0, out, NULL, 1, 0, sign);
}

static void destroy(struct plan *plan) {
  if (!plan) return;
  for (int i = 0; i < 2; i++) {
    if (plan->staged[i]) libmap_driver.release(plan->staged[i]);
  }
  cufft.Destroy(plan->cufft);
  free(plan);
}

/* ---- execution ---- */

static cufftResult once(const struct plan *plan, char *in, char *out) {
  switch (plan->layout.kind) {
    case FFTW_COMPLEX:
      return plan->single ? cufft.ExecC2C(plan->cufft, in, out, plan->sign)
                          : cufft.ExecZ2Z(plan->cufft, in, out, plan->sign);
    case FFTW_FORWARD_REAL:
      return plan->single ? cufft.ExecR2C(plan->cufft, in, out) : cufft.ExecD2Z(plan->cufft, in, out);
    default: return plan->single ? cufft.ExecC2R(plan->cufft, in, out) : cufft.ExecZ2D(plan->cufft, in, out);
  }
}

/* All loops around the transform. */
static cufftResult around(const struct plan *plan, int depth, char *in, char *out) {
  if (depth == plan->layout.loops) return once(plan, in, out);
  const struct fftw_dimension *loop = &plan->layout.loop[depth];
  cufftResult status = CUFFT_SUCCESS;
  for (ptrdiff_t i = 0; i < loop->n && !status; i++) {
    status = around(plan, depth + 1, in + (size_t)(i * loop->is) * width(plan, true),
                    out + (size_t)(i * loop->os) * width(plan, false));
  }
  return status;
}

/* Device memory of a side; false: there is none. */
static bool stage(struct plan *plan, int which, size_t size) {
  return plan->staged[which] || !libmap_driver.allocate(&plan->staged[which], size);
}

/* Arrays of the host go to the device and back; where strides leave gaps, what is there stays. */
static bool through_device(struct plan *plan, char *in, char *out) {
  size_t in_size = (size_t)plan->layout.in.extent * width(plan, true);
  size_t out_size = (size_t)plan->layout.out.extent * width(plan, false);
  bool in_place = in == out;
  size_t shared = in_size > out_size ? in_size : out_size;
  if (!stage(plan, 0, shared) || (!in_place && !stage(plan, 1, out_size))) return false;
  uint64_t from = plan->staged[0], to = in_place ? from : plan->staged[1];
  if (libmap_driver.copy_in(from, in, in_place ? shared : in_size)) return false;
  if (!in_place && libmap_driver.copy_in(to, out, out_size)) return false;
  if (around(plan, 0, (char *)(uintptr_t)from, (char *)(uintptr_t)to)) return false;
  return !libmap_driver.copy_out(out, to, in_place ? shared : out_size);
}

static void execute(struct plan *plan, void *in, void *out) {
  if (!plan || !enter()) return;
  bool good = is_on_device(in) && is_on_device(out) ? !around(plan, 0, in, out) : through_device(plan, in, out);
  if (!good) libmap_say("fftw_execute", "failed");
}

/* ---- FFTW's functions ---- */

#define PLANS(p, single, R, C)                                                                                         \
  fftw_plan p##_plan_dft(int rank, const int *n, C *in, C *out, int sign, unsigned flags) {                            \
    return (void)flags, simple(FFTW_COMPLEX, single, rank, n, in, out, sign);                                          \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_r2c(int rank, const int *n, R *in, C *out, unsigned flags) {                                  \
    return (void)flags, simple(FFTW_FORWARD_REAL, single, rank, n, in, out, 0);                                        \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_c2r(int rank, const int *n, C *in, R *out, unsigned flags) {                                  \
    return (void)flags, simple(FFTW_BACKWARD_REAL, single, rank, n, in, out, 0);                                       \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_1d(int n, C *in, C *out, int sign, unsigned flags) {                                          \
    return p##_plan_dft(1, &n, in, out, sign, flags);                                                                  \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_2d(int n0, int n1, C *in, C *out, int sign, unsigned flags) {                                 \
    return p##_plan_dft(2, (const int[]){n0, n1}, in, out, sign, flags);                                               \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_3d(int n0, int n1, int n2, C *in, C *out, int sign, unsigned flags) {                         \
    return p##_plan_dft(3, (const int[]){n0, n1, n2}, in, out, sign, flags);                                           \
  }                                                                                                                    \
  fftw_plan p##_plan_many_dft(int rank, const int *n, int batch, C *in, const int *inembed, int istride, int idist,    \
                              C *out, const int *onembed, int ostride, int odist, int sign, unsigned flags) {          \
    return (void)flags, many(FFTW_COMPLEX, single, rank, n, batch, in, inembed, istride, idist, out, onembed, ostride, \
                             odist, sign);                                                                             \
  }                                                                                                                    \
  fftw_plan p##_plan_guru_dft(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, C *in,   \
                              C *out, int sign, unsigned flags) {                                                      \
    return (void)flags, guru_narrow(FFTW_COMPLEX, single, rank, dims, batch_rank, batch_dims, in, out, sign);          \
  }                                                                                                                    \
  fftw_plan p##_plan_guru64_dft(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims,    \
                                C *in, C *out, int sign, unsigned flags) {                                             \
    return (void)flags, guru(FFTW_COMPLEX, single, rank, (const void *)dims, batch_rank, (const void *)batch_dims, in, \
                             out, sign);                                                                               \
  }                                                                                                                    \
  REAL_PLANS(p, single, R, C, r2c, FFTW_FORWARD_REAL)                                                                  \
  REAL_PLANS(p, single, C, R, c2r, FFTW_BACKWARD_REAL)
#define REAL_PLANS(p, single, I, O, way, kind)                                                                         \
  fftw_plan p##_plan_dft_##way##_1d(int n, I *in, O *out, unsigned flags) {                                            \
    return p##_plan_dft_##way(1, &n, in, out, flags);                                                                  \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_##way##_2d(int n0, int n1, I *in, O *out, unsigned flags) {                                   \
    return p##_plan_dft_##way(2, (const int[]){n0, n1}, in, out, flags);                                               \
  }                                                                                                                    \
  fftw_plan p##_plan_dft_##way##_3d(int n0, int n1, int n2, I *in, O *out, unsigned flags) {                           \
    return p##_plan_dft_##way(3, (const int[]){n0, n1, n2}, in, out, flags);                                           \
  }                                                                                                                    \
  fftw_plan p##_plan_many_dft_##way(int rank, const int *n, int batch, I *in, const int *inembed, int istride,         \
                                    int idist, O *out, const int *onembed, int ostride, int odist, unsigned flags) {   \
    return (void)flags,                                                                                                \
           many(kind, single, rank, n, batch, in, inembed, istride, idist, out, onembed, ostride, odist, 0);           \
  }                                                                                                                    \
  fftw_plan p##_plan_guru_dft_##way(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims,    \
                                    I *in, O *out, unsigned flags) {                                                   \
    return (void)flags, guru_narrow(kind, single, rank, dims, batch_rank, batch_dims, in, out, 0);                     \
  }                                                                                                                    \
  fftw_plan p##_plan_guru64_dft_##way(int rank, const fftw_iodim64 *dims, int batch_rank,                              \
                                      const fftw_iodim64 *batch_dims, I *in, O *out, unsigned flags) {                 \
    return (void)flags,                                                                                                \
           guru(kind, single, rank, (const void *)dims, batch_rank, (const void *)batch_dims, in, out, 0);             \
  }
#define OTHERS(p, R, C)                                                                                                \
  void p##_execute(const fftw_plan plan) {                                                                             \
    struct plan *of = plan;                                                                                            \
    if (of) execute(of, of->in, of->out);                                                                              \
  }                                                                                                                    \
  void p##_execute_dft(const fftw_plan plan, C *idata, C *odata) { execute(plan, idata, odata); }                      \
  void p##_execute_dft_r2c(const fftw_plan plan, R *idata, C *odata) { execute(plan, idata, odata); }                  \
  void p##_execute_dft_c2r(const fftw_plan plan, C *idata, R *odata) { execute(plan, idata, odata); }                  \
  void p##_destroy_plan(fftw_plan plan) { destroy(plan); }                                                             \
  void *p##_malloc(size_t n) { return aligned_alloc(ALIGNED, n < SIZE_MAX - ALIGNED ? (n / ALIGNED + 1) * ALIGNED : n); } \
  void p##_free(void *pointer) { free(pointer); }                                                                      \
  void p##_cleanup(void) {}                                                                                            \
  void p##_set_timelimit(double seconds) { (void)seconds; }                                                            \
  double p##_cost(const fftw_plan plan) { return (void)plan, 0; }                                                      \
  void p##_flops(const fftw_plan plan, double *add, double *mul, double *fma) {                                        \
    (void)plan, *add = *mul = *fma = 0;                                                                                \
  }                                                                                                                    \
  void p##_print_plan(const fftw_plan plan) { (void)plan; }                                                            \
  void p##_export_wisdom_to_file(void *output_file) { (void)output_file; }                                             \
  void p##_import_wisdom_from_file(void *input_file) { (void)input_file; }

PLANS(fftw, false, double, fftw_complex)
PLANS(fftwf, true, float, fftwf_complex)
OTHERS(fftw, double, fftw_complex)
OTHERS(fftwf, float, fftwf_complex)
