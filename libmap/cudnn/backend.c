/* The graph API's descriptors: attributes as they are set, and those that are answers. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

static size_t element(cudnnBackendAttributeType_t type) {
  static const unsigned char sizes[] = {8, 4, 1, 8, 4, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 4, 1, 4, 16,
                                        4, 4, 4, 4, 4, 4};
  return type >= 0 && (size_t)type < sizeof sizes ? sizes[type] : 0;
}

static bool is(const void *given) { return cudnn_is(given, CUDNN_A_BACKEND); }

/* What is wrong with a descriptor that is none. */
static cudnnStatus_t wrong(const void *given) {
  return given ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
}

static struct cudnn_backend *make(cudnnBackendDescriptorType_t kind) {
  struct cudnn_backend *made = cudnn_new(CUDNN_A_BACKEND, sizeof *made);
  if (made) made->kind = kind, made->holders = 1;
  return made;
}

static void release(struct cudnn_backend *object);

static void forget(struct cudnn_attribute *attribute) {
  struct cudnn_backend **parts = attribute->values;
  for (int64_t i = 0; attribute->type == TYPE_BACKEND_DESCRIPTOR && i < attribute->count; i++) release(parts[i]);
  free(attribute->values);
  free(attribute);
}

static void clear(struct cudnn_backend *object) {
  while (object->attributes) {
    struct cudnn_attribute *first = object->attributes;
    object->attributes = first->next;
    forget(first);
  }
  cudnn_program_free(object->program);
  object->program = NULL, object->tried = false;
}

static void release(struct cudnn_backend *object) {
  if (__atomic_sub_fetch(&object->holders, 1, __ATOMIC_ACQ_REL)) return;
  clear(object);
  cudnn_free(object);
}

/* Takes a copy of values, and holds those that are descriptors. */
static bool put(struct cudnn_backend *to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                int64_t count, const void *values) {
  struct cudnn_attribute *made = calloc(1, sizeof *made);
  size_t size = (size_t)count * element(type);
  if (!made || !(made->values = malloc(size ? size : 1))) {
    free(made);
    return false;
  }
  made->name = name, made->type = type, made->count = count;
  if (size) memcpy(made->values, values, size);
  struct cudnn_backend *const *parts = made->values;
  for (int64_t i = 0; type == TYPE_BACKEND_DESCRIPTOR && i < count; i++) {
    __atomic_add_fetch(&parts[i]->holders, 1, __ATOMIC_RELAXED);
  }
  struct cudnn_attribute **at = &to->attributes;
  while (*at && (*at)->name != name) at = &(*at)->next;
  struct cudnn_attribute *old = *at;
  made->next = old ? old->next : NULL;
  *at = made;
  if (old) forget(old);
  return true;
}

const struct cudnn_attribute *cudnn_attribute(const struct cudnn_backend *of, int name) {
  const struct cudnn_attribute *at = of->attributes;
  while (at && at->name != name) at = at->next;
  return at;
}

struct cudnn_backend *cudnn_part(const struct cudnn_backend *of, int name) {
  const struct cudnn_attribute *found = of ? cudnn_attribute(of, name) : NULL;
  return found && found->type == TYPE_BACKEND_DESCRIPTOR && found->count ? *(struct cudnn_backend **)found->values : NULL;
}

int64_t cudnn_whole(const struct cudnn_backend *of, int name, int64_t otherwise) {
  const struct cudnn_attribute *found = of ? cudnn_attribute(of, name) : NULL;
  if (!found || !found->count) return otherwise;
  return element(found->type) == 8   ? *(const int64_t *)found->values
         : element(found->type) == 1 ? *(const bool *)found->values
                                     : *(const int32_t *)found->values;
}

double cudnn_number(const struct cudnn_backend *of, int name, double otherwise) {
  const struct cudnn_attribute *found = of ? cudnn_attribute(of, name) : NULL;
  if (!found || !found->count) return otherwise;
  return found->type == TYPE_FLOAT    ? (double)*(const float *)found->values
         : found->type == TYPE_DOUBLE ? *(const double *)found->values
                                      : otherwise;
}

/* ---- what programs call ---- */

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
                                           cudnnBackendDescriptor_t *descriptor) {
  if (!descriptor || descriptorType < 0 || descriptorType >= BACKEND_KINDS) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  struct cudnn_backend *made = make(descriptorType);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  *descriptor = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor) {
  if (!is(descriptor)) return CUDNN_STATUS_BAD_PARAM;
  struct cudnn_backend *object = descriptor;
  clear(object);
  object->final = false;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (!is(descriptor)) return wrong(descriptor);
  release(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType, int64_t elementCount,
                                       const void *arrayOfElements) {
  struct cudnn_backend *object = descriptor, *const *parts = arrayOfElements;
  if (!is(object)) return wrong(object);
  if (!element(attributeType) || elementCount < 0 || elementCount > INT32_MAX ||
      (elementCount && !arrayOfElements)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (object->final) return CUDNN_STATUS_FINALIZED;
  for (int64_t i = 0; attributeType == TYPE_BACKEND_DESCRIPTOR && i < elementCount; i++) {
    if (!is(parts[i]) || parts[i] == object) return CUDNN_STATUS_BAD_PARAM;
    if (!parts[i]->final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  }
  return put(object, attributeName, attributeType, elementCount, arrayOfElements) ? CUDNN_STATUS_SUCCESS
                                                                                 : CUDNN_STATUS_ALLOC_FAILED;
}

/* The graph that a descriptor leads to. */
static struct cudnn_backend *graph_of(struct cudnn_backend *object) {
  while (object && object->kind != BACKEND_OPERATIONGRAPH) {
    object = object->kind == BACKEND_PLAN         ? cudnn_part(object, PLAN_ENGINE_CONFIG)
             : object->kind == BACKEND_ENGINECFG  ? cudnn_part(object, ENGINECFG_ENGINE)
             : object->kind == BACKEND_ENGINE     ? cudnn_part(object, ENGINE_OPERATION_GRAPH)
             : object->kind == BACKEND_ENGINEHEUR ? cudnn_part(object, ENGINEHEUR_OPERATION_GRAPH)
                                                  : NULL;
  }
  return object;
}

static bool is_tensor(const struct cudnn_backend *object) {
  const struct cudnn_attribute *sizes = cudnn_attribute(object, TENSOR_DIMENSIONS);
  const struct cudnn_attribute *strides = cudnn_attribute(object, TENSOR_STRIDES);
  return sizes && strides && sizes->type == TYPE_INT64 && strides->type == TYPE_INT64 && sizes->count > 0 &&
         sizes->count <= CUDNN_DIMENSIONS && strides->count == sizes->count &&
         cudnn_attribute(object, TENSOR_DATA_TYPE) && cudnn_attribute(object, TENSOR_UNIQUE_ID);
}

/* A graph that cannot be run is refused where an engine is asked for, so that the program can go on without. */
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  struct cudnn_backend *object = descriptor;
  if (!is(object)) return wrong(object);
  if (object->kind == BACKEND_TENSOR && !is_tensor(object)) return CUDNN_STATUS_BAD_PARAM;
  if (object->kind == BACKEND_OPERATIONGRAPH && !cudnn_part(object, OPERATIONGRAPH_OPS)) return CUDNN_STATUS_BAD_PARAM;
  bool runs = object->kind == BACKEND_PLAN || object->kind == BACKEND_ENGINECFG || object->kind == BACKEND_ENGINE ||
              object->kind == BACKEND_ENGINEHEUR;
  if (runs) {
    struct cudnn_backend *graph = graph_of(object);
    if (!graph) return CUDNN_STATUS_BAD_PARAM;
    if (!cudnn_program(graph) || cudnn_whole(object, ENGINE_GLOBAL_INDEX, 0)) return CUDNN_STATUS_NOT_SUPPORTED;
  }
  object->final = true;
  return CUDNN_STATUS_SUCCESS;
}

/* A descriptor of the program gets the contents of another. */
static cudnnStatus_t copy(struct cudnn_backend *to, const struct cudnn_backend *from) {
  if (!is(to) || to->kind != from->kind) return CUDNN_STATUS_BAD_PARAM;
  if (to == from) return CUDNN_STATUS_SUCCESS;
  clear(to);
  for (const struct cudnn_attribute *at = from->attributes; at; at = at->next) {
    if (!put(to, at->name, at->type, at->count, at->values)) return CUDNN_STATUS_ALLOC_FAILED;
  }
  to->final = from->final;
  return CUDNN_STATUS_SUCCESS;
}

/* The one configuration that there is for a graph. */
static cudnnStatus_t configure(struct cudnn_backend *heuristic, void *array) {
  struct cudnn_backend *graph = graph_of(heuristic), *config = *(struct cudnn_backend **)array;
  if (!is(config) || config->kind != BACKEND_ENGINECFG) return CUDNN_STATUS_BAD_PARAM;
  struct cudnn_backend *engine = make(BACKEND_ENGINE);
  if (!engine) return CUDNN_STATUS_ALLOC_FAILED;
  const int64_t first = 0;
  bool good = put(engine, ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, &graph) &&
              put(engine, ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, &first);
  engine->final = true;
  clear(config);
  good = good && put(config, ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, &engine);
  config->final = good;
  release(engine); /* the configuration has it */
  return good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

/* An attribute that is an integer of ours; negative: it is none. */
static int64_t answer(struct cudnn_backend *object, cudnnBackendAttributeName_t name) {
  struct cudnn_backend *graph = graph_of(object);
  struct cudnn_program *program = graph ? cudnn_program(graph) : NULL;
  if (name == OPERATIONGRAPH_ENGINE_GLOBAL_COUNT) return program != NULL;
  bool space = name == PLAN_WORKSPACE_SIZE || name == ENGINECFG_WORKSPACE_SIZE;
  return space && program ? (int64_t)cudnn_program_space(program) : -1;
}

/* Lists that are empty where the program has set none. */
static bool is_empty(cudnnBackendAttributeName_t name) {
  return name == ENGINECFG_INTERMEDIATE_INFO || name == ENGINECFG_KNOB_CHOICES || name == ENGINE_KNOB_INFO ||
         name == ENGINE_NUMERICAL_NOTE || name == ENGINE_LAYOUT_INFO || name == ENGINE_BEHAVIOR_NOTE ||
         name == PLAN_COMPUTED_INTERMEDIATE_UIDS || name == PLAN_RUN_ONLY_INTERMEDIATE_UIDS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType, int64_t requestedElementCount,
                                       int64_t *elementCount, void *arrayOfElements) {
  struct cudnn_backend *object = descriptor;
  if (!is(object) || requestedElementCount < 0) return CUDNN_STATUS_BAD_PARAM;
  if (!object->final) return CUDNN_STATUS_NOT_INITIALIZED;
  int64_t none, *count = elementCount ? elementCount : &none;
  bool wanted = requestedElementCount > 0 && arrayOfElements;
  if (object->kind == BACKEND_ENGINEHEUR && attributeName == ENGINEHEUR_RESULTS) {
    if (attributeType != TYPE_BACKEND_DESCRIPTOR) return CUDNN_STATUS_BAD_PARAM;
    *count = 1;
    return wanted ? configure(object, arrayOfElements) : CUDNN_STATUS_SUCCESS;
  }
  const struct cudnn_attribute *found = cudnn_attribute(object, attributeName);
  if (!found) {
    int64_t value = answer(object, attributeName);
    if (value < 0 && !is_empty(attributeName)) return CUDNN_STATUS_NOT_SUPPORTED;
    *count = value >= 0;
    if (value >= 0 && attributeType != TYPE_INT64) return CUDNN_STATUS_BAD_PARAM;
    if (value >= 0 && wanted) *(int64_t *)arrayOfElements = value;
    return CUDNN_STATUS_SUCCESS;
  }
  if (found->type != attributeType) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  *count = found->count;
  int64_t given = found->count < requestedElementCount ? found->count : requestedElementCount;
  if (!wanted) return CUDNN_STATUS_SUCCESS;
  if (attributeType != TYPE_BACKEND_DESCRIPTOR) {
    memcpy(arrayOfElements, found->values, (size_t)given * element(attributeType));
    return CUDNN_STATUS_SUCCESS;
  }
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  for (int64_t i = 0; i < given && !status; i++) {
    status = copy(((struct cudnn_backend **)arrayOfElements)[i], ((struct cudnn_backend **)found->values)[i]);
  }
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack) {
  struct cudnn_backend *plan = executionPlan, *pack = variantPack;
  if (!cudnn_handle(handle, &handle) || !is(plan) || plan->kind != BACKEND_PLAN || !is(pack) ||
      pack->kind != BACKEND_VARIANT_PACK) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!plan->final || !pack->final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  return cudnn_status(cudnn_program_run(cudnn_program(graph_of(plan)), handle, pack));
}
