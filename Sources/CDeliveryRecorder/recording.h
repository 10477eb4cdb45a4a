#ifndef RECORDER_RECORDING_H
#define RECORDER_RECORDING_H

#pragma GCC visibility push(hidden)

/// Installs the system's hooks that finish a recording when the process exits, and adapt it when the process forks. If
/// that is done before the program begins, the program's own hooks may record. Later calls have no effect.
void process_end_watch(void);
/// Handles the signals that end the process. Later calls have no effect.
void process_end_install(void);

/// Finishes the recording when the process exits.
void recording_process_exits(void);
/// Writes the remaining records, and a last one with the reason, in a signal handler that ends the process. It
/// allocates nothing, and waits for a lock for a limited time only. No record is accepted or written afterwards.
void recording_finish_in_handler(const char *reason, int signal);

/// Takes all locks, so that none of them is held in the child by a thread that the child does not have.
void recording_process_will_fork(void);
void recording_process_forked(void);
void recording_process_is_copy(void);

#pragma GCC visibility pop

#endif
