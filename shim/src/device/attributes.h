/* What a device attribute answers: a number, or HIP's attribute with a number for libraries that lack it. */
#ifndef SHIM_ATTRIBUTES_H
#define SHIM_ATTRIBUTES_H
enum { REGISTERS_PER_PROCESSOR = 65536 }; /* of 32 bits; also what a block may have */
enum { THREADS_PER_PROCESSOR = 39 };      /* CUDA's number of the attribute */
struct attribute { short number; short hip; int value; };
extern const struct attribute device_attributes[];
extern const int device_attribute_count;
#endif
