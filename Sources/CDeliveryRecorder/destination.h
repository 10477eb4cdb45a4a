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

/// An open file that records are written to.
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
// change no such file. Signal handlers may call them.

/// Writes bytes at an offset, to the reopened file if the program has closed it. Returns the number of bytes written,
/// and the system's error number, or 0, in `error`.
size_t destination_write(struct destination *destination, const char *bytes, size_t count, off_t offset, int *error);
/// Deletes the content from an offset on. Returns the system's error number, or 0.
int destination_truncate(struct destination *destination, off_t offset);
void destination_close(struct destination *destination);

#pragma GCC visibility pop

#endif
