// The main thread of a program with an `async` main function.

#ifndef CLINUX_MAIN_THREAD_H
#define CLINUX_MAIN_THREAD_H

typedef void (*CLinuxContinuation)(void) __attribute__((swiftcall));
typedef void (*CLinuxMainThreadFunction)(CLinuxContinuation, CLinuxContinuation) __attribute__((swiftcall));

/// The function that Swift calls on the main thread, once an `async` main function has been started there. It must not
/// return. If it is null, Swift ends the main thread. Null itself in a program without Swift's concurrency.
extern CLinuxMainThreadFunction CLinuxMainThreadHook
    __asm__("swift_task_asyncMainDrainQueue_hook") __attribute__((weak));

/// Runs the calling thread's run loop. Null in a program without Foundation.
extern void CLinuxRunRunLoop(void) __asm__("CFRunLoopRun") __attribute__((weak));

__attribute__((swiftcall))
static inline void CLinuxRunMainThread(CLinuxContinuation original, CLinuxContinuation override) {
    (void)original;
    (void)override;
    // It returns if other code stops the run loop.
    for (;;) CLinuxRunRunLoop();
}

/// Makes the main thread run its run loop where an `async` main function would end the thread. No effect in a program
/// without Swift's concurrency or without Foundation.
static inline void CLinuxKeepMainThread(void) {
    if (&CLinuxMainThreadHook && CLinuxRunRunLoop) CLinuxMainThreadHook = CLinuxRunMainThread;
}

#endif
