import Foundation
import Glibc
import PostingQueues
import ThreadedNotifications

/// Posts in a `deinit`, with the object itself.
struct DeinitPosts {
    private static let gone = Notification.Name("Gone")

    private let center = ThreadedNotificationCenter(capturing: .default)
    private let worker = RunLoopThread(name: "worker")

    /// Calls a block when it is deallocated.
    private final class Ending {
        private let end: (Ending) -> Void

        init(_ end: @escaping (Ending) -> Void) {
            self.end = end
        }

        deinit { end(self) }
    }

    private struct Closed: NotificationCenter.AsyncMessage, NotificationConvertible {
        typealias Subject = Ending
        static var name: Notification.Name { DeinitPosts.gone }
    }

    private func observe(
        _ label: String, on thread: some DeliveryTarget, _ options: ObserverOptions = ObserverOptions()
    ) -> ObserverToken {
        center.addObserver(forName: Self.gone, on: thread, options: options) { notification in
            print(label, notification.object == nil ? "without object" : "with object")
        }
    }

    func run(_ program: DeliveryChild) throws {
        try worker.start()
        switch program {
        case .deinitElsewhere:
            let token = observe("worker", on: worker)
            for _ in 1...2 { _ = Ending { center.post(name: Self.gone, object: $0) } }
            try finish()
            print(token.counters)
        case .deinitLatest:
            let latest = ObserverOptions(receivesLatest: true)
            let keeping = observe("here", on: .postingThread, latest)
            _ = Ending { center.post(name: Self.gone, object: $0) }
            let token = observe("worker", on: worker, latest)
            keeping.cancel()
            try finish()
            print(token.counters)
        case .deinitBounded:
            let tokens = [
                OverflowPolicy.keepLatest, .dropOldest(capacity: 1), .dropNewest(capacity: 1), .refuse(capacity: 1),
            ].map { observe("\($0)", on: worker, ObserverOptions(overflow: $0)) }
            _ = Ending { center.post(name: Self.gone, object: $0) }
            try finish()
            print(tokens.map(\.counters.delivered))
        case .deinitWait:
            let token = observe("worker", on: worker)
            _ = Ending { object in
                do {
                    print(
                        try center.postAndWait(
                            Notification(name: Self.gone, object: object), timeout: .seconds(20)))
                } catch {
                    print(error)
                }
            }
            token.cancel()
            try finish()
        case .deinitHere:
            let nested = center.addObserver(forName: Self.gone, on: .current) { _ in
                print("nested", RunLoop.current.run(mode: .default, before: .distantPast))
            }
            let tokens = [
                observe("ordered", on: .current), observe("ordered", on: .current),
                observe("later", on: .current, ObserverOptions(sameThread: .later)),
            ]
            _ = Ending { center.post(name: Self.gone, object: $0) }
            nested.cancel()
            _ = RunLoop.current.run(mode: .default, before: .distantPast)
            // The next one waits behind another notification.
            try MainThread.main.performLater {}
            _ = Ending { center.post(name: Self.gone, object: $0) }
            _ = RunLoop.current.run(mode: .default, before: .distantPast)
            print(tokens.map(\.counters.delivered))
        case .deinitMessage:
            let token = observe("worker", on: worker)
            _ = Ending { center.post(Closed(), subject: $0) }
            try finish()
            print(token.counters)
        case .deinitEnqueue:
            let token = observe("main", on: .current)
            let queue = PostingQueue(center: center)
            for style in [NotificationQueue.PostingStyle.asap, .now] {
                _ = Ending {
                    queue.enqueue(
                        Notification(name: Self.gone, object: $0), postingStyle: style, coalesceMask: [])
                }
            }
            _ = RunLoop.current.run(mode: .default, before: .distantPast)
            print(token.counters)
        case .deinitFoundation:
            let token = observe("worker", on: worker)
            let redirecting = RedirectingObserver { print("redirected", $0.object == nil ? "without" : "with") }
            try worker.perform { redirecting.setUpThreadingSupport() }
            try worker.performAndWait(timeout: .seconds(20)) {}
            let old = NotificationCenter.default.addObserver(forName: Self.gone, object: nil, queue: nil) {
                redirecting.processNotification($0)
            }
            _ = Ending { NotificationCenter.default.post(name: Self.gone, object: $0) }
            NotificationCenter.default.removeObserver(old)
            try finish()
            print(token.counters)
        default: fatalError("no such program")
        }
    }

    /// Delivers what waits for the worker, and ends it.
    private func finish() throws {
        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(20))
    }
}
