import Foundation
import Testing
import ThreadedNotifications

/// Tests in a program that links `AsyncMain`, as a target of Swift Testing may do. A test of `AsyncMain` runs them.
@Suite("The main thread in tests", .timeLimit(.minutes(1)))
struct MainThreadTests {
    private let name = Notification.Name("WindowWillClose")

    // example: begin
    @Test func windowClosesOnMain() throws {
        let center = ThreadedNotificationCenter()
        let closing = center.addObserver(forName: name, on: .main) { _ in #expect(Thread.isMainThread) }
        try center.postAndWait(Notification(name: name), timeout: .seconds(5))
        #expect(closing.counters.delivered == 1)
    }
    // example: end

    @Test("a test on the main actor runs on the main thread") @MainActor
    func mainActor() async {
        #expect(ThreadIdentity.current.number == 1)
        await Task.detached {}.value
        #expect(ThreadIdentity.current.number == 1)
    }

    @Test("an exit test keeps its main thread, too")
    func exitTest() async {
        await #expect(processExitsWith: .exitCode(7)) {
            await MainActor.run {
                guard ThreadIdentity.current.number == 1 else { fatalError("on \(ThreadIdentity.current)") }
                _ = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in exit(7) }
            }
            await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
        }
    }
}
