// A lock that a signal handler can take too.
//
// It stores the thread that holds it, so that a handler that interrupted that thread does not wait for it. If the
// handler interrupted the few instructions between locking the mutex and storing the thread, or between clearing the
// thread and unlocking the mutex, it waits for five seconds and then continues without the lock.

#ifndef RECORDER_LOCK_H
#define RECORDER_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#pragma GCC visibility push(hidden)

struct lock {
    pthread_mutex_t mutex;
    /// 0 if no thread holds the lock. The thread exists, so no other has the same identifier.
    _Atomic(pthread_t) holder;
};

/// A thread spins for a moment before it sleeps, because the lock is held only briefly.
#define LOCK_INITIALIZER {PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, 0}

void lock_take(struct lock *lock);
/// False if the lock was held for so many seconds.
bool lock_take_within(struct lock *lock, int seconds);
void lock_release(struct lock *lock);
/// True if the calling thread holds the lock: true in a signal handler that interrupted it while it did.
bool lock_is_own(struct lock *lock);
/// Releases the lock until `condition` is signalled, or until a time of the monotonic clock; null: for ever. False at
/// that time.
bool lock_wait(struct lock *lock, pthread_cond_t *condition, const struct timespec *deadline);
bool mutex_take_within(pthread_mutex_t *mutex, int seconds);

#pragma GCC visibility pop

#endif
