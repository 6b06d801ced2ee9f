/* Recurrent networks: weights, both passes. */
#include "rnn.h"

#include <string.h>

#define MIXED_UP "recurrent networks of unpacked sequences that are not sorted by length"
enum { ALIGNED = 256 }; /* memory that lies behind other */

/* ---- memory and weights ---- */

/* The network takes these sequences, with padding if they have it. */
static miopenStatus_t lay_out(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t sequences) {
  bool packed = sequences->layout == CUDNN_SEQ_MAJOR_PACKED;
  return miopen.SetRNNPaddingMode(network->miopen, packed ? miopenRNNIONotPadded : miopenRNNIOWithPadding);
}

/* MIOpen leaves the padding of a result as it is. */
static miopenStatus_t pad(cudnnHandle_t handle, cudnnRNNDataDescriptor_t sequences, void *at) {
  if (sequences->layout == CUDNN_SEQ_MAJOR_PACKED) return miopenStatusSuccess;
  return miopen.SetTensor(handle->miopen, sequences->all, at, &CUDNN_ZERO);
}

static bool are_of(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x, cudnnRNNDataDescriptor_t y) {
  if (!cudnn_is_network(network) || !cudnn_is_sequence(x) || !cudnn_is_sequence(y) || x->layout != y->layout ||
      x->batch != y->batch || x->longest != y->longest || memcmp(x->lengths, y->lengths, (size_t)x->batch * sizeof *x->lengths)) {
    return false;
  }
  const struct cudnn_network *set = &network->set;
  return x->type == set->type && y->type == set->type && x->vector == set->in &&
         y->vector == set->hidden * (set->direction + 1);
}

/* Unpacked sequences that are not in the order of their lengths, of which MIOpen mixes up results. */
static bool mixed_up(cudnnRNNDataDescriptor_t sequences) {
  bool sorted = true;
  for (int i = 1; i < sequences->batch; i++) sorted &= sequences->lengths[i] <= sequences->lengths[i - 1];
  return sequences->layout == CUDNN_SEQ_MAJOR_UNPACKED && !sorted;
}

/* Whether h is given as states of the network are stored; c: only LSTM has them. */
static bool are_states(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x, cudnnTensorDescriptor_t desc,
                       bool used, miopenTensorDescriptor_t *found) {
  const struct cudnn_network *set = &network->set;
  const struct cudnn_tensor *tensor;
  *found = NULL;
  if (!used && !desc) return true;
  if (!cudnn_tensor(desc, &tensor) || tensor->count < 3 || tensor->type != set->type ||
      tensor->size[0] != set->layers * (set->direction + 1) || tensor->size[1] != x->batch ||
      tensor->size[2] != set->hidden) {
    return false;
  }
  *found = tensor->miopen;
  return true;
}

/* The memory of both kinds. Inference is training here, with the second behind the first, as MIOpen's inference is wrong
 * for LSTM without initial states. */
static miopenStatus_t spaces(cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x,
                             size_t *work, size_t *reserve) {
  miopenStatus_t done = lay_out(network, x);
  if (!done) {
    done = miopen.GetRNNTempSpaceSizes(handle->miopen, network->miopen, x->miopen, miopenRNNTraining, work, reserve);
  }
  *work = (*work + ALIGNED - 1) / ALIGNED * ALIGNED;
  return done;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                                        cudnnRNNDataDescriptor_t xDesc, size_t *workSpaceSize,
                                        size_t *reserveSpaceSize) {
  size_t work = 0, reserve = 0;
  if (!cudnn_handle(handle, &handle) || !cudnn_is_network(rnnDesc) || !cudnn_is_sequence(xDesc) || fwdMode < 0 || fwdMode > 1 ||
      xDesc->vector != rnnDesc->set.in) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  miopenStatus_t done = spaces(handle, rnnDesc, xDesc, &work, &reserve);
  if (done) return cudnn_status(done);
  CUDNN_GIVE(workSpaceSize, fwdMode ? work : work + reserve);
  CUDNN_GIVE(reserveSpaceSize, fwdMode ? reserve : 0);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize) {
  if (!cudnn_handle(handle, &handle) || !cudnn_is_network(rnnDesc) || !weightSpaceSize) return CUDNN_STATUS_BAD_PARAM;
  return cudnn_status(miopen.GetRNNParamsSize(handle->miopen, rnnDesc->miopen, rnnDesc->input, weightSpaceSize,
                                              cudnn_rnn_type(rnnDesc->set.type)));
}

/* MIOpen's number of a gate: LSTM has the last two the other way round, GRU the first two. */
static int gate(int cell, int id) {
  static const int lstm[] = {0, 1, 3, 2}, gru[] = {1, 0, 2};
  return cell == CUDNN_LSTM ? id / 4 * 4 + lstm[id % 4] : cell == CUDNN_GRU ? id / 3 * 3 + gru[id % 3] : id;
}

typedef miopenStatus_t part_of_layer(miopenRNNDescriptor_t, int, miopenTensorDescriptor_t, int,
                                     miopenTensorDescriptor_t, size_t *);

/* A gate's matrix or bias: its shape, and its place in the weights. */
static cudnnStatus_t part(part_of_layer *find, cudnnRNNDescriptor_t network, int layer, int id, int rows, int columns,
                          const void *weights, cudnnTensorDescriptor_t desc, void **at) {
  size_t offset = 0;
  if (!desc || !at) return CUDNN_STATUS_SUCCESS; /* which is not asked for */
  cudnnStatus_t status = cudnnSetTensorNdDescriptor(desc, network->set.type, 3, (const int[]){1, rows, columns},
                                                    (const int[]){rows * columns, columns, 1});
  if (!status) {
    miopenTensorDescriptor_t shape;
    status = cudnn_status(miopen.CreateTensorDescriptor(&shape));
    if (status) return status;
    int gate_id = gate(network->set.cell, id);
    status = cudnn_status(find(network->miopen, layer, network->input, gate_id, shape, &offset));
    miopen.DestroyTensorDescriptor(shape);
  }
  if (!status) *at = (char *)(uintptr_t)weights + offset * cudnn_type_size(network->set.type);
  return status;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer,
                                      size_t weightSpaceSize, const void *weightSpace, int32_t linLayerID,
                                      cudnnTensorDescriptor_t mDesc, void **mAddr, cudnnTensorDescriptor_t bDesc,
                                      void **bAddr) {
  static const int gates[] = {1, 1, 4, 3};
  if (!cudnn_handle(handle, &handle) || !cudnn_is_network(rnnDesc)) return CUDNN_STATUS_BAD_PARAM;
  const struct cudnn_network *set = &rnnDesc->set;
  int directions = set->direction + 1, count = gates[set->cell];
  if (pseudoLayer < 0 || pseudoLayer >= set->layers * directions || linLayerID < 0) return CUDNN_STATUS_BAD_PARAM;
  if (linLayerID >= 2 * count) return linLayerID == 2 * count ? cudnn_reject(false, "projections") : CUDNN_STATUS_BAD_PARAM;
  bool first = pseudoLayer < directions, recurrent = linLayerID >= count;
  int columns = recurrent ? set->hidden : first ? set->in : set->hidden * directions;
  cudnnStatus_t status = part(miopen.GetRNNLayerParamOffset, rnnDesc, pseudoLayer, linLayerID, set->hidden, columns,
                              weightSpace, mDesc, mAddr);
  if (!status && set->bias) {
    status = part(miopen.GetRNNLayerBiasOffset, rnnDesc, pseudoLayer, linLayerID, set->hidden, 1, weightSpace, bDesc,
                  bAddr);
  } else if (!status) {
    CUDNN_GIVE(bAddr, NULL);
  }
  (void)weightSpaceSize;
  return status;
}

/* ---- both passes ---- */

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                              const int32_t *devSeqLengths, cudnnRNNDataDescriptor_t xDesc, const void *x,
                              cudnnRNNDataDescriptor_t yDesc, void *y, cudnnTensorDescriptor_t hDesc, const void *hx,
                              void *hy, cudnnTensorDescriptor_t cDesc, const void *cx, void *cy,
                              size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
                              size_t reserveSpaceSize, void *reserveSpace) {
  miopenTensorDescriptor_t h, c;
  (void)devSeqLengths; /* the same as those on the host */
  if (!cudnn_handle(handle, &handle) || fwdMode < 0 || fwdMode > 1 || !are_of(rnnDesc, xDesc, yDesc) || !x || !y ||
      !weightSpace || !are_states(rnnDesc, xDesc, hDesc, hx || hy, &h) ||
      !are_states(rnnDesc, xDesc, cDesc, cx || cy, &c)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mixed_up(xDesc)) return cudnn_reject(false, MIXED_UP);
  const struct cudnn_network *set = &rnnDesc->set;
  if (fwdMode && set->layers > 1 && set->dropout && set->dropout->dropout > 0) {
    return cudnn_reject(false, "dropout between layers of recurrent networks");
  }
  size_t work = 0, reserve = 0;
  miopenStatus_t done = spaces(handle, rnnDesc, xDesc, &work, &reserve);
  if (!done) done = pad(handle, yDesc, y);
  if (done) return cudnn_status(done);
  if (workSpaceSize < (fwdMode ? work : work + reserve) || (fwdMode && reserveSpaceSize < reserve)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!fwdMode) reserveSpace = (char *)workSpace + work, reserveSpaceSize = reserve;
  return cudnn_status(miopen.RNNForward(handle->miopen, rnnDesc->miopen, miopenRNNTraining, xDesc->miopen, x, h, hx,
                                        hy, c ? c : h, cx, cy, yDesc->miopen, y, weightSpace, weightSpaceSize, workSpace,
                                        work, reserveSpace, reserveSpaceSize));
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int32_t *devSeqLengths,
                                      cudnnRNNDataDescriptor_t yDesc, const void *y, const void *dy,
                                      cudnnRNNDataDescriptor_t xDesc, void *dx, cudnnTensorDescriptor_t hDesc,
                                      const void *hx, const void *dhy, void *dhx, cudnnTensorDescriptor_t cDesc,
                                      const void *cx, const void *dcy, void *dcx, size_t weightSpaceSize,
                                      const void *weightSpace, size_t workSpaceSize, void *workSpace,
                                      size_t reserveSpaceSize, void *reserveSpace) {
  miopenTensorDescriptor_t h, c;
  (void)devSeqLengths;
  if (!cudnn_handle(handle, &handle) || !are_of(rnnDesc, xDesc, yDesc) || !y || !dy || !dx || !weightSpace ||
      !reserveSpace || !are_states(rnnDesc, xDesc, hDesc, hx || dhy || dhx, &h) ||
      !are_states(rnnDesc, xDesc, cDesc, cx || dcy || dcx, &c)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mixed_up(xDesc)) return cudnn_reject(false, MIXED_UP);
  if (xDesc->layout == CUDNN_BATCH_MAJOR_UNPACKED) {
    return cudnn_reject(false, "gradients of recurrent networks with batches first");
  }
  miopenStatus_t done = lay_out(rnnDesc, xDesc);
  if (!done) done = pad(handle, xDesc, dx);
  if (done) return cudnn_status(done);
  return cudnn_status(miopen.RNNBackwardSeqData(handle->miopen, rnnDesc->miopen, yDesc->miopen, y, dy, h, hx, dhy, dhx,
                                                c ? c : h, cx, dcy, dcx, xDesc->miopen, dx, weightSpace,
                                                weightSpaceSize, workSpace, workSpaceSize, reserveSpace,
                                                reserveSpaceSize));
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                         cudnnWgradMode_t addGrad, const int32_t *devSeqLengths,
                                         cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnTensorDescriptor_t hDesc,
                                         const void *hx, cudnnRNNDataDescriptor_t yDesc, const void *y,
                                         size_t weightSpaceSize, void *dweightSpace, size_t workSpaceSize,
                                         void *workSpace, size_t reserveSpaceSize, void *reserveSpace) {
  miopenTensorDescriptor_t h;
  (void)devSeqLengths;
  if (!cudnn_handle(handle, &handle) || !are_of(rnnDesc, xDesc, yDesc) || !x || !y || !dweightSpace || !reserveSpace ||
      addGrad < 0 || addGrad > 1 || !are_states(rnnDesc, xDesc, hDesc, hx, &h)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mixed_up(xDesc)) return cudnn_reject(false, MIXED_UP);
  size_t size;
  cudnnStatus_t status = cudnnGetRNNWeightSpaceSize(handle, rnnDesc, &size);
  if (status || weightSpaceSize < size) return status ? status : CUDNN_STATUS_BAD_PARAM;
  const int count = (int)(size / cudnn_type_size(rnnDesc->set.type)), sizes[] = {1, 1, 1, count};
  status = cudnn_set_tensor(&rnnDesc->weights, rnnDesc->set.type, 4, sizes, NULL);
  if (!status) status = cudnn_status(lay_out(rnnDesc, xDesc));
  if (status) return status;
  const float *earlier = addGrad == CUDNN_WGRAD_ADD ? &CUDNN_ONE : &CUDNN_ZERO;
  return cudnn_status(CUDNN_BLEND(
      0, handle, &CUDNN_ONE, earlier, &rnnDesc->weights, dweightSpace,
      miopen.RNNBackwardWeightsSeqTensor(handle->miopen, rnnDesc->miopen, xDesc->miopen, x, h, hx, yDesc->miopen, y,
                                         dweightSpace, size, workSpace, workSpaceSize, reserveSpace,
                                         reserveSpaceSize)));
}
