// Where a call is, as module and offset, and the function that calls.

#ifndef CALL_SITES_H
#define CALL_SITES_H

#include <stdbool.h>

#include <notification_recorder.h>

#pragma GCC visibility push(hidden)

/// Stores the path of the executable. Call once, before other threads use `describe_call`. False if it is not known:
/// calls in the executable have no `at` then.
bool find_executable(void);

/// The call that a function of Foundation has left in the state of the thread, once; otherwise `return_address`.
const void *take_call_site(const void *return_address);

/// Fills in `at` and `function` of a record for a return address, which may be null.
void describe_call(const void *return_address, struct recorder_record *record);

#pragma GCC visibility pop

#endif
