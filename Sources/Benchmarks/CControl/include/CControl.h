// The baseline of the benchmarks: the cost of moving a word between threads, in C and with the fewest possible
// operations. Also functions for measuring that Swift's Glibc module does not offer.

#ifndef CCONTROL_H
#define CCONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "CControlTally.h"

/// No result: not everything was handled within the timeout.
#define CCONTROL_TIMED_OUT (-1)
/// No result: a word was handled twice, or more words were handled than appended.
#define CCONTROL_MISCOUNTED (-2)
/// No result: the system had no thread, descriptor or memory for the measurement.
#define CCONTROL_NOT_MADE (-3)

/// The monotonic clock, in nanoseconds.
static inline int64_t CControlNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// MARK: The queue: an array under a futex lock, an eventfd for the first word, and a swap of the whole array

typedef struct CControlQueue CControlQueue;

/// Called on the queue's thread for each word.
typedef void (*CControlHandler)(void *context, uintptr_t word);

/// A queue without a thread. It handles words after CControlQueueStart. NULL if the system has no descriptor or memory.
CControlQueue *CControlQueueCreate(CControlHandler handler, void *context);

/// Starts the thread that handles words.
/// @param core the core to run on; negative: any core.
/// @return 0, or the system's error number.
int CControlQueueStart(CControlQueue *queue, int core);

/// Adds a word, and signals the thread if the queue was empty. On any thread. Ends the program if there is no memory.
void CControlQueueAppend(CControlQueue *queue, uintptr_t word);

/// Ends the thread after it has handled all appended words, and frees the queue.
void CControlQueueDestroy(CControlQueue *queue);

// MARK: Bursts

typedef struct CControlBurst CControlBurst;

/// Threads that append words to one queue for each target. Each target counts the words that it handles. Each word goes
/// to every target. The threads wait between the bursts.
/// @param posterCore the core of the posters; negative: any core.
/// @param targetCore the core of the targets; negative: any core.
/// @return NULL if the system has no thread, descriptor or memory; `errno` then gives the reason.
CControlBurst *CControlBurstCreate(int posters, int targets, int posterCore, int targetCore);

/// Posts `words` in total, divided among the posters, and waits until every target has handled them.
/// @param limit the timeout, in nanoseconds.
/// @return the elapsed time, in nanoseconds; a negative number is an error code.
int64_t CControlBurstMeasure(CControlBurst *burst, int64_t words, int64_t limit);

/// Ends the threads and frees their memory.
void CControlBurstDestroy(CControlBurst *burst);

// MARK: A backlog

/// Appends words to a queue whose thread is blocked in its handler, unblocks it, and waits until it has handled them.
/// @param core the core of the thread; negative: any core.
/// @return the elapsed time since the first word, in nanoseconds; a negative number is an error code.
int64_t CControlBacklogMeasure(int64_t words, int core, int64_t limit);

// MARK: Calls

typedef struct CControlCalls CControlCalls;

/// A queue whose handler answers the caller through an eventfd.
/// @param core the core of the queue's thread; negative: any core.
/// @return NULL if the system has no thread, descriptor or memory; `errno` then gives the reason.
CControlCalls *CControlCallsCreate(int core);

/// Appends words, each after the previous one was handled.
/// @param latencies room for one value per word, each in nanoseconds.
/// @return the elapsed time, in nanoseconds; a negative number is an error code.
int64_t CControlCallsMeasure(CControlCalls *calls, int64_t words, int64_t *latencies, int64_t limit);

/// Ends the thread.
void CControlCallsDestroy(CControlCalls *calls);

// MARK: Ping-pong

typedef struct CControlPingPong CControlPingPong;

/// Two threads that answer each other through one eventfd each.
/// @param core the core of the first thread, `otherCore` that of the second; negative: any core.
/// @return NULL if the system has no thread, descriptor or memory; `errno` then gives the reason.
CControlPingPong *CControlPingPongCreate(int core, int otherCore);

/// Makes round trips, and waits until they are complete.
/// @param latencies room for one value per round trip, each in nanoseconds.
/// @return the elapsed time, in nanoseconds; a negative number is an error code. After a negative number, destroy the
/// pair.
int64_t CControlPingPongMeasure(CControlPingPong *pingPong, int64_t roundTrips, int64_t *latencies, int64_t limit);

/// Ends the two threads, even during a round trip.
void CControlPingPongDestroy(CControlPingPong *pingPong);

// MARK: Measuring

/// Restricts the calling thread, and threads that it starts later, to these cores.
/// @return 0, or the system's error number: EINVAL if a core does not exist or the process may not use it.
int CControlPin(const int *cores, int count);

/// True if the calling thread may run on a core.
bool CControlMayRunOn(int core);

/// True if the program allocates from glibc, and not from a sanitizer.
bool CControlKnowsBytesInUse(void);

/// The number of bytes that all threads have allocated from glibc and not freed.
size_t CControlBytesInUse(void);

/// True if this program can count its allocations: it has the target CAllocationCounter, and no sanitizer.
bool CControlCanCountAllocations(void);

/// Starts to count the allocations of all threads, from zero.
void CControlBeginCountingAllocations(void);

/// Stops counting.
/// @return the number of allocations.
uint64_t CControlEndCountingAllocations(void);

#endif
