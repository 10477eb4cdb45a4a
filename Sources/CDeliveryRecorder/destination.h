#ifndef RECORDER_DESTINATION_H
#define RECORDER_DESTINATION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/// How a file is opened that exists.
enum existing_file {
    /// The content of the file is deleted.
    replace_file,
    /// Records are appended. If another process records to the file, they go to a file of the same name with this
    /// process's id. A file that is neither empty nor a recording is refused.
    append_to_file,
};

/// The file of a recording.
struct destination {
    int descriptor;
    /// The file that the descriptor refers to, unless the program has closed it.
    dev_t device;
    ino_t number;
    /// The offset of the first record in the file.
    off_t offset;
    char path[PATH_MAX];
    /// The path at the time of opening; the process may change its directory later.
    char absolute_path[2 * PATH_MAX];
};

/// Opens a file. `follows_link` is whether the path may be a symbolic link: it must not be one if this process composed
/// it of another path and its id, because other users can predict such a path.
///
/// Returns null, or the problem.
const char *destination_open(
    struct destination *destination, const char *path, enum existing_file existing, bool follows_link);

// A program may close descriptors that it does not know, and open its own files with the same numbers. These functions
// change no such file, unless another thread opens it just before the change. They reopen the file if the program has
// closed it.

/// Makes room on the disk for at least `least` and at most `most` bytes from an offset on. Returns the system's error
/// number, or 0 and the number of bytes in `size`.
int destination_reserve(struct destination *destination, off_t offset, size_t least, size_t most, size_t *size);
/// Locks the file again. A file that was reopened could not be locked while a mapping of the earlier opening existed.
void destination_lock(struct destination *destination);
/// Deletes the content from an offset on.
void destination_truncate(struct destination *destination, off_t offset);
void destination_close(struct destination *destination);

#pragma GCC visibility pop

#endif
