#define _GNU_SOURCE
#include "CControl.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void lockContended(Lock *lock) {
    // The lock is held for about 10 ns, so a thread spins for a moment before it sleeps.
    for (int turn = 0; turn < 40; turn++) {
        uint32_t free = 0;
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0
            && atomic_compare_exchange_weak_explicit(
                &lock->state, &free, 1, memory_order_acquire, memory_order_relaxed)) {
            return;
        }
        pauseCore();
    }
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
}

static inline void lockLock(Lock *lock) {
    uint32_t free = 0;
    if (!atomic_compare_exchange_strong_explicit(
            &lock->state, &free, 1, memory_order_acquire, memory_order_relaxed)) {
        lockContended(lock);
    }
}

static inline void unlockLock(Lock *lock) {
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2) {
        syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

// MARK: Descriptors and threads

static void signalDescriptor(int descriptor) {
    uint64_t one = 1;
    while (write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

static void waitForDescriptor(int descriptor) {
    uint64_t count;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) {}
}

/// Null unless the program was built with the thread sanitizer.
extern void __tsan_acquire(void *address) __attribute__((weak));

static void waitForSemaphore(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0 && errno == EINTR) {}
}

/// Returns true if the semaphore was signalled before a time of CControlNow.
static bool waitForSemaphoreUntil(sem_t *semaphore, int64_t deadline) {
    // A signal after the deadline is too late, even if it has already come.
    if (deadline <= CControlNow()) return false;
    struct timespec moment = {deadline / 1000000000, deadline % 1000000000};
    while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &moment) != 0) {
        if (errno != EINTR) return false;
    }
    // The thread sanitizer does not know that sem_clockwait synchronises with the signal.
    if (__tsan_acquire) __tsan_acquire(semaphore);
    return true;
}

static int startThread(pthread_t *thread, void *(*body)(void *), void *context, int core) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return error;
    if (core >= 0) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        if (core < CPU_SETSIZE) CPU_SET(core, &cores);
        error = pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
    }
    if (error == 0) error = pthread_create(thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return error;
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
    pthread_t thread;
    bool hasThread;
};

static void *handleWords(void *context) {
    CControlQueue *queue = context;
    Batch taken = {0};
    for (bool isEnding = false; !isEnding;) {
        waitForDescriptor(queue->descriptor);
        lockLock(&queue->lock);
        Batch full = queue->waiting;
        queue->waiting = taken;
        isEnding = queue->isEnding;
        unlockLock(&queue->lock);
        for (size_t index = 0; index < full.count; index++) queue->handler(queue->context, full.words[index]);
        full.count = 0;
        taken = full;
    }
    free(taken.words);
    return NULL;
}

CControlQueue *CControlQueueCreate(CControlHandler handler, void *context) {
    CControlQueue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return NULL;
    queue->handler = handler;
    queue->context = context;
    queue->descriptor = eventfd(0, EFD_CLOEXEC);
    if (queue->descriptor < 0) {
        free(queue);
        return NULL;
    }
    return queue;
}

int CControlQueueStart(CControlQueue *queue, int core) {
    int error = startThread(&queue->thread, handleWords, queue, core);
    queue->hasThread = error == 0;
    return error;
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

void CControlQueueDestroy(CControlQueue *queue) {
    if (queue == NULL) return;
    if (queue->hasThread) {
        lockLock(&queue->lock);
        queue->isEnding = true;
        unlockLock(&queue->lock);
        signalDescriptor(queue->descriptor);
        pthread_join(queue->thread, NULL);
    }
    close(queue->descriptor);
    free(queue->waiting.words);
    free(queue);
}

// MARK: Bursts

typedef struct {
    CControlQueue *queue;
    CControlBurst *burst;
    /// The number of words still expected; during a burst only the target's thread uses it.
    int64_t expected;
} Target;

typedef struct {
    CControlBurst *burst;
    pthread_t thread;
    sem_t start;
    int64_t words;
    atomic_bool isEnding;
} Poster;

struct CControlBurst {
    Target *targets;
    int targetCount;
    Poster *posters;
    int posterCount;
    /// The number of targets that have not finished.
    atomic_int targetsLeft;
    sem_t targetsAreDone;
    /// Counts the posters that have returned.
    sem_t posterIsDone;
};

static void countWord(void *context, uintptr_t word) {
    Target *target = context;
    (void)word;
    if (--target->expected == 0 && atomic_fetch_sub(&target->burst->targetsLeft, 1) == 1) {
        sem_post(&target->burst->targetsAreDone);
    }
}

static void *postWords(void *context) {
    Poster *poster = context;
    CControlBurst *burst = poster->burst;
    for (;;) {
        waitForSemaphore(&poster->start);
        if (atomic_load(&poster->isEnding)) return NULL;
        for (int64_t word = 0; word < poster->words; word++) {
            for (int target = 0; target < burst->targetCount; target++) {
                CControlQueueAppend(burst->targets[target].queue, (uintptr_t)word);
            }
        }
        sem_post(&burst->posterIsDone);
    }
}

CControlBurst *CControlBurstCreate(int posters, int targets, int posterCore, int targetCore) {
    CControlBurst *burst = calloc(1, sizeof *burst);
    if (burst == NULL) return NULL;
    sem_init(&burst->targetsAreDone, 0, 0);
    sem_init(&burst->posterIsDone, 0, 0);
    int error = 0;
    burst->targets = calloc((size_t)targets, sizeof *burst->targets);
    burst->posters = calloc((size_t)posters, sizeof *burst->posters);
    if (burst->targets == NULL || burst->posters == NULL) error = ENOMEM;
    for (int index = 0; error == 0 && index < targets; index++) {
        Target *target = &burst->targets[index];
        target->burst = burst;
        target->queue = CControlQueueCreate(countWord, target);
        if (target->queue == NULL) {
            error = errno;
            break;
        }
        burst->targetCount++;
        error = CControlQueueStart(target->queue, targetCore);
    }
    for (int index = 0; error == 0 && index < posters; index++) {
        Poster *poster = &burst->posters[index];
        poster->burst = burst;
        sem_init(&poster->start, 0, 0);
        error = startThread(&poster->thread, postWords, poster, posterCore);
        if (error == 0) burst->posterCount++;
    }
    if (error == 0) return burst;
    CControlBurstDestroy(burst);
    errno = error;
    return NULL;
}

int64_t CControlBurstMeasure(CControlBurst *burst, int64_t words, int64_t limit) {
    for (int index = 0; index < burst->targetCount; index++) burst->targets[index].expected = words;
    atomic_store(&burst->targetsLeft, burst->targetCount);
    int64_t start = CControlNow();
    for (int index = 0; index < burst->posterCount; index++) {
        Poster *poster = &burst->posters[index];
        poster->words = words / burst->posterCount + (index < words % burst->posterCount ? 1 : 0);
        sem_post(&poster->start);
    }
    if (!waitForSemaphoreUntil(&burst->targetsAreDone, start + limit)) return CCONTROL_TIMED_OUT;
    int64_t elapsed = CControlNow() - start;
    for (int index = 0; index < burst->posterCount; index++) {
        if (!waitForSemaphoreUntil(&burst->posterIsDone, start + limit)) return CCONTROL_TIMED_OUT;
    }
    for (int index = 0; index < burst->targetCount; index++) {
        if (burst->targets[index].expected != 0) return CCONTROL_MISCOUNTED;
    }
    return elapsed;
}

void CControlBurstDestroy(CControlBurst *burst) {
    if (burst == NULL) return;
    for (int index = 0; index < burst->posterCount; index++) {
        Poster *poster = &burst->posters[index];
        // The poster may not have woken for the burst yet.
        atomic_store(&poster->isEnding, true);
        sem_post(&poster->start);
        pthread_join(poster->thread, NULL);
        sem_destroy(&poster->start);
    }
    for (int index = 0; index < burst->targetCount; index++) CControlQueueDestroy(burst->targets[index].queue);
    sem_destroy(&burst->targetsAreDone);
    sem_destroy(&burst->posterIsDone);
    free(burst->targets);
    free(burst->posters);
    free(burst);
}

// MARK: A backlog

typedef struct {
    int64_t handled;
    int64_t expected;
    sem_t isHeld;
    sem_t mayGoOn;
    sem_t isDone;
} Backlog;

static void handleBacklog(void *context, uintptr_t word) {
    Backlog *backlog = context;
    if (word == 0) {
        sem_post(&backlog->isHeld);
        waitForSemaphore(&backlog->mayGoOn);
    } else if (++backlog->handled == backlog->expected) {
        sem_post(&backlog->isDone);
    }
}

int64_t CControlBacklogMeasure(int64_t words, int core, int64_t limit) {
    Backlog backlog = {.expected = words};
    CControlQueue *queue = CControlQueueCreate(handleBacklog, &backlog);
    if (queue == NULL) return CCONTROL_NOT_MADE;
    if (CControlQueueStart(queue, core) != 0) {
        CControlQueueDestroy(queue);
        return CCONTROL_NOT_MADE;
    }
    sem_init(&backlog.isHeld, 0, 0);
    sem_init(&backlog.mayGoOn, 0, 0);
    sem_init(&backlog.isDone, 0, 0);
    CControlQueueAppend(queue, 0);
    waitForSemaphore(&backlog.isHeld);
    int64_t start = CControlNow();
    for (int64_t word = 1; word <= words; word++) CControlQueueAppend(queue, (uintptr_t)word);
    sem_post(&backlog.mayGoOn);
    bool isDone = waitForSemaphoreUntil(&backlog.isDone, start + limit);
    int64_t elapsed = CControlNow() - start;
    // Waits for the thread, which handles all words before it ends.
    CControlQueueDestroy(queue);
    sem_destroy(&backlog.isHeld);
    sem_destroy(&backlog.mayGoOn);
    sem_destroy(&backlog.isDone);
    if (!isDone) return CCONTROL_TIMED_OUT;
    return backlog.handled == words ? elapsed : CCONTROL_MISCOUNTED;
}

// MARK: Calls

struct CControlCalls {
    CControlQueue *queue;
    int answer;
};

static void answerCall(void *context, uintptr_t word) {
    (void)word;
    signalDescriptor(((CControlCalls *)context)->answer);
}

CControlCalls *CControlCallsCreate(int core) {
    CControlCalls *calls = calloc(1, sizeof *calls);
    if (calls == NULL) return NULL;
    calls->answer = eventfd(0, EFD_CLOEXEC);
    calls->queue = calls->answer < 0 ? NULL : CControlQueueCreate(answerCall, calls);
    int error = calls->queue == NULL ? errno : CControlQueueStart(calls->queue, core);
    if (error == 0) return calls;
    CControlQueueDestroy(calls->queue);
    if (calls->answer >= 0) close(calls->answer);
    free(calls);
    errno = error;
    return NULL;
}

int64_t CControlCallsMeasure(CControlCalls *calls, int64_t words, int64_t *latencies, int64_t limit) {
    int64_t start = CControlNow();
    int64_t begun = start;
    for (int64_t word = 0; word < words; word++) {
        CControlQueueAppend(calls->queue, (uintptr_t)word);
        waitForDescriptor(calls->answer);
        int64_t now = CControlNow();
        latencies[word] = now - begun;
        begun = now;
        if (now - start > limit) return CCONTROL_TIMED_OUT;
    }
    return begun - start;
}

void CControlCallsDestroy(CControlCalls *calls) {
    if (calls == NULL) return;
    CControlQueueDestroy(calls->queue);
    close(calls->answer);
    free(calls);
}

// MARK: Ping-pong

struct CControlPingPong {
    int ping;
    int pong;
    pthread_t asker;
    pthread_t answerer;
    sem_t start;
    sem_t isDone;
    int64_t roundTrips;
    /// Owned by the asking thread, because it may still write after the caller's timeout.
    int64_t *latencies;
    atomic_bool isEnding;
};

static void *ask(void *context) {
    CControlPingPong *pingPong = context;
    for (;;) {
        waitForSemaphore(&pingPong->start);
        if (atomic_load(&pingPong->isEnding)) {
            signalDescriptor(pingPong->ping);
            return NULL;
        }
        for (int64_t trip = 0; trip < pingPong->roundTrips && !atomic_load(&pingPong->isEnding); trip++) {
            int64_t start = CControlNow();
            signalDescriptor(pingPong->ping);
            waitForDescriptor(pingPong->pong);
            pingPong->latencies[trip] = CControlNow() - start;
        }
        sem_post(&pingPong->isDone);
    }
}

static void *answer(void *context) {
    CControlPingPong *pingPong = context;
    for (;;) {
        waitForDescriptor(pingPong->ping);
        if (atomic_load(&pingPong->isEnding)) {
            // The other thread may still wait for an answer.
            signalDescriptor(pingPong->pong);
            return NULL;
        }
        signalDescriptor(pingPong->pong);
    }
}

CControlPingPong *CControlPingPongCreate(int core, int otherCore) {
    CControlPingPong *pingPong = calloc(1, sizeof *pingPong);
    if (pingPong == NULL) return NULL;
    sem_init(&pingPong->start, 0, 0);
    sem_init(&pingPong->isDone, 0, 0);
    pingPong->ping = eventfd(0, EFD_CLOEXEC);
    pingPong->pong = eventfd(0, EFD_CLOEXEC);
    int error = pingPong->ping < 0 || pingPong->pong < 0 ? errno : 0;
    if (error == 0) error = startThread(&pingPong->answerer, answer, pingPong, otherCore);
    if (error == 0) {
        error = startThread(&pingPong->asker, ask, pingPong, core);
        if (error != 0) {
            atomic_store(&pingPong->isEnding, true);
            signalDescriptor(pingPong->ping);
            pthread_join(pingPong->answerer, NULL);
        }
    }
    if (error == 0) return pingPong;
    if (pingPong->ping >= 0) close(pingPong->ping);
    if (pingPong->pong >= 0) close(pingPong->pong);
    free(pingPong);
    errno = error;
    return NULL;
}

int64_t CControlPingPongMeasure(CControlPingPong *pingPong, int64_t roundTrips, int64_t *latencies, int64_t limit) {
    pingPong->roundTrips = roundTrips;
    pingPong->latencies = calloc((size_t)roundTrips, sizeof *latencies);
    if (pingPong->latencies == NULL) return CCONTROL_NOT_MADE;
    int64_t start = CControlNow();
    sem_post(&pingPong->start);
    if (!waitForSemaphoreUntil(&pingPong->isDone, start + limit)) return CCONTROL_TIMED_OUT;
    int64_t elapsed = CControlNow() - start;
    memcpy(latencies, pingPong->latencies, (size_t)roundTrips * sizeof *latencies);
    free(pingPong->latencies);
    pingPong->latencies = NULL;
    return elapsed;
}

void CControlPingPongDestroy(CControlPingPong *pingPong) {
    if (pingPong == NULL) return;
    atomic_store(&pingPong->isEnding, true);
    sem_post(&pingPong->start);
    pthread_join(pingPong->asker, NULL);
    signalDescriptor(pingPong->ping);
    pthread_join(pingPong->answerer, NULL);
    free(pingPong->latencies);
    close(pingPong->ping);
    close(pingPong->pong);
    sem_destroy(&pingPong->start);
    sem_destroy(&pingPong->isDone);
    free(pingPong);
}

// MARK: Measuring

int CControlPin(const int *cores, int count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int index = 0; index < count; index++) {
        // The kernel accepts a set if it may use one core of it; this function requires all cores.
        if (cores[index] < 0 || cores[index] >= CPU_SETSIZE || !CControlMayRunOn(cores[index])) return EINVAL;
        CPU_SET(cores[index], &set);
    }
    return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

bool CControlMayRunOn(int core) {
    cpu_set_t set;
    if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0) return false;
    return CPU_ISSET(core, &set);
}

bool CControlKnowsBytesInUse(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) \
    || __has_feature(leak_sanitizer)
    return false;
#endif
#endif
    return true;
}

size_t CControlBytesInUse(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Weak, because the program chooses whether to link the counter: see CAllocationCounter.h.
extern void CAllocationCounterBegin(void) __attribute__((weak));
extern uint64_t CAllocationCounterEnd(void) __attribute__((weak));

bool CControlCanCountAllocations(void) {
    return CAllocationCounterBegin != NULL && CAllocationCounterEnd != NULL;
}

void CControlBeginCountingAllocations(void) {
    if (CControlCanCountAllocations()) CAllocationCounterBegin();
}

uint64_t CControlEndCountingAllocations(void) {
    return CControlCanCountAllocations() ? CAllocationCounterEnd() : 0;
}
