import Foundation
import Testing

@testable import ThreadedNotifications

/// The process of an exit test has an `async` main function, so its main thread has ended.
@Suite("The main thread's end", .timeLimit(.minutes(1)))
struct MainThreadEndTests {
    @Test(
        "after the main thread has ended, notifications for it are targetGone, nothing stops, and one warning is printed"
    )
    func ended() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let center = ThreadedNotificationCenter()
            let name = Notification.Name("posted")
            let onMain = center.addObserver(forName: name, on: .main) { _ in Issue.record("called") }
            let isolated = center.addObserver(
                forName: name, isolatedTo: MainActor.shared, transform: { $0.name },
                using: { _ in Issue.record("called") })
            center.post(name: name)
            // The question whether the main thread has ended precedes this in the main queue.
            await MainActor.run {
                let current = center.addObserver(forName: name, on: .current) { _ in Issue.record("called") }
                #expect(center.post(name: name) == DeliveryCounters(targetGone: 3))
                current.cancel()
            }
            #expect(onMain.counters == DeliveryCounters(targetGone: 2))
            #expect(isolated.counters == DeliveryCounters(targetGone: 2))
            #expect(throws: DeliveryError.threadStopped(thread: "main")) { try TargetThread.main.perform {} }
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.components(separatedBy: MainThreadEnd.warning).count == 2, "\(errors)")
    }
}
