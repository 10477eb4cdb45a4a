#define _GNU_SOURCE
#include "CControl.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: The lock

/// 0: free; 1: locked; 2: locked, and a thread may sleep.
typedef struct { _Atomic uint32_t state; } Lock;

static inline void pauseCore(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline bool tryLock(Lock *lock) {
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(
        &lock->state, &free, 1, memory_order_acquire, memory_order_relaxed);
}

static void lockContended(Lock *lock) {
    // The lock is held for about 10 ns, so a thread spins for a moment before it sleeps.
    for (int turn = 0; turn < 40; turn++) {
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 && tryLock(lock)) return;
        pauseCore();
    }
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
}

static inline void lockLock(Lock *lock) {
    if (!tryLock(lock)) lockContended(lock);
}

static inline void unlockLock(Lock *lock) {
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2) {
        syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

// MARK: The queue

typedef struct {
    uintptr_t *words;
    size_t count;
    size_t capacity;
} Batch;

struct CControlQueue {
    Lock lock;
    Batch waiting;
    bool isEnding;
    int descriptor;
    CControlHandler handler;
    void *context;
};

static void signalDescriptor(int descriptor) {
    uint64_t one = 1;
    while (write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

CControlQueue *CControlQueueCreate(CControlHandler handler, void *context) {
    CControlQueue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return NULL;
    queue->handler = handler;
    queue->context = context;
    queue->descriptor = eventfd(0, EFD_CLOEXEC);
    if (queue->descriptor >= 0) return queue;
    free(queue);
    return NULL;
}

void CControlQueueRun(CControlQueue *queue) {
    Batch taken = {0};
    for (bool isEnding = false; !isEnding;) {
        uint64_t signals;
        while (read(queue->descriptor, &signals, sizeof signals) < 0 && errno == EINTR) {}
        lockLock(&queue->lock);
        Batch full = queue->waiting;
        queue->waiting = taken;
        isEnding = queue->isEnding;
        unlockLock(&queue->lock);
        for (size_t index = 0; index < full.count; index++) queue->handler(queue->context, full.words[index]);
        full.count = 0;
        taken = full;
    }
    close(queue->descriptor);
    free(taken.words);
    free(queue->waiting.words);
    free(queue);
}

static void growBatch(Batch *batch) {
    batch->capacity = batch->capacity == 0 ? 16 : batch->capacity * 2;
    batch->words = realloc(batch->words, batch->capacity * sizeof *batch->words);
    if (batch->words != NULL) return;
    fputs("CControl: there is no memory for what waits in the queue\n", stderr);
    abort();
}

void CControlQueueAppend(CControlQueue *queue, uintptr_t word) {
    lockLock(&queue->lock);
    Batch *batch = &queue->waiting;
    if (batch->count == batch->capacity) growBatch(batch);
    bool wasEmpty = batch->count == 0;
    batch->words[batch->count++] = word;
    unlockLock(&queue->lock);
    if (wasEmpty) signalDescriptor(queue->descriptor);
}

void CControlQueueEnd(CControlQueue *queue) {
    lockLock(&queue->lock);
    queue->isEnding = true;
    // Under the lock, because the thread frees the queue when it has seen the end.
    signalDescriptor(queue->descriptor);
    unlockLock(&queue->lock);
}
