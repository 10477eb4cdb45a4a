// The baselines of the benchmarks: moving a word between threads, in C and with the fewest possible operations. Also
// what measuring needs and Swift's Glibc module does not offer.

#ifndef CCONTROL_H
#define CCONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The monotonic clock, in nanoseconds.
int64_t CControlNow(void);

// MARK: The queue: an array under a mutex, an eventfd for the first word, and a swap of the whole array

typedef struct CControlQueue CControlQueue;

/// Called for each word, on the thread that runs the queue.
typedef void (*CControlHandler)(void *context, uintptr_t word);

/// NULL, with errno, if the system has no descriptor or memory.
CControlQueue *CControlQueueCreate(CControlHandler handler, void *context);

/// Handles words on the calling thread. When the queue is ended, handles what was appended before, and frees the queue.
void CControlQueueRun(CControlQueue *queue);

/// Adds a word, and signals the thread if the queue was empty. On any thread. Ends the program if there is no memory.
void CControlQueueAppend(CControlQueue *queue, uintptr_t word);

void CControlQueueEnd(CControlQueue *queue);

// MARK: Measuring

/// The processor time that this process has used, in nanoseconds.
int64_t CControlProcessTime(void);

/// The number of bytes that all threads have allocated from glibc and not freed.
size_t CControlBytesInUse(void);

/// Counts the allocations of all threads, but aligned ones, from zero, until it is ended. A program with this target
/// has a malloc of its own, which costs a load and a branch while nothing is counted.
void CControlBeginCountingAllocations(void);

/// @return the number of allocations since the beginning.
uint64_t CControlEndCountingAllocations(void);

#endif
