import CLibuv
import Foundation
import RunLoopIntegration
import ThreadedNotifications

// libuv's loop serves the main thread's run loop. Four threads post notifications, which arrive in order
// between the calls of the loop's own timers and idle handlers.

let (count, posted) = (100_000, Notification.Name("posted"))
let center = ThreadedNotificationCenter.default
// Safety: used on the main thread only.
nonisolated(unsafe) let loop = uv_default_loop()
// The posting threads wait for the loop's own handlers.
let (ticked, idled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
// Safety: used on the main thread only.
nonisolated(unsafe) var (received, lastNumbers) = (0, [0, 0, 0, 0])

let token = center.addObserver(forName: posted, on: .main) { notification in
    guard let number = notification.object as? Int else { return }
    precondition(Thread.isMainThread && number / 4 == lastNumbers[number % 4] + 1, "wrong thread or order")
    lastNumbers[number % 4] += 1
    received += 1
    if received == count { uv_stop(loop) }
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

try RunLoopDescriptor.run { descriptor in
    let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    uv_timer_init(loop, timer)
    uv_timer_start(timer, { _ in _ = ticked.signal() }, 1, 1)
    let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
    uv_idle_init(loop, idle)
    uv_idle_start(idle) { _ in _ = idled.signal() }

    let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    uv_poll_init(loop, handle, descriptor.number)
    handle.pointee.data = Unmanaged.passUnretained(descriptor).toOpaque()
    uv_poll_start(handle, CInt(UV_READABLE.rawValue)) { handle, _, _ in
        Unmanaged<RunLoopDescriptor>.fromOpaque(handle!.pointee.data).takeUnretainedValue().drain()
    }
    uv_run(loop, UV_RUN_DEFAULT)
    uv_poll_stop(handle)
}
token.cancel()
print("\(received) notifications in order")
