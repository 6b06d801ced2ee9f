"""EGL interoperability."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuGraphicsEGLRegisterImage", 7000,
        "out CUgraphicsResource *pCudaResource, EGLImageKHR image, unsigned int flags"),
    Function("cuEGLStreamConsumerConnect", 7000, "CUeglStreamConnection *conn, EGLStreamKHR stream"),
    Function("cuEGLStreamConsumerConnectWithFlags", 8000,
        "CUeglStreamConnection *conn, EGLStreamKHR stream, unsigned int flags"),
    Function("cuEGLStreamConsumerDisconnect", 7000, "CUeglStreamConnection *conn"),
    Function("cuEGLStreamConsumerAcquireFrame", 7000,
        "CUeglStreamConnection *conn, CUgraphicsResource *pCudaResource, CUstream *pStream, unsigned int "
        "timeout"),
    Function("cuEGLStreamConsumerReleaseFrame", 7000,
        "CUeglStreamConnection *conn, CUgraphicsResource pCudaResource, CUstream *pStream"),
    Function("cuEGLStreamProducerConnect", 7000,
        "CUeglStreamConnection *conn, EGLStreamKHR stream, EGLint width, EGLint height"),
    Function("cuEGLStreamProducerDisconnect", 7000, "CUeglStreamConnection *conn"),
    Function("cuEGLStreamProducerPresentFrame", 7000,
        "CUeglStreamConnection *conn, CUeglFrame eglframe, CUstream *pStream"),
    Function("cuEGLStreamProducerReturnFrame", 7000,
        "CUeglStreamConnection *conn, CUeglFrame *eglframe, CUstream *pStream"),
    Function("cuGraphicsResourceGetMappedEglFrame", 7000,
        "CUeglFrame *eglFrame, CUgraphicsResource resource, unsigned int index, unsigned int mipLevel"),
    Function("cuEventCreateFromEGLSync", 9000, "out CUevent *phEvent, EGLSyncKHR eglSync, unsigned int flags"),
]
