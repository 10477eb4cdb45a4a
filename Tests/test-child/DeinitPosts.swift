import Foundation
import PostingQueues
import ThreadedNotifications

/// Posts in a `deinit`, with the object itself, in every way. The last way is Foundation's, whose order is random.
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

    /// Posts for observers until the worker and this thread have delivered what waits.
    private func post(for tokens: ObserverToken..., in body: (Ending) -> Void) throws {
        withoutActuallyEscaping(body) { _ = Ending($0) }
        try deliver()
        for token in tokens { token.cancel() }
    }

    private func deliver() throws {
        try worker.performAndWait(timeout: .seconds(20)) {}
        _ = RunLoop.current.run(mode: .default, before: .distantPast)
    }

    func run() throws {
        try worker.start()
        try post(for: observe("elsewhere", on: worker)) { center.post(name: Self.gone, object: $0) }
        for policy in [OverflowPolicy.keepLatest, .dropOldest(capacity: 1), .refuse(capacity: 1)] {
            let token = observe("bounded", on: worker, ObserverOptions(overflow: policy))
            try post(for: token) { center.post(name: Self.gone, object: $0) }
        }
        try post(for: observe("waited for", on: worker)) { object in
            let notification = Notification(name: Self.gone, object: object)
            do { print(try center.postAndWait(notification, timeout: .seconds(20))) } catch { print(error) }
        }
        try post(for: observe("message", on: worker)) { center.post(Closed(), subject: $0) }
        let queue = PostingQueue(center: center)
        for style in [NotificationQueue.PostingStyle.asap, .now] {
            try post(for: observe("enqueued", on: .current)) {
                queue.enqueue(Notification(name: Self.gone, object: $0), postingStyle: style, coalesceMask: [])
            }
        }

        let latest = ObserverOptions(receivesLatest: true)
        let keeping = observe("keeping", on: .postingThread, latest)
        try post { center.post(name: Self.gone, object: $0) }
        let late = observe("late", on: worker, latest)
        try deliver()
        for token in [keeping, late] { token.cancel() }

        let nested = center.addObserver(forName: Self.gone, on: .current) { _ in
            print("nested", RunLoop.current.run(mode: .default, before: .distantPast))
        }
        let tokens = [observe("ordered", on: .current), observe("later", on: .current, .init(sameThread: .later))]
        try post(for: nested) { center.post(name: Self.gone, object: $0) }
        // The next one waits behind another delivery.
        try MainThread.main.performLater {}
        try post(for: tokens[0], tokens[1]) { center.post(name: Self.gone, object: $0) }

        let redirecting = RedirectingObserver { notification in
            print("redirected", notification.object == nil ? "without object" : "with object")
        }
        try worker.performAndWait(timeout: .seconds(20)) { redirecting.setUpThreadingSupport() }
        let old = NotificationCenter.default.addObserver(forName: Self.gone, object: nil, queue: nil) {
            redirecting.processNotification($0)
        }
        let captured = observe("captured", on: worker)
        _ = Ending { NotificationCenter.default.post(name: Self.gone, object: $0) }
        NotificationCenter.default.removeObserver(old)
        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(20))
        captured.cancel()
    }
}
