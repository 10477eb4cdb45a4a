// Which threads belong to Dispatch.

#ifndef THREADS_H
#define THREADS_H

#pragma GCC visibility push(hidden)

/// Finds the library of Dispatch. Call before it creates threads.
void prepare_threads(void);

#pragma GCC visibility pop

#endif
