#ifndef PTX2AMD_PROGRESS_H
#define PTX2AMD_PROGRESS_H
#include <stdbool.h>

/* Around every request to the translation service; kernel: its name, NULL for other requests. */
void progress_begin(const char *kernel);
void progress_end(bool translated);
/* Now and then while a request is waited for. */
void progress_tick(void);
#endif
