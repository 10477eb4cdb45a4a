import Foundation
import Testing

@testable import ThreadedNotifications

/// The process of an exit test has an `async` main function and does not link `AsyncMain`, so its main thread has
/// ended.
@Suite("The main thread's end", .timeLimit(.minutes(1)))
struct MainThreadEndTests {
    @Test("after the main thread has ended, its end is told, later posts are targetGone, and one warning is printed")
    func ended() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            await Self.postToTheMainThread()
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        if errors.components(separatedBy: MainThreadEnd.warning).count != 2 { Issue.record("\(errors)") }
    }

    private static func postToTheMainThread() async {
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("posted")
        let onMain = center.addObserver(forName: name, on: .main) { _ in preconditionFailure("called") }
        let isolated = center.addObserver(
            forName: name, isolatedTo: MainActor.shared, transform: { $0.name },
            using: { _, _ in preconditionFailure("called") })
        let ends = Locked<[ThreadEnd]>([])
        let ending = MainThread.main.addEndObserver(on: .postingThread) { end in ends.withLock { $0.append(end) } }
        center.post(name: name)
        // The block that finds out whether the main thread has ended precedes this one in the main queue.
        await MainActor.run {
            let current = center.addObserver(forName: name, on: .current) { _ in preconditionFailure("called") }
            precondition(center.post(name: name) == DeliveryCounters(targetGone: 3))
            current.cancel()
        }
        precondition(onMain.counters == DeliveryCounters(targetGone: 2))
        precondition(isolated.counters == DeliveryCounters(targetGone: 2))
        precondition(ends.withLock { $0.map(\.name) } == ["main"] && ending.counters.delivered == 1)
        precondition(MainThread.main.isStopping)
        do throws(DeliveryError) {
            try MainThread.main.perform {}
            preconditionFailure("a block was accepted")
        } catch {
            precondition(error == .threadStopped(thread: "main"), "\(error)")
        }
    }
}
