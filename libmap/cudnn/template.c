/* Texts of kernels from templates. */
#include "template.h"

#include <string.h>

/* How a type is read, written and added to in memory. */
static const char *const memory[] = {
  [CUDNN_DATA_FLOAT] =
      ".func (.reg .$ r) Load(.reg .u64 at) { ld.global.f32 r, [at]; }\n"
      ".func Store(.reg .u64 at, .reg .$ v) { st.global.f32 [at], v; }\n"
      ".func Add(.reg .u64 at, .reg .$ v) { red.global.add.f32 [at], v; }\n",
  [CUDNN_DATA_DOUBLE] =
      ".func (.reg .$ r) Load(.reg .u64 at) { ld.global.f64 r, [at]; }\n"
      ".func Store(.reg .u64 at, .reg .$ v) { st.global.f64 [at], v; }\n"
      ".func Add(.reg .u64 at, .reg .$ v) { red.global.add.f64 [at], v; }\n",
  [CUDNN_DATA_HALF] =
      ".func (.reg .$ r) Load(.reg .u64 at) { .reg .b16 h; ld.global.b16 h, [at]; cvt.f32.f16 r, h; }\n"
      ".func Store(.reg .u64 at, .reg .$ v) { .reg .b16 h; cvt.rn.f16.f32 h, v; st.global.b16 [at], h; }\n"
      ".func Add(.reg .u64 at, .reg .$ v) { .reg .b16 h; cvt.rn.f16.f32 h, v; red.global.add.noftz.f16 [at], h; }\n",
};

bool cudnn_template_type(cudnnDataType_t type) {
  return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_HALF;
}

static bool is_word(const char *at, size_t length, const char *word) {
  return length == strlen(word) && !strncmp(at, word, length);
}

static void put_name(FILE *out, const struct cudnn_template *as, const char *at, size_t length) {
  bool wide = as->type == CUDNN_DATA_DOUBLE;
  size_t size = cudnn_type_size(as->type);
  if (is_word(at, length, "NARROW")) {
    fputs(wide ? "" : "rn.", out);
    return;
  }
  const struct cudnn_field sizes[] = {{"SIZE", size}, {"PAIR", 2 * size}, {"OWN", wide ? sizeof(double) : sizeof(float)}};
  for (size_t k = 0; k < 3; k++) {
    if (is_word(at, length, sizes[k].name)) fprintf(out, "%zu", sizes[k].at);
  }
  for (size_t k = 0; k < as->count; k++) {
    if (is_word(at, length, as->fields[k].name)) fprintf(out, "%zu", as->fields[k].at);
  }
}

static void put_word(FILE *out, bool wide, const char *at, size_t length) {
  static const struct { const char *word, *with[2]; } numbers[] = {
    {"zero", {"0f00000000", "0d0000000000000000"}}, {"one", {"0f3F800000", "0d3FF0000000000000"}},
    {"half", {"0f3F000000", "0d3FE0000000000000"}},
  };
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    if (is_word(at, length, numbers[k].word)) {
      fputs(numbers[k].with[wide], out);
      return;
    }
  }
  fprintf(out, "%.*s", (int)length, at);
}

void cudnn_template(FILE *out, const struct cudnn_template *as, const char *text) {
  bool wide = as->type == CUDNN_DATA_DOUBLE;
  for (const char *at = text; *at;) {
    bool name = *at == '#';
    size_t length = strspn(at + name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (*at == '$') fputs(wide ? "f64" : "f32", out), at++;
    else if (name) length = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), put_name(out, as, at + 1, length), at += length + 1;
    else if (!length) putc(*at++, out);
    else put_word(out, wide, at, length), at += length;
  }
}

void cudnn_template_head(FILE *out, const struct cudnn_template *as) {
  fputs(".version 8.0\n.target sm_80\n.address_size 64\n", out);
  cudnn_template(out, as, memory[as->type]);
}
