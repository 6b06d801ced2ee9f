"""EGL interoperability."""

from shim.api.row import Row

ROWS = [
    Row("cuGraphicsEGLRegisterImage", 7000,
        "CUgraphicsResource *pCudaResource, EGLImageKHR image, unsigned int flags"),
    Row("cuEGLStreamConsumerConnect", 7000, "CUeglStreamConnection *conn, EGLStreamKHR stream"),
    Row("cuEGLStreamConsumerConnectWithFlags", 8000,
        "CUeglStreamConnection *conn, EGLStreamKHR stream, unsigned int flags"),
    Row("cuEGLStreamConsumerDisconnect", 7000, "CUeglStreamConnection *conn"),
    Row("cuEGLStreamConsumerAcquireFrame", 7000,
        "CUeglStreamConnection *conn, CUgraphicsResource *pCudaResource, CUstream *pStream, unsigned int "
        "timeout"),
    Row("cuEGLStreamConsumerReleaseFrame", 7000,
        "CUeglStreamConnection *conn, CUgraphicsResource pCudaResource, CUstream *pStream"),
    Row("cuEGLStreamProducerConnect", 7000,
        "CUeglStreamConnection *conn, EGLStreamKHR stream, EGLint width, EGLint height"),
    Row("cuEGLStreamProducerDisconnect", 7000, "CUeglStreamConnection *conn"),
    Row("cuEGLStreamProducerPresentFrame", 7000,
        "CUeglStreamConnection *conn, CUeglFrame eglframe, CUstream *pStream"),
    Row("cuEGLStreamProducerReturnFrame", 7000,
        "CUeglStreamConnection *conn, CUeglFrame *eglframe, CUstream *pStream"),
    Row("cuGraphicsResourceGetMappedEglFrame", 7000,
        "CUeglFrame *eglFrame, CUgraphicsResource resource, unsigned int index, unsigned int mipLevel"),
    Row("cuEventCreateFromEGLSync", 9000, "CUevent *phEvent, EGLSyncKHR eglSync, unsigned int flags"),
]
