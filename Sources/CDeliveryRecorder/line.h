// The lines of a recording, with the newline. Each function returns the length of the text.

#ifndef RECORDER_LINE_H
#define RECORDER_LINE_H

#include <sys/types.h>

#include <notification_recorder.h>

#pragma GCC visibility push(hidden)

/// The number of bytes that a line takes at most.
#define LONGEST_LINE (1 << 19)

/// The blanks at the end of a header, which a line about losses replaces.
#define LOSS_LENGTH 96

size_t write_header(char *line, pid_t process, const char *name, uint64_t nanoseconds, uint64_t wall_nanoseconds);
size_t write_thread(char *line, const struct recorder_thread *thread);
/// A thread without a number is identified by the kernel's id.
size_t write_record(char *line, uint64_t number, uint64_t nanoseconds, const struct recorder_record *record);
size_t write_unrecorded(char *line, const char *reason);
/// The end of the header's line, and a record of losses without a newline: `LOSS_LENGTH` bytes.
void write_loss(char *line, uint64_t nanoseconds, uint64_t count);

/// The kernel's name of a thread, if the program gave it one: neither the name of the process, nor that of a root
/// queue, which Dispatch gives its threads. Otherwise, and without `/proc`, null. The name is in the memory.
struct recorder_text kernel_name(pid_t kernel_id, char memory[16]);
/// Remembers the name of the process, which its new threads have too. Call when a recording begins.
void kernel_name_remember_process(void);

#pragma GCC visibility pop

#endif
