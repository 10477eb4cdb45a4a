import CEpoll
import Foundation
import RunLoopIntegration
import ThreadedNotifications

// A loop around epoll_wait serves the main thread's run loop. Four threads post notifications, which arrive in order
// between the calls of the loop's own timers and idle handlers.

let (count, posted) = (100_000, Notification.Name("posted"))
let center = ThreadedNotificationCenter.default
// The posting threads wait for the loop's own handlers.
let (ticked, idled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
// Safety: used on the main thread only.
nonisolated(unsafe) var (received, lastNumbers) = (0, [0, 0, 0, 0])

let token = center.addObserver(forName: posted, on: .main) { notification in
    guard let number = notification.object as? Int else { return }
    precondition(Thread.isMainThread && number / 4 == lastNumbers[number % 4] + 1, "wrong thread or order")
    lastNumbers[number % 4] += 1
    received += 1
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
    let (set, timer) = (epoll_create1(0), timerfd_create(CLOCK_MONOTONIC, 0))
    let period = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    var time = itimerspec(it_interval: period, it_value: period)
    timerfd_settime(timer, 0, &time, nil)
    for member in [timer, descriptor.number] { EpollAdd(set, member) }
    while received < count {
        switch EpollWait(set, 0) {
        case descriptor.number:
            descriptor.drain()
        case timer:
            var expirations: UInt64 = 0
            read(timer, &expirations, 8)
            ticked.signal()
        default:
            idled.signal()
        }
    }
    close(set)
    close(timer)
}
token.cancel()
print("\(received) notifications in order")
