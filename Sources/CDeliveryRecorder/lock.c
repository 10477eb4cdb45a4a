#define _GNU_SOURCE
#include "lock.h"

static void note_holder(struct lock *lock) {
    atomic_store_explicit(&lock->holder, pthread_self(), memory_order_relaxed);
    // Orders the store before what the lock guards, for a signal handler on this thread.
    atomic_signal_fence(memory_order_seq_cst);
}

void lock_take(struct lock *lock) {
    pthread_mutex_lock(&lock->mutex);
    note_holder(lock);
}

bool lock_take_within(struct lock *lock, int seconds) {
    if (!mutex_take_within(&lock->mutex, seconds)) return false;
    note_holder(lock);
    return true;
}

void lock_release(struct lock *lock) {
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
    pthread_mutex_unlock(&lock->mutex);
}

bool lock_is_own(struct lock *lock) {
    return atomic_load_explicit(&lock->holder, memory_order_relaxed) == pthread_self();
}

bool lock_wait(struct lock *lock, pthread_cond_t *condition, const struct timespec *deadline) {
    atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
    int result = deadline ? pthread_cond_clockwait(condition, &lock->mutex, CLOCK_MONOTONIC, deadline)
                          : pthread_cond_wait(condition, &lock->mutex);
    note_holder(lock);
    return result == 0;
}

bool mutex_take_within(pthread_mutex_t *mutex, int seconds) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += seconds;
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &deadline) == 0;
}
