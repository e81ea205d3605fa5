// A file system without what many lack, in front of the real one: load it by LD_PRELOAD. It acts
// below the folder POOR_ROOT. POOR_LACKS names what is missing, any of these words:
//
//   link       link(2): exFAT, FAT, SMB, gcsfuse
//   fallocate  posix_fallocate(3): NFS before 4.2, exFAT, FUSE
//   dirsync    fsync(2) of a folder: exFAT, SMB
//   case       names whose case matters: exFAT, FAT, SMB, APFS (here all names become lower case)

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int lacks(const char *word) {
    const char *words = getenv("POOR_LACKS");
    return words && strstr(words, word);
}

static int below(const char *path) {
    const char *root = getenv("POOR_ROOT");
    return root && path && strncmp(path, root, strlen(root)) == 0;
}

static int file_below(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}

// Return the path as the file system stores it: in a buffer of the caller, or as it is.
static const char *stored(const char *path, char *buffer) {
    if (!below(path) || !lacks("case") || strlen(path) >= 4096) return path;
    size_t n = strlen(getenv("POOR_ROOT"));
    memcpy(buffer, path, n);
    for (; path[n]; n++) buffer[n] = (char)tolower((unsigned char)path[n]);
    buffer[n] = 0;
    return buffer;
}

#define STORED(path) char buffer_##path[4096]; path = stored(path, buffer_##path)

int link(const char *from, const char *to) {
    STORED(from);
    STORED(to);
    if (lacks("link") && below(to)) return errno = EPERM, -1;
    return REAL(int, "link", const char *, const char *)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    STORED(from);
    STORED(to);
    if (lacks("link") && below(to)) return errno = EPERM, -1;
    return REAL(int, "linkat", int, const char *, int, const char *, int)(a, from, b, to, flags);
}

// glibc writes into each block where the system has none, which files opened to append refuse.
static int no_fallocate(int file) {
    return fcntl(file, F_GETFL) & O_APPEND ? EBADF : EOPNOTSUPP;
}

int posix_fallocate(int file, off_t offset, off_t n) {
    if (lacks("fallocate") && file_below(file)) return no_fallocate(file);
    return REAL(int, "posix_fallocate", int, off_t, off_t)(file, offset, n);
}

int posix_fallocate64(int file, off64_t offset, off64_t n) {
    if (lacks("fallocate") && file_below(file)) return no_fallocate(file);
    return REAL(int, "posix_fallocate64", int, off64_t, off64_t)(file, offset, n);
}

int fsync(int file) {
    struct stat found;
    if (lacks("dirsync") && file_below(file) && fstat(file, &found) == 0 && S_ISDIR(found.st_mode))
        return errno = EINVAL, -1;
    return REAL(int, "fsync", int)(file);
}

#define OPEN(name)                                                                  \
    int name(const char *path, int flags, ...) {                                    \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = va_arg(rest, mode_t);                                         \
        va_end(rest);                                                               \
        STORED(path);                                                               \
        return REAL(int, #name, const char *, int, ...)(path, flags, mode);         \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                \
    int name(int folder, const char *path, int flags, ...) {                        \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = va_arg(rest, mode_t);                                         \
        va_end(rest);                                                               \
        STORED(path);                                                               \
        return REAL(int, #name, int, const char *, int, ...)(folder, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

#define ON_PATH(name, kind)                                                         \
    int name(const char *path, kind value) {                                        \
        STORED(path);                                                               \
        return REAL(int, #name, const char *, kind)(path, value);                   \
    }
ON_PATH(stat, struct stat *)
ON_PATH(stat64, struct stat64 *)
ON_PATH(lstat, struct stat *)
ON_PATH(lstat64, struct stat64 *)
ON_PATH(mkdir, mode_t)
ON_PATH(access, int)
ON_PATH(truncate, off_t)
ON_PATH(truncate64, off64_t)

int fstatat(int folder, const char *path, struct stat *value, int flags) {
    STORED(path);
    return REAL(int, "fstatat", int, const char *, struct stat *, int)(folder, path, value, flags);
}

int fstatat64(int folder, const char *path, struct stat64 *value, int flags) {
    STORED(path);
    return REAL(int, "fstatat64", int, const char *, struct stat64 *, int)(folder, path, value, flags);
}

int faccessat(int folder, const char *path, int mode, int flags) {
    STORED(path);
    return REAL(int, "faccessat", int, const char *, int, int)(folder, path, mode, flags);
}

int unlink(const char *path) {
    STORED(path);
    return REAL(int, "unlink", const char *)(path);
}

int rmdir(const char *path) {
    STORED(path);
    return REAL(int, "rmdir", const char *)(path);
}

ssize_t readlink(const char *path, char *value, size_t n) {
    STORED(path);
    return REAL(ssize_t, "readlink", const char *, char *, size_t)(path, value, n);
}

int rename(const char *from, const char *to) {
    STORED(from);
    STORED(to);
    return REAL(int, "rename", const char *, const char *)(from, to);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
    STORED(path);
    return REAL(int, "utimensat", int, const char *, const struct timespec *, int)(folder, path, times, flags);
}

DIR *opendir(const char *path) {
    STORED(path);
    return REAL(DIR *, "opendir", const char *)(path);
}

FILE *fopen(const char *path, const char *mode) {
    STORED(path);
    return REAL(FILE *, "fopen", const char *, const char *)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    STORED(path);
    return REAL(FILE *, "fopen64", const char *, const char *)(path, mode);
}
