/* Client of the translation service: docs/internals/service.md. */
#ifndef SHIM_SERVICE_H
#define SHIM_SERVICE_H
#include "image.h"

struct service_request {
  const char *operation;   /* index, check, kernel */
  const char *module_id;
  const char *arch, *kernel, *options; /* kernel requests */
  const char *check;       /* of an index: "text", "link", or NULL for what need not be judged */
  const char *name;        /* of the module, for messages */
  const struct image *image;
};

struct service_reply {
  char *entry;       /* malloc'd, on success */
  size_t entry_size;
  bool stored;       /* the entry is in the cache folder too */
  char *error;       /* malloc'd text, NULL on success */
  double time_ms;
};

/* CUDA_SUCCESS, or the error that the service names; reply->error says why. */
CUresult service_ask(const struct service_request *request, struct service_reply *reply);
#endif
