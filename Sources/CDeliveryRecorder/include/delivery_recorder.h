// The writer of recordings. The article Recordings describes the file.

#ifndef DELIVERY_RECORDER_H
#define DELIVERY_RECORDER_H

#include <notification_recorder.h>

#pragma GCC visibility push(hidden)

/// The recorder of this process.
const struct notification_recorder *delivery_recorder(void);

/// Records to the file that the environment variable THREADED_NOTIFICATIONS_RECORDING names, from the first record on.
/// A process with rights that its user does not have ignores the variable.
void delivery_recorder_start_if_asked(void);

/// Writes a line that says what of this process cannot be recorded, and why.
void delivery_recorder_note_unrecorded(const char *reason);

#pragma GCC visibility pop

#endif
