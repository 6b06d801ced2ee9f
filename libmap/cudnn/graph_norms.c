/* Normalisations, as functions of single numbers and sums: y = (x - mean) / sqrt(variance + epsilon) scale + bias. */
#include "compose.h"

enum { LAYER_NORM, INSTANCE_NORM, BATCH_NORM, GROUP_NORM, RMS_NORM, ADA_LAYER_NORM };
enum { INFERENCE, TRAINING };

/* Sizes of means: those of the program's tensor for them, or what the mode says. */
static struct place means(const struct place *x, const struct place *given, int64_t mode, const struct place *scale) {
  struct place size = given ? *given : *x;
  for (int d = 0; d < x->count && !given; d++) {
    bool summed = mode == INSTANCE_NORM ? d > 1 : mode == BATCH_NORM ? d != 1 : mode == ADA_LAYER_NORM ? d > 0
                                                                                   : scale && scale->size[d] > 1;
    if (summed) size.size[d] = 1;
  }
  return size;
}

static bool is_norm(struct cudnn_program *program, int64_t mode, const struct cudnn_backend *op, int peers) {
  if (mode == GROUP_NORM) return cudnn_cannot(program, "CUDNN_GROUP_NORM");
  if (cudnn_attribute(op, peers)) return cudnn_cannot(program, "normalisation over several GPUs");
  return mode >= LAYER_NORM && mode <= ADA_LAYER_NORM;
}

/* running = (1 - factor) old + factor new, where new is multiplied by `unbiased`. */
static bool average(struct cudnn_program *program, struct place *old, struct place *factor, struct place *fresh,
                    double unbiased, struct place *to) {
  if (!to) return true;
  if (!old || !factor) return false;
  const struct cudnn_numbers numbers = {.factor = {unbiased, 1}};
  struct place *value = cudnn_like(program, fresh), *scaled = cudnn_like(program, fresh);
  if (!value || !cudnn_apply(program, PW_SUB, PRECISION, fresh, old, NULL, value, &numbers)) return false;
  return scaled && cudnn_apply(program, PW_MUL, PRECISION, value, factor, NULL, scaled, NULL) &&
         cudnn_apply(program, PW_ADD, PRECISION, scaled, old, NULL, to, NULL);
}

/* (x - mean) / deviation; without a mean, x / deviation. */
static struct place *normal(struct cudnn_program *program, struct place *x, struct place *mean, struct place *inverse) {
  return mean ? cudnn_of(program, PW_SCALE_SUB, x, mean, inverse, x) : cudnn_of(program, PW_MUL, x, inverse, NULL, x);
}

bool cudnn_add_norm(struct cudnn_program *program, const struct cudnn_backend *op) {
  int64_t mode = cudnn_whole(op, NORM_FWD_MODE, -1), phase = cudnn_whole(op, NORM_FWD_PHASE, INFERENCE);
  if (!is_norm(program, mode, op, NORM_FWD_PEERS)) return false;
  struct place *x = cudnn_input(program, op, NORM_FWD_X), *scale = cudnn_input(program, op, NORM_FWD_SCALE);
  struct place *bias = cudnn_input(program, op, NORM_FWD_BIAS), *epsilon = cudnn_input(program, op, NORM_FWD_EPSILON);
  bool given = mode == BATCH_NORM && phase == INFERENCE; /* the statistics are known */
  struct place *mean, *inverse, *mean_out = NULL, *inverse_out = NULL;
  if (given) {
    mean = cudnn_input(program, op, NORM_FWD_MEAN), inverse = cudnn_input(program, op, NORM_FWD_INVERSE);
    if (!x || !mean || !inverse) return false;
  } else {
    mean_out = cudnn_output(program, op, NORM_FWD_MEAN), inverse_out = cudnn_output(program, op, NORM_FWD_INVERSE);
    if (!x || !epsilon) return false;
    struct place size = means(x, inverse_out ? inverse_out : mean_out, mode, scale);
    mean = mode == RMS_NORM ? NULL : cudnn_summed(program, SUM_MEAN, x, &size);
    struct place *rest = mode == RMS_NORM ? x : mean ? cudnn_of(program, PW_SUB, x, mean, NULL, x) : NULL;
    struct place *variance = cudnn_summed(program, SUM_MEAN_SQUARE, rest, &size);
    struct place *safe = variance ? cudnn_of(program, PW_ADD, variance, epsilon, NULL, &size) : NULL;
    inverse = safe ? cudnn_of(program, PW_RSQRT, safe, NULL, NULL, &size) : NULL;
    if (!inverse || (mean && !cudnn_hand(program, mean, mean_out)) || !cudnn_hand(program, inverse, inverse_out)) return false;
    struct place *factor = cudnn_input(program, op, NORM_FWD_FACTOR);
    double count = (double)cudnn_elements(x) / (double)cudnn_elements(&size);
    struct place *to_mean = cudnn_output(program, op, NORM_FWD_MEAN_OUT), *to_variance =
        cudnn_output(program, op, NORM_FWD_VARIANCE_OUT);
    if ((to_mean && !mean) ||
        !average(program, cudnn_input(program, op, NORM_FWD_MEAN_IN), factor, mean, 1, to_mean) ||
        !average(program, cudnn_input(program, op, NORM_FWD_VARIANCE_IN), factor, variance, count / (count - 1),
                 to_variance)) {
      return false;
    }
  }
  struct place *y = cudnn_output(program, op, NORM_FWD_Y), *now = normal(program, x, mean, inverse);
  if (now && scale) now = cudnn_of(program, PW_MUL, now, scale, NULL, x);
  if (!now || !y) return false;
  return bias ? cudnn_apply(program, PW_ADD, PRECISION, now, bias, NULL, y, NULL) : cudnn_copy(program, now, y);
}

/* With n the normal numbers and g = dy scale: dx = (g - avg(g) - n avg(g n)) / deviation, without avg(g) where there was
 * no mean; dscale and dbias are sums of dy n and dy. */
bool cudnn_add_norm_back(struct cudnn_program *program, const struct cudnn_backend *op) {
  int64_t mode = cudnn_whole(op, NORM_BWD_MODE, -1);
  if (!is_norm(program, mode, op, NORM_BWD_PEERS)) return false;
  struct place *x = cudnn_input(program, op, NORM_BWD_X), *dy = cudnn_input(program, op, NORM_BWD_DY);
  struct place *mean = cudnn_input(program, op, NORM_BWD_MEAN), *inverse = cudnn_input(program, op, NORM_BWD_INVERSE);
  struct place *scale = cudnn_input(program, op, NORM_BWD_SCALE);
  struct place *dscale = cudnn_output(program, op, NORM_BWD_DSCALE), *dbias = cudnn_output(program, op, NORM_BWD_DBIAS);
  struct place *dx = cudnn_output(program, op, NORM_BWD_DX);
  if (!x || !dy || !dx || !scale) return false;
  if (!inverse || (mode != RMS_NORM && !mean)) {
    return cudnn_cannot(program, "the derivative of a normalisation whose mean or deviation is not given");
  }
  if (mode == RMS_NORM) mean = NULL;
  struct place *n = normal(program, x, mean, inverse);
  struct place *part = n ? cudnn_of(program, PW_MUL, dy, n, NULL, x) : NULL;
  if (!part || (dscale && !cudnn_reduce(program, SUM_ADD, part, dscale)) ||
      (dbias && !cudnn_reduce(program, SUM_ADD, dy, dbias))) {
    return false;
  }
  struct place *g = cudnn_of(program, PW_MUL, dy, scale, NULL, x), *gn = g ? cudnn_of(program, PW_MUL, g, n, NULL, x) : NULL;
  struct place *slope = cudnn_summed(program, SUM_MEAN, gn, inverse), *level = mean ? cudnn_summed(program, SUM_MEAN, g, inverse) : NULL;
  struct place *turned = slope ? cudnn_of(program, PW_MUL, n, slope, NULL, x) : NULL;
  struct place *rest = turned ? cudnn_of(program, PW_SUB, g, turned, NULL, x) : NULL;
  if (!rest || (mean && !level)) return false;
  return level ? cudnn_apply(program, PW_SCALE_SUB, PRECISION, rest, level, inverse, dx, NULL)
               : cudnn_apply(program, PW_MUL, PRECISION, rest, inverse, NULL, dx, NULL);
}
