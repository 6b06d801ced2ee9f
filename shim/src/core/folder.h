/* Folders and files that only this user and root can change; ptx2amd/service/folder.py states the rules. */
#ifndef SHIM_FOLDER_H
#define SHIM_FOLDER_H
#include <stdbool.h>
#include <stddef.h>

enum {
  FOLDER_LENGTH = 4096,
  FOLDER_MAKE_LAST = 1, /* create the folder if it is missing; its parents must exist */
  FOLDER_MAKE = 2,      /* create missing parents too */
  FOLDER_PRIVATE = 4,   /* it must belong to this user and be inaccessible to others */
};

/* Opens a folder and resolves the links in `path`. Returns -1 and the reason in `why` if the folder cannot be used. */
int folder_open(char path[FOLDER_LENGTH], unsigned how, char *why, size_t why_size);
/* Opens a file of the folder for reading, without blocking; -1 on failure. */
int folder_file(int folder, const char *name);
/* Opens a subfolder; -1 on failure. */
int folder_inner(int folder, const char *name);
/* HOME, or else the home in the system's user table; false if neither exists. */
bool folder_home(char *out, size_t size);
#endif
