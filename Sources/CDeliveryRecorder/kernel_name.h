#ifndef RECORDER_KERNEL_NAME_H
#define RECORDER_KERNEL_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "delivery_recorder.h"

#pragma GCC visibility push(hidden)

/// Remembers the name of the process, which its new threads have too. Call when a recording begins. False without
/// `/proc`.
bool kernel_name_remember_process(void);

/// The kernel's name of a thread, if the program gave it one: neither the name of the process, nor that of a root
/// queue, which Dispatch gives its threads. Otherwise, and without `/proc`, null. The name is in the memory.
struct recorder_text kernel_name(int32_t kernel_id, char memory[16]);

#pragma GCC visibility pop

#endif
