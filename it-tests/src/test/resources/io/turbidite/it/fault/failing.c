/*
 * Preloaded into a JVM: the nth call on files whose path has a given text in it fails, once or from then on.
 * FAIL_PATH the text, FAIL_CALL "sync" or "write", FAIL_AT the number of the call, from 1,
 * FAIL_ERROR the errno, or 0 for a short write, FAIL_LASTS "1" for every call from then on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int in_path(int fd) {
    const char *wanted = getenv("FAIL_PATH");
    char link[64], path[4096];
    if (wanted == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, wanted) != NULL;
}

static int is_now(const char *call, int fd) {
    const char *wanted = getenv("FAIL_CALL");
    if (wanted == NULL || strcmp(wanted, call) != 0 || !in_path(fd)) return 0;
    long n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    long at = atol(getenv("FAIL_AT"));
    return n == at || (n > at && strcmp(getenv("FAIL_LASTS"), "1") == 0);
}

#define REAL(name, type) \
    static __typeof__(type) real; \
    if (!real) real = (type) dlsym(RTLD_NEXT, name)

int fsync(int fd) {
    REAL("fsync", int (*)(int));
    if (is_now("sync", fd)) { errno = atoi(getenv("FAIL_ERROR")); return -1; }
    return real(fd);
}

int fdatasync(int fd) {
    REAL("fdatasync", int (*)(int));
    if (is_now("sync", fd)) { errno = atoi(getenv("FAIL_ERROR")); return -1; }
    return real(fd);
}

#define FAILING_WRITE(name, offset) \
ssize_t name(int fd, const void *bytes, size_t count, offset at) { \
    REAL(#name, ssize_t (*)(int, const void *, size_t, offset)); \
    if (is_now("write", fd)) { \
        int error = atoi(getenv("FAIL_ERROR")); \
        if (error != 0) { errno = error; return -1; } \
        return real(fd, bytes, (count + 1) / 2, at); \
    } \
    return real(fd, bytes, count, at); \
}

FAILING_WRITE(pwrite, off_t)
FAILING_WRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL("write", ssize_t (*)(int, const void *, size_t));
    if (is_now("write", fd)) {
        int error = atoi(getenv("FAIL_ERROR"));
        if (error != 0) { errno = error; return -1; }
        return real(fd, bytes, (count + 1) / 2);
    }
    return real(fd, bytes, count);
}
