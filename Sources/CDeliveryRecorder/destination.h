#ifndef RECORDER_DESTINATION_H
#define RECORDER_DESTINATION_H

#include <limits.h>
#include <stdbool.h>
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
    /// The offset behind the last line.
    off_t end;
    /// The part of the file that is mapped into memory; null without one.
    char *room;
    size_t room_size;
    off_t room_offset;
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
// closed it. The caller has the recorder's lock.

/// Writes a line behind the last one: everything, or nothing. If the process dies meanwhile, the line begins with a
/// zero byte. Returns the system's error number, or 0.
int destination_append(struct destination *destination, const char *line, size_t length);
/// Replaces bytes of the file. Returns the system's error number, or 0.
int destination_replace(struct destination *destination, off_t offset, const char *text, size_t length);
/// Closes the file, which is cut to its length if this is the process that opened it.
void destination_close(struct destination *destination, bool is_original);

#pragma GCC visibility pop

#endif
