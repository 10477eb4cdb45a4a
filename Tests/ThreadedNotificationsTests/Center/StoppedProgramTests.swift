import Foundation
import SharedTesting
import Testing
import ThreadedNotifications

/// Programming errors stop the program with a message.
@Suite("Stopped programs", .timeLimit(.minutes(10)))
struct StoppedProgramTests {
    private enum Mistake: String, CaseIterable, Codable {
        case zeroCapacity, incomparableObject, endlessPosts, endlessWaits, actorWithoutThread
        case isolatedToNoThread, laterOnThePostingThread, noDeliveries
        case mainRunLoopElsewhere, endOfPostingThread

        var message: String {
            switch self {
            case .zeroCapacity: "a capacity of 0 holds nothing. It must be at least 1"
            case .incomparableObject: "neither of a class nor Hashable"
            case .endlessPosts: "endless is posted by its own handler, 250 deep"
            case .endlessWaits: "250 deep"
            case .actorWithoutThread: "Roaming is bound to no thread"
            case .isolatedToNoThread: "the actor Unpinned runs on no RunLoopThread"
            case .laterOnThePostingThread: ".postingThread has no mailbox to wait in. Name a thread"
            case .noDeliveries: "0 deliveries deliver nothing. It must be at least 1"
            case .mainRunLoopElsewhere: "which is not the main thread. The main function is async"
            case .endOfPostingThread: "so it has no end"
            }
        }

        func make() async {
            let center = ThreadedNotificationCenter()
            let name = Notification.Name("endless")
            switch self {
            case .zeroCapacity:
                _ = OverflowPolicy.dropOldest(capacity: 0)
            case .incomparableObject:
                struct NotHashable {}
                _ = center.addObserver(forName: name, object: NotHashable(), on: .main) { _ in }
            case .endlessPosts:
                let token = center.addObserver(forName: name, on: .postingThread) { _ in center.post(name: name) }
                center.post(name: name)
                token.cancel()
            case .endlessWaits: waitWithoutEnd(center, name)
            case .actorWithoutThread:
                actor Roaming {
                    var count = 0
                    func observe(_ center: ThreadedNotificationCenter) -> ObserverToken {
                        center.addObserver(forName: nil, on: .current) { _ in self.count += 1 }
                    }
                }
                _ = await Roaming().observe(center)
            case .isolatedToNoThread:
                actor Unpinned {}
                _ = center.addObserver(
                    forName: name, isolatedTo: Unpinned(), transform: { $0.name }, using: { _, _ in })
            case .laterOnThePostingThread:
                _ = center.addObserver(
                    forName: name, on: .postingThread, options: ObserverOptions(sameThread: .later)
                ) { _ in }
            case .noDeliveries: _ = DrainBudget.deliveries(0)
            case .mainRunLoopElsewhere: await MainActor.run { _ = MainRunLoop.run() }
            case .endOfPostingThread: _ = TargetThread.postingThread.addEndObserver(on: .main) { _ in }
            }
        }

        private func waitWithoutEnd(_ center: ThreadedNotificationCenter, _ name: Notification.Name) {
            let token = center.addObserver(forName: name, on: .current) { _ in
                _ = try? center.postAndWait(Notification(name: name), timeout: .seconds(1))
            }
            center.post(name: name)
            token.cancel()
        }
    }

    @Test("wrong options, an incomparable object, endless nesting and an actor without a thread stop the program")
    func mistakes() async {
        for mistake in Mistake.allCases {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                [mistake = mistake as Mistake] in
                await mistake.make()
            }
            let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            if !errors.contains(mistake.message) { Issue.record("\(mistake): \(errors)") }
        }
    }
}
