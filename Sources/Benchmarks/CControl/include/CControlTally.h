// Counts that two processes share: one posts, and the observers of another count what they handle.

#ifndef CCONTROLTALLY_H
#define CCONTROLTALLY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct CControlTally CControlTally;

/// A count of zero for each observer, in memory that another process may map.
/// @param descriptor what the other process maps; it is closed by exec.
/// @return NULL if the system has no descriptor or memory; then `errno` says why.
CControlTally *CControlTallyCreate(int observers, int *descriptor);

/// The one that another process made; NULL if it is none.
CControlTally *CControlTallyMap(int descriptor);

/// How many observers it has.
int CControlTallyObservers(CControlTally *tally);

void CControlTallyUnmap(CControlTally *tally);

/// All observers are there. Ends the first wait.
void CControlTallySetReady(CControlTally *tally);

/// An observer has handled so many, or so many were lost on the way to it. On any thread of the observers' process.
void CControlTallyHandle(CControlTally *tally, int observer, uint64_t count);
void CControlTallyMiss(CControlTally *tally, int observer, uint64_t count);

/// Each observer is to handle so many more. Called when nothing is on its way, and followed by a wait.
void CControlTallyExpect(CControlTally *tally, uint64_t count);

/// Sleeps until each observer has handled what is expected, what it missed included; the first wait: until they are
/// there.
/// @param limit in nanoseconds.
/// @return whether they have. After false it may be waited again.
bool CControlTallyWait(CControlTally *tally, int64_t limit);

/// When the last observer had handled what was expected, by CControlNow.
int64_t CControlTallyDoneAt(CControlTally *tally);

/// What the observer that is the furthest behind has handled since the beginning.
uint64_t CControlTallyLeast(CControlTally *tally);

/// What the observer that is the furthest ahead has handled since the beginning.
uint64_t CControlTallyMost(CControlTally *tally);

/// How many were lost, of all observers together.
uint64_t CControlTallyMissed(CControlTally *tally);

// MARK: The relay

typedef struct CControlRelay CControlRelay;

/// A thread that writes what it reads from one socket to others: what a server charges that does nothing else.
/// @param source what it reads from; when that ends, so does the thread.
/// @param targets what it writes to, as many at a time as have come, one write for each. All descriptors are its own
/// from now on, also if there is no relay.
/// @param core where it runs; negative: anywhere.
/// @return NULL if the system has no thread, descriptor or memory; then `errno` says why.
CControlRelay *CControlRelayCreate(int source, const int *targets, int count, int core);

/// Ends the thread, also if it hangs in a write.
void CControlRelayDestroy(CControlRelay *relay);

// MARK: Another process

/// A socket that listens at a path. Negative, with errno, if there is none.
int CControlListen(const char *path);

/// Starts a program whose descriptor 3 is `shared`; what it prints on standard output goes nowhere.
/// @param input what its standard input ends with when it is closed, as it is at the latest when this process ends.
/// @return 0, or the system's error number.
int CControlSpawn(int32_t *process, int *input, const char *path, char *const *arguments, int shared);

/// What a process has used of the processors, in nanoseconds; negative if there is no such process.
int64_t CControlProcessTime(int32_t process);

#endif
