/* The end of HIP's executable graphs. AMD's library lets go of a launch in the thread that completes launches, some time
 * after streams are known to be done; where that is the last use of a destroyed graph, the same thread destroys the
 * graph's own streams, waits for what only it can complete, and the process hangs. So a graph that was launched is
 * destroyed when that thread has come past its launches. */
#ifndef SHIM_GRAPH_END_H
#define SHIM_GRAPH_END_H
#include "deferred.h"

void graph_exec_made(CUgraphExec exec);
int graph_exec_launch(CUgraphExec exec, hipStream_t stream); /* a HIP error */
int graph_exec_end(CUgraphExec exec);                        /* a HIP error; may return before it is destroyed */
void graph_stream_ended(hipStream_t stream);                 /* before HIP destroys it */
#endif
