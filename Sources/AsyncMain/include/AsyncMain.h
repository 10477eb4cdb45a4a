// A program that links this library and has an `async` main function keeps its main thread: while main awaits, the
// thread runs its run loop. Timers of `RunLoop.main` fire, the main actor runs there, observers on `.main` are called,
// and `DispatchQueue.main` is served. Without the library Swift ends the main thread on Linux.
//
// Linking is enough: there is nothing to call. The program ends as it does without the library: with main's status, by
// `exit`, or by a signal. A program with a synchronous main function is not affected.

#ifndef ASYNC_MAIN_H
#define ASYNC_MAIN_H
#endif
