/* Captures into graphs that there are already, where HIP has none (before 6.2). */
#ifndef SHIM_CAPTURE_INTO_H
#define SHIM_CAPTURE_INTO_H
#include "shim.h"

bool capture_has_target(hipStream_t stream); /* the capture is one into a graph that there was */
void capture_forget(hipStream_t stream);     /* it ends without a graph */
/* It has ended: *graph, what was captured, becomes the graph that there was. A HIP error. */
int capture_finish(hipStream_t stream, CUgraph *graph);
#endif
