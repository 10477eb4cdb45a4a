// Counters that processes share: one process posts, and the observers in the others count what they handle.

#ifndef CCONTROLTALLY_H
#define CCONTROLTALLY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct CControlTally CControlTally;

/// Creates a counter of zero for each observer, in memory that other processes may map.
/// @param descriptor receives the descriptor that the other process maps; exec closes it.
/// @return NULL if the system has no descriptor or memory; `errno` then gives the reason.
CControlTally *CControlTallyCreate(int observers, int *descriptor);

/// Maps the counters that another process created. NULL if the descriptor is not for such counters.
CControlTally *CControlTallyMap(int descriptor);

/// The number of observers.
int CControlTallyObservers(CControlTally *tally);

void CControlTallyUnmap(CControlTally *tally);

/// Reports that `count` observers are ready. Ends the first wait when all are.
void CControlTallySetReady(CControlTally *tally, int count);

/// Adds notifications that an observer has handled, or that were lost on the way to it. On any thread of the observer's
/// process.
void CControlTallyHandle(CControlTally *tally, int observer, uint64_t count);
void CControlTallyMiss(CControlTally *tally, int observer, uint64_t count);

/// Expects each observer to handle `count` more. Call it when all earlier notifications were handled, and then wait.
void CControlTallyExpect(CControlTally *tally, uint64_t count);

/// Sleeps until each observer has handled, or missed, all that is expected. The first wait is for the observers to be
/// ready.
/// @param limit in nanoseconds.
/// @return true if they have. After false, the caller may wait again.
bool CControlTallyWait(CControlTally *tally, int64_t limit);

/// The time, by CControlNow, at which the last observer had handled all that was expected.
int64_t CControlTallyDoneAt(CControlTally *tally);

/// The number that the slowest observer has handled since the beginning.
uint64_t CControlTallyLeast(CControlTally *tally);

/// The number that the fastest observer has handled since the beginning.
uint64_t CControlTallyMost(CControlTally *tally);

/// The number of lost notifications, for all observers together.
uint64_t CControlTallyMissed(CControlTally *tally);

// MARK: The relay

typedef struct CControlRelay CControlRelay;

/// A thread that writes the input of one socket to others: the baseline for a server.
/// @param source the input; when it ends, the thread ends.
/// @param targets the outputs. The thread makes one write to each for all frames that it has read. The relay owns all
/// descriptors, even if it cannot be created.
/// @param core the core of the thread; negative: any core.
/// @return NULL if the system has no thread, descriptor or memory; `errno` then gives the reason.
CControlRelay *CControlRelayCreate(int source, const int *targets, int count, int core);

/// Ends the thread, even if it is blocked in a write.
void CControlRelayDestroy(CControlRelay *relay);

// MARK: Another process

/// A socket that listens at a path. Negative, with errno, on failure.
int CControlListen(const char *path);

/// Starts a program with `shared` as its descriptor 3. Its standard output is discarded.
/// @param input receives a descriptor. When it is closed, at the latest when this process ends, the program's standard
/// input ends.
/// @return 0, or the system's error number.
int CControlSpawn(int32_t *process, int *input, const char *path, char *const *arguments, int shared);

/// The processor time that a process has used, in nanoseconds; negative if there is no such process.
int64_t CControlProcessTime(int32_t process);

#endif
