/* The log of cuBLASLt: errors (level 1, mask 1) and products (level 5, mask 16), to a callback or a file; also
 * controlled by CUBLASLT_LOG_LEVEL, CUBLASLT_LOG_MASK and CUBLASLT_LOG_FILE ("%i" is the process id). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cublaslt_objects.h"

static struct {
  int mask; /* bit mask of levels: 1 << (level - 1) */
  bool disabled, opened;
  FILE *file;
  cublasLtLoggerCallback_t callback;
} logger;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

enum { LEVELS = 5 };

static int mask_of_level(int level) { return (1 << level) - 1; }

static bool open_file(const char *name) {
  char path[4096];
  const char *number = strstr(name, "%i");
  if (number) snprintf(path, sizeof path, "%.*s%d%s", (int)(number - name), name, (int)getpid(), number + 2);
  else snprintf(path, sizeof path, "%s", name);
  FILE *file = fopen(path, "w");
  if (!file) return false;
  if (logger.opened) fclose(logger.file);
  logger.file = file, logger.opened = true;
  return true;
}

static void from_environment(void) {
  const char *level = getenv("CUBLASLT_LOG_LEVEL"), *mask = getenv("CUBLASLT_LOG_MASK"), *file = getenv("CUBLASLT_LOG_FILE");
  logger.file = stdout;
  if (level && atoi(level) >= 0 && atoi(level) <= LEVELS) logger.mask = mask_of_level(atoi(level));
  if (mask) logger.mask = atoi(mask);
  if (file && !open_file(file)) libmap_say("CUBLASLT_LOG_FILE cannot be opened", file);
}

int lt_log(int level, const char *function, const char *message, int status) {
  pthread_once(&once, from_environment);
  if (!(__atomic_load_n(&logger.mask, __ATOMIC_RELAXED) >> (level - 1) & 1)) return status;
  pthread_mutex_lock(&lock);
  cublasLtLoggerCallback_t callback = logger.disabled ? NULL : logger.callback;
  if (!logger.disabled && !callback && logger.file) {
    fprintf(logger.file, "[cublasLt][%d][%s] %s\n", level, function, message);
    fflush(logger.file);
  }
  pthread_mutex_unlock(&lock);
  if (callback) callback(level, function, message);
  return status;
}

int lt_logged(const char *function, int status) {
  return status ? lt_log(1, function, blas_status_text(status), status) : status;
}

cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback) {
  pthread_once(&once, from_environment);
  pthread_mutex_lock(&lock);
  logger.callback = callback;
  pthread_mutex_unlock(&lock);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerSetFile(FILE *file) {
  pthread_once(&once, from_environment);
  pthread_mutex_lock(&lock);
  if (logger.opened) fclose(logger.file);
  logger.file = file, logger.opened = false;
  pthread_mutex_unlock(&lock);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerOpenFile(const char *logFile) {
  if (!logFile) return CUBLAS_STATUS_INVALID_VALUE;
  pthread_once(&once, from_environment);
  pthread_mutex_lock(&lock);
  bool open = open_file(logFile);
  pthread_mutex_unlock(&lock);
  return open ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

static cublasStatus_t set_mask(int mask) {
  pthread_once(&once, from_environment);
  __atomic_store_n(&logger.mask, mask, __ATOMIC_RELAXED);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerSetLevel(int level) {
  return level < 0 || level > LEVELS ? CUBLAS_STATUS_INVALID_VALUE : set_mask(mask_of_level(level));
}

cublasStatus_t cublasLtLoggerSetMask(int mask) { return set_mask(mask); }

cublasStatus_t cublasLtLoggerForceDisable(void) {
  pthread_mutex_lock(&lock);
  logger.disabled = true;
  pthread_mutex_unlock(&lock);
  return CUBLAS_STATUS_SUCCESS;
}
