#ifndef RECORDER_LINE_H
#define RECORDER_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "delivery_recorder.h"

#pragma GCC visibility push(hidden)

/// The number of bytes that the beginning of a line takes at most.
#define MAXIMUM_BEGINNING 64

/// The beginning of a line: the number of the record, and its time. It is written when the position of the line in the
/// file is known.
size_t recorder_write_beginning(char *line, uint64_t number, uint64_t nanoseconds);
/// The rest of the line, with the newline.
size_t recorder_write_rest(char *line, const struct recorder_record *record);
/// The same of a record of the process. It identifies the thread by the kernel's id. `count` may be 0, and `reason`
/// null.
size_t recorder_write_event(char *rest, int32_t kernel_id, const char *stage, uint64_t count, const char *reason);
size_t recorder_write_unrecorded(char *line, const char *reason);

// The names of threads, of kernel_name.c.

/// Remembers the name of the process, which its new threads have too. Call when a recording begins. False without
/// `/proc`.
bool kernel_name_remember_process(void);

/// The kernel's name of a thread, if the program gave it one: neither the name of the process, nor that of a root
/// queue, which Dispatch gives its threads. Otherwise, and without `/proc`, null. The name is in the memory.
struct recorder_text kernel_name(int32_t kernel_id, char memory[16]);

#pragma GCC visibility pop

#endif
