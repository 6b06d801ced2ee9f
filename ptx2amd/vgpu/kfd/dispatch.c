/* Dispatch packets to the engine. */
#include <string.h>

#include "hsa_abi.h"
#include "kfd.h"

static void shape(struct dispatch *d, const struct aql_dispatch *p) {
  unsigned dimensions = p->setup & 3;
  for (unsigned k = 0; k < 3; k++) {
    uint32_t block = k < dimensions ? p->workgroup[k] : 1, grid = k < dimensions ? p->grid[k] : 1;
    d->block[k] = block;
    d->grid[k] = block ? grid / block + (grid % block ? 1 : 0) : 0;
    d->last_block[k] = block ? grid % block : 0;
  }
}

void dispatch_run(struct queue *q, const struct aql_dispatch *p, uint64_t index) {
  struct fault fault = {.lane = -1};
  struct kernel kernel;
  if (!kernel_find(q->gpu, p->kernel_object, &kernel)) {
    fault.kind = FAULT_BAD_LAUNCH;
    snprintf(fault.text, sizeof fault.text, "bad launch: there is no kernel at 0x%llx", (unsigned long long)p->kernel_object);
    fault_report(q, &fault);
    return;
  }
  if (!strcmp(kernel.name, "__amd_rocclr_gwsInit")) {   /* sent by HIP 5 before a cooperative launch: there is no global
                                                         * wave sync here */
    kernel_release(&kernel);
    return;
  }
  uint32_t fixed = ((const struct kernel_descriptor *)p->kernel_object)->group_segment_fixed_size;
  struct dispatch d = {
      .code = kernel.code, .kernel = kernel.name, .descriptor = p->kernel_object, .private_bytes = p->private_bytes,
      .dynamic_lds = p->group_bytes > fixed ? p->group_bytes - fixed : 0, .kernarg = p->kernarg,
      .queue = q->write_pointer - QUEUE_WRITE_INDEX, .dispatch_id = index, .cooperative = q->cooperative,
  };
  shape(&d, p);
  int kind = engine->run(&d, &fault, NULL);
  kernel_release(&kernel);
  if (kind) fault_report(q, &fault);
}
