/* Folders and files that nobody but this user and root can change; ptx2amd/service/folder.py has the rules. */
#ifndef SHIM_FOLDER_H
#define SHIM_FOLDER_H
#include <stdbool.h>
#include <stddef.h>

enum {
  FOLDER_LENGTH = 4096,
  FOLDER_MAKE_LAST = 1, /* the folder itself is made where it is missing; those above it have to be there */
  FOLDER_MAKE = 2,      /* those above it too */
  FOLDER_PRIVATE = 4,   /* it has to be of this user, and closed to others */
};

/* Opens a folder; `path` becomes one without links. -1: `why` says why it cannot be used. */
int folder_open(char path[FOLDER_LENGTH], unsigned how, char *why, size_t why_size);
/* Opens a file in it for reading, or -1. Never waits. */
int folder_file(int folder, const char *name);
/* The folder in it, or -1. */
int folder_inner(int folder, const char *name);
/* HOME, else what the system's user table says; false where that is nothing. */
bool folder_home(char *out, size_t size);
#endif
