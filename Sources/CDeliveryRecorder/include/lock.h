// The only lock of the recorder. It is held while a record is written, and while the process forks.
//
// The thread that holds it gets no signals and cannot be cancelled. So no signal handler, which may post, fork or exit,
// interrupts its own thread while it holds the lock. A hook of `fork` may post while the thread that forks holds it: a
// thread may take the lock several times.

#ifndef RECORDER_LOCK_H
#define RECORDER_LOCK_H

#include <signal.h>

#pragma GCC visibility push(hidden)

/// The state of a thread before it took the lock, which it gets back when it releases the lock.
struct lock_holder {
    sigset_t signals;
    int cancelability, error;
};

struct lock_holder lock_take(void);
void lock_release(const struct lock_holder *holder);
/// Frees the lock of other threads, which do not exist in a copy of the process.
void lock_renew(void);

#pragma GCC visibility pop

#endif
