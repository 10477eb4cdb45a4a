// The writer of recordings. The article Recordings describes the file.
//
//     record ─► line ─► its place in a piece of the file that is mapped into memory

#ifndef DELIVERY_RECORDER_H
#define DELIVERY_RECORDER_H

#include <notification_recorder.h>

#pragma GCC visibility push(hidden)

/// The version of the schema. It grows when existing keys change their meaning, not when keys are added.
#define RECORDING_VERSION 3

/// The recorder of this process.
const struct notification_recorder *delivery_recorder(void);

/// Records to the file that the environment variable THREADED_NOTIFICATIONS_RECORDING names, from the first record on.
/// A process with rights that its user does not have ignores the variable.
void delivery_recorder_start_if_asked(void);

/// Writes a line that says what of this process cannot be recorded, and why.
void delivery_recorder_note_unrecorded(const char *reason);

// Lines of a recording, with the newline. Each returns its length.

/// The number of bytes that a line with these strings takes at most.
size_t recorder_maximum_length(const struct recorder_record *record);
size_t recorder_write_record(
    char *line, uint64_t number, uint64_t nanoseconds, const struct recorder_record *record);

/// The number of bytes that a header or the line of a thread takes at most.
#define RECORDER_MAXIMUM_HEADER 2048
size_t recorder_write_header(
    char *line, int32_t process, struct recorder_text name, uint64_t number, uint64_t nanoseconds,
    uint64_t wall_nanoseconds);
size_t recorder_write_thread(char *line, const struct recorder_thread *thread);

#pragma GCC visibility pop

#endif
