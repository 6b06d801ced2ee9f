#include "libmap.h"

const int libmap_version = LIBRARY_VERSION;
