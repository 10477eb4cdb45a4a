#include "AsyncMain.h"

typedef void (*Continuation)(void) __attribute__((swiftcall));
typedef void (*MainThreadFunction)(Continuation, Continuation) __attribute__((swiftcall));

/// The function that Swift calls on the main thread, once an `async` main function has been started there. It must not
/// return. If it is null, Swift ends the main thread. Null itself in a program without Swift's concurrency.
extern MainThreadFunction hook
    __asm__("swift_task_asyncMainDrainQueue_hook") __attribute__((weak));

/// Runs the calling thread's run loop. Null in a program without Foundation.
extern void CFRunLoopRun(void) __attribute__((weak));

__attribute__((swiftcall)) static void runMainThread(Continuation original, Continuation override) {
    (void)original;
    (void)override;
    // It returns if other code stops the run loop.
    for (;;) CFRunLoopRun();
}

// Before main begins, because Swift looks once, when main has been started.
__attribute__((constructor)) static void keepMainThread(void) {
    if (&hook && CFRunLoopRun) hook = runMainThread;
}
