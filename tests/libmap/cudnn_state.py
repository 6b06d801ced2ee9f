"""cuDNN's handles, streams, versions, descriptors and wrong arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.nets import CROSS_CORRELATION, DOUBLE, FLOAT, HALF, INT8X4, NCHW, NCHW_VECT_C, NHWC, Nets

RELU, ELU = 1, 4
PARTS = {
    8: ("OpsInfer", "OpsTrain", "CnnInfer", "CnnTrain", "AdvInfer", "AdvTrain"),
    9: ("Ops", "Cnn", "Adv", "Graph", "SubquadraticOps"),
}


class State(Nets):
    def versions(self) -> None:
        library, part, parts = self.client.library, self.ffi.new("int *"), []
        version = library.cudnnGetVersion()
        for which in range(3):
            self.ok("GetProperty", which, part)
            parts.append(part[0])
        whole = parts[0] * (1000 if parts[0] < 9 else 10000) + parts[1] * 100 + parts[2]
        self.client.check(f"version {version}, {parts}", version == whole and version in (8907, 92700))
        self.answers("a fourth part", self.bad_param, "GetProperty", 3, part)
        self.client.check("CUDA's version", library.cudnnGetCudartVersion() == 12000)
        self.client.check("the newest chip", library.cudnnGetMaxDeviceVersion() in (900, 1210))
        for name in (*PARTS[8], *PARTS[9]):
            self.ok(f"{name}VersionCheck")
        text = self.ffi.string(library.cudnnGetErrorString(self.not_supported))
        self.client.check(f"{text}", text == b"CUDNN_STATUS_NOT_SUPPORTED")
        status, message = self.ffi.new("cudnnStatus_t *", 5), self.ffi.new("char[100]")
        self.call("QueryRuntimeError", status, 0, self.ffi.NULL)
        self.client.check("no error of a kernel", status[0] == 0)
        library.cudnnGetLastErrorString(message, 100)

    def handles(self) -> None:
        none, fake = self.ffi.NULL, self.ffi.cast("cudnnHandle_t", self.ffi.new("char[256]"))
        stream, found = self.ffi.new("cudaStream_t *"), self.ffi.new("cudaStream_t *")
        self.answers("no place", self.bad_param, "Create", none)
        for handle in (none, fake):
            self.answers("no handle", self.bad_param, "SetStream", handle, none)
            self.answers("no handle", self.bad_param, "GetStream", handle, found)
        self.answers("not a handle", self.bad_param, "Destroy", fake)
        other = self.new("cudnnHandle_t", "Create")
        self.ok("Destroy", other)
        assert not self.client.cuda.cuStreamCreate(stream, 1)
        self.call("SetStream", stream[0])
        self.call("GetStream", found)
        self.client.check("the stream", found[0] == stream[0])
        y = self.room_for(2, 3, 4, 5)
        self.call("SetTensor", y.desc, y.at, np.array([2.5], np.float32))
        assert not self.client.cuda.cuStreamSynchronize(stream[0])
        self.same("on a stream", y.now(), np.full(y.shape, 2.5, np.float32))
        self.call("SetStream", none)

    def numbers(self, name: str, *arguments: Any, kinds: str) -> list[Any]:
        """What a function gives at its last arguments: i: int, d: double."""
        places = [self.ffi.new("int *" if kind == "i" else "double *") for kind in kinds]
        self.ok(name, *arguments, *places)
        return [place[0] for place in places]

    def tensors(self) -> None:
        desc, none = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor"), self.ffi.NULL
        size = self.ffi.new("size_t *")
        self.answers("nothing is set", self.bad_param, "GetTensorSizeInBytes", desc, size)
        for order, strides in ((NCHW, [60, 20, 5, 1]), (NHWC, [60, 1, 15, 3])):
            self.ok("SetTensor4dDescriptor", desc, order, HALF, 2, 3, 4, 5)
            found = self.numbers("GetTensor4dDescriptor", desc, kinds="i" * 9)
            self.client.check(f"tensor {found}", found == [HALF, 2, 3, 4, 5, *strides])
            self.ok("GetTensorSizeInBytes", desc, size)
            self.client.check("bytes", size[0] == 240)
        self.ok("SetTensor4dDescriptorEx", desc, FLOAT, 2, 3, 4, 5, 100, 30, 6, 1)
        found = self.numbers("GetTensor4dDescriptor", desc, kinds="i" * 9)
        self.client.check(f"strides {found}", found == [FLOAT, 2, 3, 4, 5, 100, 30, 6, 1])
        self.ok("GetTensorSizeInBytes", desc, size)
        self.client.check("bytes with gaps", size[0] == 4 * (100 + 60 + 18 + 4 + 1))
        sizes, strides = (self.ffi.new("int[8]") for _ in range(2))
        self.ok("SetTensorNdDescriptorEx", desc, NHWC, DOUBLE, 5, self.ffi.new("int[]", [2, 3, 4, 5, 6]))
        kind, count = self.ffi.new("int *"), self.ffi.new("int *")
        self.ok("GetTensorNdDescriptor", desc, 8, kind, count, sizes, strides)
        found = [kind[0], count[0], list(sizes[0:5]), list(strides[0:5])]
        self.client.check(f"five {found}", found == [DOUBLE, 5, [2, 3, 4, 5, 6], [360, 1, 90, 18, 3]])
        self.answers("four of five", self.bad_param, "GetTensor4dDescriptor", desc, *[none] * 9)
        self.answers("no size", self.bad_param, "SetTensor4dDescriptor", desc, NCHW, FLOAT, 2, 0, 4, 5)
        self.answers("no order", self.bad_param, "SetTensor4dDescriptor", desc, 3, FLOAT, 2, 3, 4, 5)
        self.answers("vectors", self.not_supported, "SetTensor4dDescriptor", desc, NCHW_VECT_C, FLOAT, 2, 4, 4, 5)
        self.answers("no such type", self.bad_param, "SetTensor4dDescriptor", desc, NCHW, 99, 2, 4, 4, 5)
        self.answers("packs", self.not_supported, "SetTensor4dDescriptor", desc, NCHW, INT8X4, 2, 4, 4, 5)
        self.answers("nine", self.not_supported, "SetTensorNdDescriptor", desc, FLOAT, 9, sizes, strides)
        self.answers("no tensor", self.bad_param, "SetTensor4dDescriptor", none, NCHW, FLOAT, 2, 3, 4, 5)
        self.destroy("Tensor", desc)

    def filters(self) -> None:
        desc, size = self.new("cudnnFilterDescriptor_t", "CreateFilterDescriptor"), self.ffi.new("size_t *")
        self.ok("SetFilter4dDescriptor", desc, HALF, NHWC, 8, 3, 5, 4)
        found = self.numbers("GetFilter4dDescriptor", desc, kinds="i" * 6)
        self.client.check(f"filter {found}", found == [HALF, NHWC, 8, 3, 5, 4])
        kind, order, count, sizes = (self.ffi.new("int[8]") for _ in range(4))
        self.ok("GetFilterNdDescriptor", desc, 8, kind, order, count, sizes)
        self.client.check("filter's sizes", (count[0], list(sizes[0:4])) == (4, [8, 3, 5, 4]))
        self.ok("GetFilterSizeInBytes", desc, size)
        self.client.check("filter's bytes", size[0] == 2 * 480)
        tensor = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor")
        asked = (self.ffi.cast("cudnnFilterDescriptor_t", tensor), HALF, NHWC, 8, 3, 5, 4)
        self.answers("a tensor for a filter", self.bad_param, "SetFilter4dDescriptor", *asked)
        self.destroy("Filter", desc)

    def convolutions(self) -> None:
        desc = self.new("cudnnConvolutionDescriptor_t", "CreateConvolutionDescriptor")
        self.ok("SetConvolutionGroupCount", desc, 2)
        self.ok("SetConvolution2dDescriptor", desc, 1, 2, 3, 4, 5, 6, CROSS_CORRELATION, FLOAT)
        found = self.numbers("GetConvolution2dDescriptor", desc, kinds="i" * 8)
        self.client.check(f"convolution {found}", found == [1, 2, 3, 4, 5, 6, CROSS_CORRELATION, FLOAT])
        pads, strides, dilations = (self.ffi.new("int[8]") for _ in range(3))
        count, mode, kind = (self.ffi.new("int *") for _ in range(3))
        self.ok("GetConvolutionNdDescriptor", desc, 8, count, pads, strides, dilations, mode, kind)
        found = [count[0], list(pads[0:2]), list(strides[0:2]), list(dilations[0:2])]
        self.client.check(f"convolution {found}", found == [2, [1, 2], [3, 4], [5, 6]])
        for name, value in (("MathType", 1), ("ReorderType", 1), ("GroupCount", 2)):
            self.ok(f"SetConvolution{name}", desc, value)
            found = self.numbers(f"GetConvolution{name}", desc, kinds="i")
            self.client.check(f"{name} {found}", found == [value])
        x = self.room_for(3, 4, 20, 30)
        w = self.new("cudnnFilterDescriptor_t", "CreateFilterDescriptor")
        self.ok("SetFilter4dDescriptor", w, FLOAT, NCHW, 8, 2, 3, 4)
        found = self.numbers("GetConvolution2dForwardOutputDim", desc, x.desc, w, kinds="i" * 4)
        self.client.check(f"sizes {found}", found == [3, 8, 1 + (22 - 11) // 3, 1 + (34 - 19) // 4])
        self.ok("GetConvolutionNdForwardOutputDim", desc, x.desc, w, 4, pads)
        self.client.check("sizes", list(pads[0:4]) == found)
        wrong = (desc, -1, 0, 1, 1, 1, 1, CROSS_CORRELATION, FLOAT)
        self.answers("a negative pad", self.bad_param, "SetConvolution2dDescriptor", *wrong)
        self.answers("no step", self.bad_param, "SetConvolution2dDescriptor", desc, 0, 0, 0, 1, 1, 1, 1, FLOAT)
        self.answers("no such mode", self.bad_param, "SetConvolution2dDescriptor", desc, 0, 0, 1, 1, 1, 1, 2, FLOAT)
        self.answers("no groups", self.bad_param, "SetConvolutionGroupCount", desc, 0)
        self.destroy("Convolution", desc)

    def others(self) -> None:
        act = self.new("cudnnActivationDescriptor_t", "CreateActivationDescriptor")
        self.ok("SetActivationDescriptor", act, ELU, 1, 0.5)
        self.client.check("activation", self.numbers("GetActivationDescriptor", act, kinds="iid") == [ELU, 1, 0.5])
        self.ok("SetActivationDescriptorSwishBeta", act, 2.0)
        self.client.check("swish", self.numbers("GetActivationDescriptorSwishBeta", act, kinds="d") == [2.0])
        self.answers("no such function", self.bad_param, "SetActivationDescriptor", act, 7, 0, 0.0)
        self.answers("no such rule", self.bad_param, "SetActivationDescriptor", act, RELU, 2, 0.0)
        pool = self.new("cudnnPoolingDescriptor_t", "CreatePoolingDescriptor")
        self.ok("SetPooling2dDescriptor", pool, 1, 0, 3, 4, 1, 2, 2, 1)
        found = self.numbers("GetPooling2dDescriptor", pool, kinds="i" * 8)
        self.client.check(f"pooling {found}", found == [1, 0, 3, 4, 1, 2, 2, 1])
        ints = [self.ffi.new("int[8]") for _ in range(6)]
        self.ok("GetPoolingNdDescriptor", pool, 8, *ints)
        self.client.check("pooling", [list(part[0:2]) for part in ints[3:]] == [[3, 4], [1, 2], [2, 1]])
        x = self.room_for(2, 3, 9, 8)
        found = self.numbers("GetPooling2dForwardOutputDim", pool, x.desc, kinds="i" * 4)
        self.client.check(f"pooled sizes {found}", found == [2, 3, 5, 9])
        self.answers("no window", self.bad_param, "SetPooling2dDescriptor", pool, 0, 0, 0, 2, 0, 0, 1, 1)
        self.answers("no such mode", self.bad_param, "SetPooling2dDescriptor", pool, 4, 0, 2, 2, 0, 0, 1, 1)
        lrn = self.new("cudnnLRNDescriptor_t", "CreateLRNDescriptor")
        self.ok("SetLRNDescriptor", lrn, 5, 0.1, 0.75, 2.0)
        n, numbers = self.ffi.new("unsigned *"), [self.ffi.new("double *") for _ in range(3)]
        self.ok("GetLRNDescriptor", lrn, n, *numbers)
        self.client.check("LRN", [n[0], *(one[0] for one in numbers)] == [5, 0.1, 0.75, 2.0])
        self.answers("too wide", self.bad_param, "SetLRNDescriptor", lrn, 17, 0.1, 0.75, 2.0)
        op = self.new("cudnnOpTensorDescriptor_t", "CreateOpTensorDescriptor")
        self.ok("SetOpTensorDescriptor", op, 2, FLOAT, 1)
        self.client.check("operation", self.numbers("GetOpTensorDescriptor", op, kinds="iii") == [2, FLOAT, 1])
        self.answers("no such operation", self.bad_param, "SetOpTensorDescriptor", op, 6, FLOAT, 1)
        reduction = self.new("cudnnReduceTensorDescriptor_t", "CreateReduceTensorDescriptor")
        self.ok("SetReduceTensorDescriptor", reduction, 3, FLOAT, 1, 1, 0)
        found = self.numbers("GetReduceTensorDescriptor", reduction, kinds="iiiii")
        self.client.check(f"reduction {found}", found == [3, FLOAT, 1, 1, 0])
        kinds = {"Activation": act, "Pooling": pool, "LRN": lrn, "OpTensor": op, "ReduceTensor": reduction}
        for kind, desc in kinds.items():
            self.answers("no place", self.bad_param, f"Create{kind}Descriptor", self.ffi.NULL)
            self.destroy(kind, desc)

    def refused(self) -> None:
        for name in ("ReorderFilterAndBias", "Im2Col", "FusedOpsExecute"):
            self.answers("refused", self.not_supported, name)

    def check_all(self) -> None:
        self.versions()
        self.handles()
        self.tensors()
        self.filters()
        self.convolutions()
        self.others()
        self.refused()
