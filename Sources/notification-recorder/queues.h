// Foundation's queues.

#ifndef QUEUES_H
#define QUEUES_H

#include <notification_recorder.h>
#include "vtable.h"

#pragma GCC visibility push(hidden)

extern struct method queue_methods[2];

/// The name of an operation queue in a record: `main`, or its address.
/// - Parameter address: memory that the name may use.
struct recorder_text queue_name(const void *queue, char address[20]);

#pragma GCC visibility pop

#endif
