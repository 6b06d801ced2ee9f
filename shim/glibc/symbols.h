/* Included first into every C file (ptx2amd/ninja.py): the libraries need glibc 2.28, on whatever newer glibc they are
 * built. glibc gives a function that it changed, or moved between its libraries, a new version and keeps the old one;
 * without these lines the linker takes the newest. functions.c has what has no old version under the same name. Sanitizers have functions of their own in these places. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GLIBC_SYMBOL(name, version) __asm__(".symver " #name "," #name "@GLIBC_" #version)

/* libdl and libpthread have been parts of libc since 2.34. */
GLIBC_SYMBOL(dladdr, 2.2.5);
GLIBC_SYMBOL(dlclose, 2.2.5);
GLIBC_SYMBOL(dlerror, 2.2.5);
GLIBC_SYMBOL(dlinfo, 2.3.3);
GLIBC_SYMBOL(dlopen, 2.2.5);
GLIBC_SYMBOL(dlsym, 2.2.5);
GLIBC_SYMBOL(pthread_attr_setstacksize, 2.2.5);
GLIBC_SYMBOL(pthread_condattr_setclock, 2.3.3);
GLIBC_SYMBOL(pthread_create, 2.2.5);
GLIBC_SYMBOL(pthread_detach, 2.2.5);
GLIBC_SYMBOL(pthread_getspecific, 2.2.5);
GLIBC_SYMBOL(pthread_join, 2.2.5);
GLIBC_SYMBOL(pthread_key_create, 2.2.5);
GLIBC_SYMBOL(pthread_once, 2.2.5);
GLIBC_SYMBOL(pthread_setspecific, 2.2.5);
GLIBC_SYMBOL(pthread_sigmask, 2.2.5);

/* Without the handling of errors that SVID asks for since 2.29; the results are the same. */
GLIBC_SYMBOL(exp, 2.2.5);
GLIBC_SYMBOL(exp2, 2.2.5);
GLIBC_SYMBOL(hypot, 2.2.5);
GLIBC_SYMBOL(log, 2.2.5);
GLIBC_SYMBOL(log2, 2.2.5);
GLIBC_SYMBOL(pow, 2.2.5);

/* Headers of 2.38 and later give C2x's functions, which also read binary numbers, other names. */
#define GLIBC_ISOC23(name) __asm__(".symver __isoc23_" #name "," #name "@GLIBC_2.2.5")
GLIBC_ISOC23(strtol);
GLIBC_ISOC23(strtoll);
GLIBC_ISOC23(strtoul);
GLIBC_ISOC23(strtoull);
GLIBC_ISOC23(sscanf);
GLIBC_ISOC23(fscanf);
#undef GLIBC_ISOC23
#undef GLIBC_SYMBOL
#endif
