import CEpoll
import CGLib
import CLibuv
import Dispatch
import Foundation
import RunLoopIntegration
import Synchronization
import ThreadedNotifications

// How long a post to a main loop takes until its handler begins, beside the loop's own call. A thread posts each 100 µs
// or 1 ms, both ways in turn. With the argument `idle`, nothing happens for two seconds.

let posted = Notification.Name("posted")
let center = ThreadedNotificationCenter.default

func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// The times of both ways, in the order of the posts. The other thread posts the next one after this was handled.
final class Times: Sendable {
    let begin = Atomic<UInt64>(0)
    let handled = Atomic<Int>(0)
    let taken = Mutex<[UInt64]>([])

    func handle() {
        let time = now() - begin.load(ordering: .acquiring)
        taken.withLock { $0.append(time) }
        handled.add(1, ordering: .releasing)
    }
}

let times = Times()
let rounds = 2000
let isIdle = CommandLine.arguments.contains("idle")

/// Posts in turn on a thread of its own, and then calls `end` on it.
func startPosting(each interval: Duration, own: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void) {
    times.handled.store(0, ordering: .relaxed)
    times.taken.withLock { $0 = [] }
    Thread.detachNewThread {
        if isIdle { sleep(2) }
        for number in 0..<(isIdle ? 0 : 2 * rounds) {
            var pause = timespec(tv_sec: 0, tv_nsec: Int(interval / .nanoseconds(1)))
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nil)
            times.begin.store(now(), ordering: .releasing)
            if number % 2 == 0 { center.post(name: posted) } else { own() }
            while times.handled.load(ordering: .acquiring) <= number { sched_yield() }
        }
        end()
    }
}

func report(_ loop: String, _ own: String, _ interval: Duration) {
    let taken = times.taken.withLock { $0 }
    if taken.isEmpty { return print(loop, "idle") }
    func quantile(_ first: Int, _ part: Double) -> Double {
        let sorted = stride(from: first, to: taken.count, by: 2).map { taken[$0] }.sorted()
        return Double(sorted[Int(Double(sorted.count - 1) * part)]) / 1000
    }
    let (post, other) = (quantile(0, 0.5), quantile(1, 0.5))
    print(
        String(
            format: "%@, each %@: post %.1f µs (p99 %.1f), %@ %.1f µs (p99 %.1f), ratio %.2f", loop, "\(interval)",
            post, quantile(0, 0.99), own, other, quantile(1, 0.99), post / other))
}

let token = center.addObserver(forName: posted, on: .main) { _ in times.handle() }

func glib(_ descriptor: RunLoopDescriptor, _ interval: Duration) {
    // Safety: g_main_loop_quit may be called on any thread.
    nonisolated(unsafe) let loop = g_main_loop_new(nil, 0)
    let drain: GUnixFDSourceFunc = { _, _, descriptor in
        Unmanaged<RunLoopDescriptor>.fromOpaque(descriptor!).takeUnretainedValue().drain()
        return 1
    }
    let source = g_unix_fd_add(descriptor.number, G_IO_IN, drain, Unmanaged.passUnretained(descriptor).toOpaque())
    let call: GSourceFunc = { _ in
        times.handle()
        return 0
    }
    startPosting(each: interval) {
        g_main_context_invoke(nil, call, nil)
    } end: {
        g_main_loop_quit(loop)
    }
    g_main_loop_run(loop)
    g_source_remove(source)
}

func libuv(_ descriptor: RunLoopDescriptor, _ interval: Duration) {
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    uv_loop_init(loop)
    let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    uv_poll_init(loop, handle, descriptor.number)
    handle.pointee.data = Unmanaged.passUnretained(descriptor).toOpaque()
    uv_poll_start(handle, CInt(UV_READABLE.rawValue)) { handle, _, _ in
        Unmanaged<RunLoopDescriptor>.fromOpaque(handle!.pointee.data).takeUnretainedValue().drain()
    }
    // Safety: uv_async_send may be called on any thread, and only that is.
    nonisolated(unsafe) let (call, stop) = (
        UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1), UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    )
    uv_async_init(loop, call) { _ in times.handle() }
    uv_async_init(loop, stop) { uv_stop($0!.pointee.loop) }
    startPosting(each: interval) {
        uv_async_send(call)
    } end: {
        uv_async_send(stop)
    }
    uv_run(loop, UV_RUN_DEFAULT)
    uv_poll_stop(handle)
}

func epoll(_ descriptor: RunLoopDescriptor, _ interval: Duration) {
    let (set, call, stop) = (epoll_create1(0), eventfd(0, 0), eventfd(0, 0))
    for member in [descriptor.number, call, stop] { EpollAdd(set, member) }
    startPosting(each: interval) {
        eventfd_write(call, 1)
    } end: {
        eventfd_write(stop, 1)
    }
    var count: eventfd_t = 0
    while true {
        switch EpollWait(set, -1) {
        case descriptor.number: descriptor.drain()
        case call:
            eventfd_read(call, &count)
            times.handle()
        case stop: return
        default: break
        }
    }
}

for _ in 1...(isIdle ? 1 : 3) {
    for interval in [Duration.microseconds(100), .milliseconds(1)] {
        try RunLoopDescriptor.run { glib($0, interval) }
        report("GLib", "g_main_context_invoke", interval)
        try RunLoopDescriptor.run { libuv($0, interval) }
        report("libuv", "uv_async_send", interval)
        try RunLoopDescriptor.run { epoll($0, interval) }
        report("epoll", "eventfd", interval)
    }
}
token.cancel()
