import Foundation
import Testing
import ThreadedNotifications

@Suite("Without a descriptor", .timeLimit(.minutes(2)))
struct NoDescriptorTests {
    @Test("what is idle is posted also if the system has no descriptor left")
    func idle() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let worker = Thread {
                let name = Notification.Name("idle")
                let center = NotificationCenter()
                let queue = PostingQueue(center: center)
                // What is idle keeps no run loop from returning.
                RunLoop.current.add(SignalPort(), forMode: .default)
                queue.enqueue(Notification(name: name), postingStyle: .asap)
                // The run loop has made its own.
                _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                while dup(0) >= 0 {}
                let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
                    // A handler that runs the run loop gets what is enqueued meanwhile.
                    if queue.counts.enqueued > 2 { exit(7) }
                    queue.enqueue(Notification(name: name), postingStyle: .asap)
                    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 10))
                    exit(1)
                }
                queue.enqueue(Notification(name: name), postingStyle: .whenIdle)
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 10))
                center.removeObserver(token)
                exit(2)
            }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = min(limit.rlim_cur, 256)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            worker.start()
            while true { sleep(10) }
        }
    }
}
