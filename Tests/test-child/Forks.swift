import CLinux
import Dispatch
import Foundation
import Glibc
import PostingQueues
import ThreadedNotifications

/// A program that forks while its other thread is in a block, and so holds no lock; the copy posts for that thread, and
/// waits for it. Then a thread forks that has not used the package. A copy that hangs is ended by SIGALRM.
struct Forks {
    private static let posted = Notification.Name("Posted")

    private let center = ThreadedNotificationCenter()
    private let worker = RunLoopThread(name: "worker")

    func run() throws {
        try worker.start()
        let token = center.addObserver(forName: Self.posted, on: worker) { _ in }
        let here = center.addObserver(forName: Self.posted, on: .current) { _ in }
        let queue = PostingQueue(center: center, on: worker)
        try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20))
        let (isInBlock, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try worker.perform {
            isInBlock.signal()
            mayReturn.wait()
        }
        isInBlock.wait()
        fflush(nil)
        let copy = CLinuxFork()
        if copy == 0 {
            alarm(60)
            print("post:", center.post(name: Self.posted))
            print("enqueue:", queue.enqueue(Notification(name: Self.posted), postingStyle: .asap))
            let waited = code { try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20)) }
            print("postAndWait:", waited)
            print("perform:", code { try worker.perform {} })
            print("performAndWait:", code { try worker.performAndWait(timeout: .seconds(20)) {} })
            print("waitUntilFinished:", code { try worker.waitUntilFinished(timeout: .seconds(20)) })
            Glibc.exit(0)
        }
        var status: Int32 = 0
        waitpid(copy, &status, 0)
        print("copy:", status)
        let hasForked = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [center] in
            fflush(nil)
            if CLinuxFork() == 0 {
                alarm(60)
                print("post on a new thread:", center.post(name: Self.posted))
                Glibc.exit(0)
            }
            wait(nil)
            hasForked.signal()
        }
        hasForked.wait()
        mayReturn.signal()
        print("parent:", try center.postAndWait(Notification(name: Self.posted), timeout: .seconds(20)))
        withExtendedLifetime((token, here)) {}
    }

    private func code(_ body: () throws -> some Any) -> String {
        do { return "\(try body())" } catch let error as DeliveryError {
            // Such as Code(name: "threadStopped").
            return "\(error.code)".split(separator: "\"").dropFirst().first.map(String.init) ?? "\(error)"
        } catch { return "\(error)" }
    }
}
