import CLinux
import Dispatch
import Foundation
import Glibc
import PostingQueues
import ThreadedNotifications

/// Programs that fork. A copy that hangs is ended by SIGALRM.
struct Forks {
    private static let posted = Notification.Name("Posted")

    private let center = ThreadedNotificationCenter()
    private let worker = RunLoopThread(name: "worker")

    init() throws {
        try worker.start()
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
            switch error.code {
            case .threadStopped: return "threadStopped"
            case .threadEnded: return "threadEnded"
            case .notDeliveredInTime: return "notDeliveredInTime"
            default: return "\(error)"
            }
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
            print("perform(after:):", code { try worker.perform(after: .zero) {} })
            print("waitUntilFinished:", code { try worker.waitUntilFinished(timeout: .seconds(20)) })
            print("isStopping:", worker.isStopping)
            let end = worker.addEndObserver(on: .postingThread) { print("end:", $0) }
            withExtendedLifetime(end) {}
            let new = RunLoopThread(name: "new")
            try new.start()
            let (ofCopy, name) = (ThreadedNotificationCenter(), Notification.Name("In the copy"))
            let other = ofCopy.addObserver(forName: name, on: new) { _ in }
            print("new thread:", try ofCopy.postAndWait(Notification(name: name), timeout: .seconds(20)))
            let performed = DispatchSemaphore(value: 0)
            try new.perform(after: .milliseconds(1)) { performed.signal() }
            try TargetThread.postingThread.perform(after: .milliseconds(1)) { performed.signal() }
            print("delayed:", [1, 2].map { _ in performed.wait(timeout: .now() + 20) == .success })
            withExtendedLifetime(other) {}
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

    func forkInHandler() throws {
        let (copy, isOver) = (Number(), DispatchSemaphore(value: 0))
        let main = center.addObserver(forName: Self.posted, on: .main) { _ in }
        try worker.perform {
            fflush(nil)
            let process = CLinuxFork()
            copy.value = process
            if process == 0 {
                alarm(60)
                let performed = code { try MainThread.main.perform {} }
                print(center.post(name: Self.posted), ThreadIdentity.current.name ?? "", performed)
            }
            // Both go on with their run loops.
            exchange(with: worker) {
                if process == 0 {
                    print("copy is over")
                    Glibc.exit(0)
                }
                isOver.signal()
            }
        }
        isOver.wait()
        print(wait(for: copy.value))
        withExtendedLifetime(main) {}
    }

    func forkAndRun() throws {
        // The main thread's run loop has run.
        try MainThread.main.performLater { MainRunLoop.stop() }
        MainActor.assumeIsolated { _ = MainRunLoop.run() }
        func runMain() {
            let count = Number()
            let timer = Timer.scheduledTimer(withTimeInterval: 0.002, repeats: true) { _ in
                count.value += 1
            }
            let isExchanged = Number()
            exchange(with: .main) { isExchanged.value = 1 }
            MainActor.assumeIsolated {
                _ = MainRunLoop.run {
                    isExchanged.value == 1 && count.value > 20
                }
            }
            timer.invalidate()
        }
        let copy = inCopy {
            runMain()
            print("copy is over")
        }
        runMain()
        print(wait(for: copy))
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

    func forkWhilePosting() throws {
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
        for _ in 0...100 {
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
