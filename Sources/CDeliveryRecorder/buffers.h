// The memory for records before they are written to the file: two buffers, one of which is filled while the other is
// written. The memory does not move, so that a signal handler may write the remaining records.
//
// Each buffer has an offset in the file. Writing a buffer twice writes the same bytes at the same offset. A signal
// handler may interrupt any change. A change becomes visible by a single store, before and after which the buffers hold
// complete lines.

#ifndef RECORDER_BUFFERS_H
#define RECORDER_BUFFERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "line.h"

#pragma GCC visibility push(hidden)

/// The size of each buffer in bytes.
#define BUFFER_CAPACITY ((size_t)4 << 20)

struct buffer {
    char *start;
    /// The length in the low 24 bits, and the number of the next record: in one word, so that both change at once.
    _Atomic uint64_t filling;
    /// The offset of the first byte in the file.
    off_t offset;
    /// The number of lost records that a line in it reports, and the offset of that line in the buffer.
    uint64_t reported_lost;
    size_t reported_lost_offset;
};

struct buffers {
    struct buffer pair[2];
    /// The index of the buffer that is filled.
    _Atomic int filled_index;
    /// The number of lost records that no line reports yet, and that of all.
    uint64_t lost, total_lost;
    /// The threads that the file identifies already, a bit for each number.
    uint64_t *known_threads;
    size_t known_words;
};

/// Allocates the memory, for records from an offset of the file on. False if there is none.
bool buffers_create(struct buffers *buffers, off_t offset);
void buffers_free(struct buffers *buffers);

struct buffer *buffers_filled(struct buffers *buffers);
/// The buffer that is written; empty while no thread writes it.
struct buffer *buffers_written(struct buffers *buffers);
size_t buffer_length(const struct buffer *buffer);

/// Appends the line of a record, with the next number and the current time, and before it, if they are not in the file,
/// a line about lost records and the identities of its threads. `rest` is the line without its beginning. False if
/// there is no room.
bool buffers_append(struct buffers *buffers, const struct recorder_record *record, const char *rest, size_t length);
/// Appends a line that is not a record. False if there is no room.
bool buffers_append_line(struct buffers *buffers, const char *line, size_t length);
/// Appends a record of the process: its end, for which there is always room, or another one, if there is room.
void buffers_append_end(struct buffers *buffers, const char *reason, int signal);
void buffers_append_fork(struct buffers *buffers);

/// Swaps the filled buffer with the written one, which has to be empty.
void buffers_swap(struct buffers *buffers);
/// Empties the written buffer, of which the first bytes are in the file. The records of the rest are lost, and the next
/// ones take their place in the file.
///
/// Returns the number of bytes of complete lines in the file.
size_t buffers_end_writing(struct buffers *buffers, size_t written);
/// Notes that both buffers were written.
void buffers_empty(struct buffers *buffers);
void buffers_count_lost(struct buffers *buffers, uint64_t records);
/// The number of records in the filled buffer.
uint64_t buffers_waiting(struct buffers *buffers);
/// Writes the identity of a thread again before its next record.
void buffers_forget_thread(struct buffers *buffers, uint64_t number);

uint64_t monotonic_nanoseconds(void);

#pragma GCC visibility pop

#endif
