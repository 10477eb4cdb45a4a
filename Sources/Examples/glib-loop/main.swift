import CGLib
import Foundation
import RunLoopIntegration
import ThreadedNotifications

// GLib's main loop serves the main thread's run loop. Four threads post notifications, which arrive in order
// between the calls of the loop's own timers and idle handlers.

let (count, posted) = (100_000, Notification.Name("posted"))
let center = ThreadedNotificationCenter.default
// Safety: g_main_loop_quit may be called on any thread.
nonisolated(unsafe) let loop = g_main_loop_new(nil, 0)
// The posting threads wait for the loop's own handlers.
let (ticked, idled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
// Safety: used on the main thread only.
nonisolated(unsafe) var (received, lastNumbers) = (0, [0, 0, 0, 0])

let token = center.addObserver(forName: posted, on: .main) { notification in
    guard let number = notification.object as? Int else { return }
    precondition(Thread.isMainThread && number / 4 == lastNumbers[number % 4] + 1, "wrong thread or order")
    lastNumbers[number % 4] += 1
    received += 1
    if received == count { g_main_loop_quit(loop) }
}
for thread in 0..<4 {
    Thread.detachNewThread {
        for number in 1...count / 4 {
            center.post(name: posted, object: number * 4 + thread)
            if number % 100 == 0 { idled.wait() }
            if number % 1000 == 0 { ticked.wait() }
        }
    }
}

let tick: GSourceFunc = { _ in
    ticked.signal()
    return G_SOURCE_CONTINUE
}
let idle: GSourceFunc = { _ in
    idled.signal()
    return G_SOURCE_CONTINUE
}
let drain: GUnixFDSourceFunc = { _, _, descriptor in
    Unmanaged<RunLoopDescriptor>.fromOpaque(descriptor!).takeUnretainedValue().drain()
    return G_SOURCE_CONTINUE
}

try RunLoopDescriptor.run { descriptor in
    g_timeout_add(1, tick, nil)
    g_idle_add(idle, nil)
    let pointer = Unmanaged.passUnretained(descriptor).toOpaque()
    // With a higher priority, a descriptor that stays readable would keep idle handlers from being called.
    let source = g_unix_fd_add_full(G_PRIORITY_DEFAULT_IDLE, descriptor.number, G_IO_IN, drain, pointer, nil)
    g_main_loop_run(loop)
    g_source_remove(source)
}
token.cancel()
print("\(received) notifications in order")
