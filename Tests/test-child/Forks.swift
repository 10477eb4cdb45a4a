import CLinux
import CoreFoundation
import Dispatch
import Foundation
import Glibc
import PostingQueues
import ThreadedNotifications

/// Programs that fork. A copy that hangs is ended by SIGALRM.
struct Forks {
    private static let posted = Notification.Name("Posted")

    private let center = ThreadedNotificationCenter()
    let worker = RunLoopThread(name: "worker")

    init() throws {
        try worker.start()
        // Both threads have done what they will do during a fork: Swift's runtime has locks that are taken only the
        // first time, and that stay locked in the copy.
        for _ in 1...2 {
            try worker.performAndWait(timeout: .seconds(20)) {}
            try MainThread.main.performLater { MainRunLoop.stop() }
            MainActor.assumeIsolated { _ = MainRunLoop.run() }
        }
    }

    /// Runs `body` in a copy of the process.
    private func inCopy(_ body: () throws -> Void) -> pid_t {
        fflush(nil)
        let copy = CLinuxFork()
        guard copy == 0 else { return copy }
        alarm(60)
        do {
            try body()
        } catch {
            print("\(error)")
        }
        Glibc.exit(0)
    }

    private func wait(for copy: pid_t) -> String {
        var status: Int32 = 0
        waitpid(copy, &status, 0)
        return "copy: \(status)"
    }

    private func code(_ body: () throws -> some Any) -> String {
        do { return "\(try body())" } catch let error as DeliveryError {
            // Such as Code(name: "threadStopped").
            return "\(error.code)".split(separator: "\"").dropFirst().first.map(String.init) ?? "\(error)"
        } catch { return "\(error)" }
    }

    func fork() throws {
        let token = center.addObserver(forName: Self.posted, on: worker) { _ in }
        let here = center.addObserver(forName: Self.posted, on: .current) { _ in }
        let queue = PostingQueue(center: center, on: worker)
        let delayed = try CurrentThread.current.perform(after: .seconds(3600)) {}
        try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20))
        let copy = inCopy {
            print("cancel:", delayed.cancel())
            print("post:", center.post(name: Self.posted))
            print("enqueue:", queue.enqueue(Notification(name: Self.posted), postingStyle: .asap))
            let waited = code { try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20)) }
            print("postAndWait:", waited)
            print("perform:", code { try worker.perform {} })
            print("performAndWait:", code { try worker.performAndWait(timeout: .seconds(20)) {} })
            print("waitUntilFinished:", code { try worker.waitUntilFinished(timeout: .seconds(20)) })
            let end = worker.addEndObserver(on: .postingThread) { print("end:", $0) }
            let new = RunLoopThread(name: "new")
            try new.start()
            let performed = DispatchSemaphore(value: 0)
            try new.perform(after: .milliseconds(1)) { performed.signal() }
            try TargetThread.postingThread.perform(after: .milliseconds(1)) { performed.signal() }
            print("delayed:", [1, 2].map { _ in performed.wait(timeout: .now() + 20) == .success })
            withExtendedLifetime(end) {}
        }
        print(wait(for: copy))
        print("parent:", try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20)))
        withExtendedLifetime((token, here)) {}
    }

    func forkInWait() throws {
        let (begun, resume, copy) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Number())
        let token = center.addObserver(forName: Self.posted, on: worker) { _ in
            begun.signal()
            resume.wait()
        }
        let here = center.addObserver(forName: Self.posted, on: .current) { _ in
            // Until then the worker may hold a lock of Swift's runtime, which stays locked in the copy.
            _ = begun.wait(timeout: .now() + 10)
            fflush(nil)
            copy.value = CLinuxFork()
            if copy.value == 0 { alarm(60) } else { resume.signal() }
        }
        let result = code { try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20)) }
        if copy.value == 0 {
            print(result)
            Glibc.exit(0)
        }
        print(wait(for: copy.value))
        print(result)
        withExtendedLifetime((token, here)) {}
    }

    /// Forks in a block on a thread whose run loop goes on in both processes.
    func forkInBlock(on thread: some DeliveryTarget) throws {
        let copy = Number()
        let main = center.addObserver(forName: Self.posted, on: .main) { _ in }
        try thread.targetThread.perform {
            fflush(nil)
            let process = CLinuxFork()
            copy.value = process
            if process == 0 {
                alarm(60)
                if ThreadIdentity.current.number != 1 { print(center.post(name: Self.posted)) }
            }
            exchange(with: thread) {
                // Not before: it would wake a thread that misses what wakes it.
                let ticks = Number()
                let timer = Timer(timeInterval: 0.002, repeats: true) { _ in
                    ticks.value += 1
                    if ticks.value == 20 { CFRunLoopStop(CFRunLoopGetCurrent()) }
                }
                RunLoop.current.add(timer, forMode: .common)
                while ticks.value < 20 { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
                if process == 0 {
                    print("copy is over")
                    Glibc.exit(0)
                }
                MainRunLoop.stop()
            }
        }
        MainActor.assumeIsolated { _ = MainRunLoop.run() }
        print(wait(for: copy.value))
        withExtendedLifetime(main) {}
    }

    /// A new thread and another one take turns 500 times; each waits while it is the other's turn.
    private func exchange(with thread: some DeliveryTarget, _ whenOver: @escaping @Sendable () -> Void) {
        let new = RunLoopThread(name: "new")
        try? new.start()
        @Sendable func turn(_ left: Int32) {
            try? new.perform { try? thread.targetThread.perform { left == 0 ? whenOver() : turn(left - 1) } }
        }
        turn(500)
    }

    func forkWhilePosting(rounds: Int = 40) throws {
        let tokens = [
            center.addObserver(forName: Self.posted, on: .main) { _ in },
            center.addObserver(forName: Self.posted, on: worker) { _ in },
        ]
        // Each permits a round. So the threads post while the main thread forks, and not much more than that.
        let (permits, round) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 1...3 {
            Thread.detachNewThread {
                while true {
                    permits.wait()
                    center.post(name: Self.posted)
                    // Finding observers takes the center's lock.
                    center.addObserver(forName: Self.posted, on: .postingThread) { _ in }.cancel()
                    PostingQueue(center: center, on: .main).enqueue(
                        Notification(name: Notification.Name("Queued")), postingStyle: .asap)
                    round.signal()
                }
            }
        }
        func permit(_ rounds: Int) { for _ in 1...rounds { permits.signal() } }
        func finish(_ rounds: Int) { for _ in 1...rounds { round.wait() } }
        // Nothing is used for the first time during a fork: the runtime's own locks are not taken to the copy.
        permit(200)
        finish(200)
        var failures = 0
        for _ in 1...rounds {
            permit(50)
            let copy = inCopy {
                for _ in 1...3 {
                    _ = RunLoop.main.run(mode: .default, before: .distantPast)
                    center.addObserver(forName: Self.posted, on: .postingThread) { _ in }.cancel()
                    if center.post(name: Self.posted).targetGone != 1 { abort() }
                }
                _exit(0)
            }
            if wait(for: copy) != "copy: 0" { failures += 1 }
            _ = RunLoop.main.run(mode: .default, before: .distantPast)
            finish(50)
        }
        print("failures:", failures)
        Glibc.exit(withExtendedLifetime(tokens) { 0 })
    }
}
