#define _GNU_SOURCE
#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
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
    return length;
}

/// Finds the end of a recording, and begins a new line there.
static const char *find_end(int descriptor, off_t *end) {
    *end = used_length(descriptor, lseek(descriptor, 0, SEEK_END));
    if (*end < 0) return failed(descriptor);
    char bytes[sizeof beginning];
    const ssize_t length = sizeof beginning - 1;
    if (*end > 0
        && (pread(descriptor, bytes, (size_t)length, 0) != length || memcmp(bytes, beginning, (size_t)length) != 0)) {
        close(descriptor);
        return "it is not a recording, and not empty";
    }
    // The previous process may have been killed while it wrote a line.
    const bool is_line = *end == 0 || (pread(descriptor, bytes, 1, *end - 1) == 1 && bytes[0] == '\n');
    if (!is_line && pwrite(descriptor, "\n", 1, (*end)++) != 1) return failed(descriptor);
    return ftruncate(descriptor, *end) == 0 ? NULL : failed(descriptor);
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
    if ((problem = find_end(descriptor, &destination->end))) return problem;
    struct stat status;
    if (fstat(descriptor, &status) != 0) return failed(descriptor);
    destination->descriptor = descriptor;
    destination->room_offset = destination->end;
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
    return true;
}

int destination_replace(struct destination *destination, off_t offset, const char *text, size_t length) {
    if (!is_usable(destination)) return EBADF;
    for (size_t done = 0; done < length;) {
        const ssize_t count = pwrite(destination->descriptor, text + done, length - done, offset + (off_t)done);
        if (count > 0) done += (size_t)count;
        if (count > 0) continue;
        const int error = count == 0 ? EIO : errno;
        // The thread with the lock gets no signals. That of the limit of file sizes would end the process later.
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGXFSZ);
        if (error == EFBIG) sigtimedwait(&signals, NULL, &(struct timespec){0, 0});
        return error;
    }
    return 0;
}

static void unmap(struct destination *destination) {
    if (destination->room) munmap(destination->room, destination->room_size);
    destination->room = NULL;
    destination->room_size = 0;
}

/// Makes room for more bytes at the end, and maps it. Returns the system's error number, or 0.
static int extend(struct destination *destination, size_t length) {
    static char zeros[1 << 18];
    if (!is_usable(destination)) return EBADF;
    // Written bytes have room on every file system that does not copy on write, where a full disk ends the process by
    // SIGBUS. They cost less when they are used than those of `posix_fallocate`.
    off_t size = lseek(destination->descriptor, 0, SEEK_END);
    for (int error = 0; size < destination->end + (off_t)length; size = lseek(destination->descriptor, 0, SEEK_END)) {
        if (error != 0) return error;
        error = destination_replace(destination, size, zeros, sizeof zeros);
    }
    unmap(destination);
    // A file that was reopened could not be locked while a mapping of the earlier opening existed. Another process may
    // have locked it: it would append, so that both recordings are damaged, but no file.
    (void)flock(destination->descriptor, LOCK_EX | LOCK_NB);
    destination->room_offset = destination->end - destination->end % sysconf(_SC_PAGESIZE);
    const size_t room_size = (size_t)(size - destination->room_offset);
    char *room = mmap(
        NULL, room_size, PROT_READ | PROT_WRITE, MAP_SHARED, destination->descriptor, destination->room_offset);
    if (room == MAP_FAILED) return errno;
    destination->room = room;
    destination->room_size = room_size;
    return 0;
}

int destination_append(struct destination *destination, const char *line, size_t length) {
    if (destination->end + (off_t)length > destination->room_offset + (off_t)destination->room_size) {
        const int error = extend(destination, length);
        if (error != 0) return error;
    }
    char *place = destination->room + (destination->end - destination->room_offset);
    memcpy(place + 1, line + 1, length - 1);
    atomic_signal_fence(memory_order_seq_cst);
    *(volatile char *)place = line[0];
    destination->end += (off_t)length;
    return 0;
}

void destination_close(struct destination *destination, bool is_original) {
    unmap(destination);
    // If it fails, the file ends with zero bytes, which readers ignore.
    if (is_original && is_usable(destination)) (void)!ftruncate(destination->descriptor, destination->end);
    if (is_file(destination, destination->descriptor)) close(destination->descriptor);
}
