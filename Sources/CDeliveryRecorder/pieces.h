// The file, mapped in pieces, and the place of each line in it.
//
// A thread reserves the place of a line with one atomic operation and copies the line there. So an appended line stays
// in the file however the process ends. A thread takes the lock only if a piece is full. So a signal handler may
// append, also if it interrupted a thread that appends.
//
//     reserve (number, time, place) ─► copy ─► the next piece, if the line does not fit: reserve room on the disk, map
//
// Order: a number and a place are given together, and the time is read just before. So numbers have no gaps and times
// do not decrease in the order of the file. A record that another one caused follows it.

#ifndef RECORDER_PIECES_H
#define RECORDER_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "destination.h"
#include "line.h"

#pragma GCC visibility push(hidden)

/// Lines that are appended together.
struct lines {
    /// Two threads or null. Their identities come before the line, if the file does not have them.
    const struct recorder_thread *threads[2];
    /// The line, if `is_record` without its beginning.
    const char *rest;
    size_t length;
    bool is_record;
    enum lines_kind {
        /// If the piece is full, the lines are appended to another one.
        any_piece,
        /// These use the room that each piece keeps for the records of its first loss, of the last losses, and of the
        /// end. They are appended with the lock, nothing after the end.
        first_loss,
        last_loss,
        the_end,
    } kind;
};

enum append_result {
    appended,
    /// The system gives no more room.
    no_room,
    /// No file is open.
    not_open,
};

enum append_result pieces_append(const struct lines *lines);
/// Writes the identity of a thread again before its next record.
void pieces_forget_thread(uint64_t number);

/// True if this process is a copy that no hook saw, such as one made by `clone`. It has neither the numbers nor the
/// pieces, and must not take the lock before `pieces_leave_to_original`.
bool pieces_are_originals(void);

// With the lock.

/// Begins with a line. Returns the system's error number, or 0. The destination stays in use until the end.
int pieces_begin(struct destination *destination, const char *header, size_t length);
/// Waits until other threads have copied their lines, for at most a second, and cuts the file to its length.
void pieces_end(void);
/// Forgets the pieces in a copy of the process. Code that a signal handler with `fork` interrupted may still write
/// to them: it gets memory in their place.
void pieces_leave_to_original(void);
/// The system's error number of the last append without room.
int pieces_error(void);

uint64_t monotonic_nanoseconds(void);

#pragma GCC visibility pop

#endif
