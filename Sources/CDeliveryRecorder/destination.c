#define _GNU_SOURCE
#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char beginning[] = "{\"recording\":";

/// Returns the system's message about the last error, after closing the descriptor.
static const char *failed(int descriptor) {
    const char *problem = strerror(errno);
    if (descriptor >= 0) close(descriptor);
    return problem;
}

/// Moves a descriptor out of the range of those that programs expect to be free.
static int moved(int descriptor) {
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 100);
    if (high < 0) return descriptor;
    close(descriptor);
    return high;
}

static const char *open_file(int *descriptor, const char *path, bool follows_link) {
    // O_NONBLOCK: does not wait for the reader of a FIFO, which is refused below. A new file is accessible to its owner
    // only, because a recording may contain private data.
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | (follows_link ? 0 : O_NOFOLLOW);
    *descriptor = open(path, flags, 0600);
    if (*descriptor < 0) return failed(-1);
    *descriptor = moved(*descriptor);
    struct stat status;
    if (fstat(*descriptor, &status) == 0 && S_ISREG(status.st_mode)) return NULL;
    close(*descriptor);
    return "it is no regular file";
}

/// The offset behind the last byte that is not zero. A process that was killed leaves zero bytes at the end.
static off_t used_length(int descriptor, off_t length) {
    static char bytes[4096];
    while (length > 0) {
        const off_t start = (length - 1) / (off_t)sizeof bytes * (off_t)sizeof bytes;
        ssize_t index = pread(descriptor, bytes, (size_t)(length - start), start);
        if (index != length - start) return -1;
        while (index > 0 && bytes[index - 1] == 0) index--;
        if (index > 0) return start + index;
        length = start;
    }
    return 0;
}

/// Finds the end of a recording, and begins a new line there.
static const char *find_end(int descriptor, off_t *end) {
    const off_t length = lseek(descriptor, 0, SEEK_END);
    *end = length < 0 ? -1 : used_length(descriptor, length);
    if (*end < 0) return failed(descriptor);
    char bytes[sizeof beginning];
    const ssize_t beginning_length = sizeof beginning - 1;
    if (length > 0
        && (pread(descriptor, bytes, (size_t)beginning_length, 0) != beginning_length
            || memcmp(bytes, beginning, (size_t)beginning_length) != 0)) {
        close(descriptor);
        return "it is not a recording, and not empty";
    }
    if (*end < length && ftruncate(descriptor, *end) != 0) return failed(descriptor);
    // The previous process may have been killed while it wrote a line.
    if (*end > 0 && pread(descriptor, bytes, 1, *end - 1) == 1 && bytes[0] != '\n') {
        if (pwrite(descriptor, "\n", 1, *end) != 1) return failed(descriptor);
        *end += 1;
    }
    return NULL;
}

const char *destination_open(
    struct destination *destination, const char *path, enum existing_file existing, bool follows_link
) {
    int descriptor;
    const char *problem = open_file(&descriptor, path, follows_link);
    if (problem) return problem;
    snprintf(destination->path, sizeof destination->path, "%s", path);
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        close(descriptor);
        if (existing == replace_file) return "another process records to it";
        int length = snprintf(destination->path, sizeof destination->path, "%s.%d", path, getpid());
        if (length >= (int)sizeof destination->path) return "its name is too long";
        if ((problem = open_file(&descriptor, destination->path, false))) return problem;
        // A file that exists is continued: this process may have recorded to it before it executed another program.
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            // A process with the same id in another namespace does.
            close(descriptor);
            return "another process records to it";
        }
    }
    if (existing == replace_file && ftruncate(descriptor, 0) != 0) return failed(descriptor);
    if ((problem = find_end(descriptor, &destination->offset))) return problem;
    struct stat status;
    if (fstat(descriptor, &status) != 0) return failed(descriptor);
    destination->descriptor = descriptor;
    destination->device = status.st_dev;
    destination->number = status.st_ino;
    static char directory[PATH_MAX];
    if (destination->path[0] == '/' || !getcwd(directory, sizeof directory)) directory[0] = 0;
    snprintf(
        destination->absolute_path, sizeof destination->absolute_path, "%s%s%s", directory, directory[0] ? "/" : "",
        destination->path);
    return NULL;
}

static bool is_file(const struct destination *destination, int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && status.st_dev == destination->device
        && status.st_ino == destination->number;
}

/// True if the descriptor refers to the file, which is reopened if necessary.
static bool is_usable(struct destination *destination) {
    if (is_file(destination, destination->descriptor)) return true;
    int descriptor = open(destination->absolute_path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    if (!is_file(destination, descriptor)) {
        close(descriptor);
        return false;
    }
    destination->descriptor = moved(descriptor);
    destination_lock(destination);
    return true;
}

void destination_lock(struct destination *destination) {
    // Another process may have locked it meanwhile. It would append, so that both recordings are damaged, but no file.
    if (is_file(destination, destination->descriptor)) (void)flock(destination->descriptor, LOCK_EX | LOCK_NB);
}

/// The number of bytes that the process may write at an offset of a file. Writing more would end it by a signal.
static size_t room_in_file(off_t offset) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur > (rlim_t)offset ? limit.rlim_cur - (rlim_t)offset : 0;
}

int destination_reserve(struct destination *destination, off_t offset, size_t least, size_t most, size_t *size) {
    static const char zeros[1 << 16];
    if (!is_usable(destination)) return EBADF;
    const size_t room = room_in_file(offset);
    if (room < least) return EFBIG;
    if (room < most) most = room;
    struct stat status;
    if (fstat(destination->descriptor, &status) != 0) return errno;
    // Written bytes have room on every file system that does not copy on write, where a full disk ends the process by
    // SIGBUS. They cost less when they are used than those of `posix_fallocate`.
    size_t done = status.st_size > offset ? (size_t)(status.st_size - offset) : 0;
    int error = 0;
    while (done < most && error == 0) {
        const size_t count = most - done < sizeof zeros ? most - done : sizeof zeros;
        if (!is_file(destination, destination->descriptor)) return EBADF;
        const ssize_t written = pwrite(destination->descriptor, zeros, count, offset + (off_t)done);
        if (written > 0) done += (size_t)written;
        if (written <= 0) error = written == 0 ? EIO : errno;
    }
    *size = done < most ? done : most;
    return *size < least ? error : 0;
}

void destination_truncate(struct destination *destination, off_t offset) {
    // If it fails, the file ends with zero bytes, which readers ignore.
    if (is_usable(destination)) (void)!ftruncate(destination->descriptor, offset);
}

void destination_close(struct destination *destination) {
    if (is_file(destination, destination->descriptor)) close(destination->descriptor);
}
