#ifndef RECORDER_LINE_H
#define RECORDER_LINE_H

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

#pragma GCC visibility pop

#endif
