/* The start of programs: the compiler's start file asks for the __libc_start_main of 2.34, which calls the program's
 * constructors itself. That of 2.2.5 leaves them to `init`; our programs have none. */
extern int start_main(int (*run)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end);
__asm__(".symver start_main,__libc_start_main@GLIBC_2.2.5");

__attribute__((visibility("hidden"))) int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv,
                                                            void (*init)(void), void (*fini)(void),
                                                            void (*loader_fini)(void), void *stack_end) {
  return start_main(run, argc, argv, init, fini, loader_fini, stack_end);
}
