/* Peer access. HIP enables it per device; CUDA per context, so a table says who asked. */
#include "shim.h"

static unsigned char enabled[MAX_DEVICES][MAX_DEVICES];

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device_ok(dev) || !device_ok(peerDev)) return CUDA_ERROR_INVALID_DEVICE;
  if (!canAccessPeer) return CUDA_ERROR_INVALID_VALUE;
  *canAccessPeer = 0;
  return dev == peerDev ? CUDA_SUCCESS : from_hip(hip.DeviceCanAccessPeer(canAccessPeer, dev, peerDev));
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device_ok(srcDevice) || !device_ok(dstDevice) || srcDevice == dstDevice) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || attrib < 1 || attrib > 5) return CUDA_ERROR_INVALID_VALUE;
  *value = 0;
  return attrib == 5 ? CUDA_SUCCESS
                     : from_hip(hip.DeviceGetP2PAttribute(value, (unsigned)attrib - 1, srcDevice, dstDevice));
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, const CUatomicOperation *operations,
                                          unsigned int count, CUdevice srcDevice, CUdevice dstDevice) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device_ok(srcDevice) || !device_ok(dstDevice)) return CUDA_ERROR_INVALID_DEVICE;
  if (!capabilities || !operations || !count) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) capabilities[i] = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
  struct context *peer = context_checked(peerContext), *own = thread_state.current;
  if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
  if (Flags) return CUDA_ERROR_INVALID_VALUE;
  if (peer->device == own->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  CUresult result = from_hip(hip.DeviceEnablePeerAccess(peer->device, 0));
  if (!result) enabled[own->device][peer->device] = 1;
  return result;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
  struct context *peer = context_checked(peerContext), *own = thread_state.current;
  if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
  if (!enabled[own->device][peer->device]) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  enabled[own->device][peer->device] = 0;
  return from_hip(hip.DeviceDisablePeerAccess(peer->device));
}
