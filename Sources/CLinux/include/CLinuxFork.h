// The descriptors of a run loop after fork. The copy of the process has the same numbers for the same open files, so a
// thread of the copy would read what wakes the parent's thread, set its timers, and be woken in its place.

#ifndef CLINUX_FORK_H
#define CLINUX_FORK_H

/// Called in the copy of a process: replaces the sets that have a member, and their events and timers, by sets, events
/// and timers of this process with the same numbers and in the same state. `member` is in all sets of one run loop, and
/// in no other. No effect if /proc cannot be read.
extern void CLinuxSeparateSets(int member);

/// Has functions called before fork, and after it in the parent and in the copy.
extern int CLinuxAtFork(void (*prepare)(void), void (*parent)(void), void (*copy)(void));

#endif
