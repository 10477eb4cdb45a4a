// The writer of recordings. The article Recordings describes the file.

#ifndef DELIVERY_RECORDER_H
#define DELIVERY_RECORDER_H

#include <notification_recorder.h>

#include "lock.h"

#pragma GCC visibility push(hidden)

/// The recorder of this process.
const struct notification_recorder *delivery_recorder(void);

/// Records to the file that the environment variable THREADED_NOTIFICATIONS_RECORDING names, from the first record on.
/// A process with rights that its user does not have ignores the variable.
void delivery_recorder_start_if_asked(void);

/// Takes the recorder's lock. In a copy of the process that no hook saw, such as one made by `clone`, the thread that
/// holds it may be missing: the copy gets a lock of its own, and records to a file of its own.
struct lock_holder delivery_recorder_lock(void);

/// Writes a line that says what of this process cannot be recorded, and why.
void delivery_recorder_note_unrecorded(const char *reason);

#pragma GCC visibility pop

#endif
