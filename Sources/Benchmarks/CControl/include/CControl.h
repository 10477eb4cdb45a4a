// The control that benchmarks are read against: what the machine charges for moving a word between threads, in C and
// without anything that is not needed for it. And what Swift's Glibc module does not show of measuring.

#ifndef CCONTROL_H
#define CCONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "CControlTally.h"

/// What was measured is no figure: not all was handled within the limit.
#define CCONTROL_TIMED_OUT (-1)
/// What was measured is no figure: something was handled twice, or more than was appended.
#define CCONTROL_MISCOUNTED (-2)
/// What was measured is no figure: the system had no thread, descriptor or memory for it.
#define CCONTROL_NOT_MADE (-3)

/// The monotonic clock, in nanoseconds.
static inline int64_t CControlNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// MARK: The queue: an array under a futex lock, an eventfd when it was empty, and the whole array swapped out

typedef struct CControlQueue CControlQueue;

/// Called on the queue's thread for each word.
typedef void (*CControlHandler)(void *context, uintptr_t word);

/// A queue without a thread; nothing is handled before CControlQueueStart. NULL if the system has no descriptor or
/// memory.
CControlQueue *CControlQueueCreate(CControlHandler handler, void *context);

/// Starts the thread that handles.
/// @param core where it runs; negative: anywhere.
/// @return 0, or the system's error number.
int CControlQueueStart(CControlQueue *queue, int core);

/// Adds a word, and signals the thread if there was none. On any thread. Ends the program if there is no memory.
void CControlQueueAppend(CControlQueue *queue, uintptr_t word);

/// Ends the thread, after it has handled what was appended, and frees the queue.
void CControlQueueDestroy(CControlQueue *queue);

// MARK: Bursts

typedef struct CControlBurst CControlBurst;

/// Threads that append words to queues of their own, one for each target, which count what they handle. Each word goes
/// to every target. The threads wait between the bursts.
/// @param cores where the posters and the targets run; negative: anywhere.
/// @return NULL if the system has no thread, descriptor or memory for it; then `errno` says why.
CControlBurst *CControlBurstCreate(int posters, int targets, int posterCore, int targetCore);

/// Posts `words` in all, divided among the posters, and waits until every target has handled them.
/// @param limit how long to wait at most, in nanoseconds.
/// @return how long it took, in nanoseconds; negative: why there is no figure.
int64_t CControlBurstMeasure(CControlBurst *burst, int64_t words, int64_t limit);

/// Ends the threads and frees what they used.
void CControlBurstDestroy(CControlBurst *burst);

// MARK: A backlog

/// Appends words to a queue whose thread is held up in its handler, lets it go on, and waits until it has handled them.
/// @param core where the thread runs; negative: anywhere.
/// @return how long it took from the first word on, in nanoseconds; negative: why there is no figure.
int64_t CControlBacklogMeasure(int64_t words, int core, int64_t limit);

// MARK: Calls

typedef struct CControlCalls CControlCalls;

/// A queue whose handler tells the caller through an eventfd.
/// @param core where the queue's thread runs; negative: anywhere.
/// @return NULL if the system has no thread, descriptor or memory for it; then `errno` says why.
CControlCalls *CControlCallsCreate(int core);

/// Appends words, each when the one before it was handled.
/// @param latencies as many as there are words, each in nanoseconds.
/// @return how long it took, in nanoseconds; negative: why there is no figure.
int64_t CControlCallsMeasure(CControlCalls *calls, int64_t words, int64_t *latencies, int64_t limit);

/// Ends the thread.
void CControlCallsDestroy(CControlCalls *calls);

// MARK: Ping-pong

typedef struct CControlPingPong CControlPingPong;

/// Two threads that answer each other through an eventfd each.
/// @param cores where they run; negative: anywhere.
/// @return NULL if the system has no thread, descriptor or memory for it; then `errno` says why.
CControlPingPong *CControlPingPongCreate(int core, int otherCore);

/// Makes round trips, and waits until they are made.
/// @param latencies as many as there are round trips, each in nanoseconds.
/// @return how long it took, in nanoseconds; negative: why there is no figure. Then they are to be destroyed next.
int64_t CControlPingPongMeasure(CControlPingPong *pingPong, int64_t roundTrips, int64_t *latencies, int64_t limit);

/// Ends the two threads, also in the middle of what they do.
void CControlPingPongDestroy(CControlPingPong *pingPong);

// MARK: Measuring

/// Has the calling thread, and those that it starts from now on, run on these cores only.
/// @return 0, or the system's error number: EINVAL if there is no such core, or the process may not use it.
int CControlPin(const int *cores, int count);

/// Whether the calling thread may run on a core.
bool CControlMayRunOn(int core);

/// Whether the program allocates from glibc, and not from a sanitizer.
bool CControlKnowsBytesInUse(void);

/// Bytes that the program has allocated from glibc and not freed, over all threads.
size_t CControlBytesInUse(void);

/// Whether this program counts its allocations: it does if it has the target CAllocationCounter, and no sanitizer.
bool CControlCanCountAllocations(void);

/// Counts the allocations of all threads from now on, from zero.
void CControlBeginCountingAllocations(void);

/// Stops counting.
/// @return how many there were.
uint64_t CControlEndCountingAllocations(void);

#endif
