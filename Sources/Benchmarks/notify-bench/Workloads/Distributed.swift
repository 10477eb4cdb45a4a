internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// Workloads that post through a server in another process, to observers on other connections of this one.
enum Distributed {
    static let name = Notification.Name("benchmark")
    /// Chosen so that the frame of a delivered notification has `WireObservers.frameSize` bytes.
    private static let userInfo: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 146))]
    /// The number of posts that may wait. It is lower than the number that the server keeps for an observer before it
    /// drops some.
    private static let window = 2048

    static func posts(observers: Int) -> Workload {
        Workload(
            name: "distributed-\(observers)", summary: "post 200 bytes through a server, \(observers) observing",
            unit: "ns per notification", operations: 1000...10_000_000, quickOperations: 10...1_000,
            contenders: contenders(observers) { operations, post in
                try Sample.timing(operations) {
                    for begin in stride(from: 0, to: operations, by: window) {
                        try post(min(window, operations - begin))
                    }
                }
            })
    }

    static func roundTrip(observers: Int) -> Workload {
        Workload(
            name: "distributed-round-trip-\(observers)",
            summary: "post 200 bytes until the last of \(observers) has them, one at a time",
            unit: "ns per round trip", operations: 100...100_000, quickOperations: 10...1_000,
            contenders: contenders(observers) { operations, post in
                try Sample.timingEach(operations) { try post(1) }
            })
    }

    /// - Parameter measure: gets the number of operations, and a function that posts so many and waits until all were
    ///   handled.
    private static func contenders(
        _ count: Int, measure: @escaping @Sendable (Int, (Int) throws -> Void) throws -> Sample
    ) -> [Contender] {
        [("wire", wire), ("center", center), ("center, another thread", otherThread)].map { name, observe in
            Contender(name) { conditions in
                let directory = try ServerDirectory.temporary()
                do {
                    let (arrivals, timeout) = (Arrivals(targets: count), conditions.timeout)
                    let poster = try DistributedCenter(directory: directory)
                    // The server has started.
                    try poster.synchronize(timeout: timeout)
                    let end = try observe(directory, arrivals.handlers, timeout)
                    return Subject {
                        // The server ends when its directory is gone.
                        directory.remove()
                        poster.close()
                        try end()
                    } measure: { operations in
                        try measure(operations) { count in
                            arrivals.expect(count)
                            for _ in 0..<count { try poster.post(name: Self.name, userInfo: userInfo) }
                            try arrivals.wait(timeout: timeout)
                            try arrivals.check(count)
                        }
                    }
                } catch {
                    directory.remove()
                    throw error
                }
            }
        }
    }

    /// Observes, and returns what ends that.
    private typealias Observing =
        @Sendable (ServerDirectory, [Channel.Handler], Duration) throws -> () throws -> Void

    /// A connection for each handler, without a center. One thread reads all.
    private static let wire: Observing = { directory, handlers, timeout in
        // Safety: only the new thread uses it from now on.
        nonisolated(unsafe) let observers = try WireObservers(handlers.count, at: directory, timeout: timeout)
        guard let end = EventDescriptor() else { throw BenchmarkError.notMade("an event", code: errno) }
        Thread.detachNewThread {
            observers.count(until: end.number) { observer, count in for _ in 0..<count { handlers[observer]() } }
        }
        return { end.makeReady() }
    }

    /// A center with handlers that its reading thread calls.
    private static let center: Observing = { directory, handlers, timeout in
        try observe(with: handlers, on: TargetThread.postingThread, at: directory, timeout)
    }

    /// A center with handlers that are all called on one other thread.
    private static let otherThread: Observing = { directory, handlers, timeout in
        let thread = try RunLoopThread.started()
        let end = try observe(with: handlers, on: thread.targetThread, at: directory, timeout)
        return {
            try end()
            try thread.end()
        }
    }

    private static func observe(
        with handlers: [Channel.Handler], on thread: TargetThread, at directory: ServerDirectory, _ timeout: Duration
    ) throws -> () throws -> Void {
        let center = try DistributedCenter(directory: directory)
        let tokens = try handlers.map { handler in
            try center.addObserver(forName: name, on: thread) { _ in handler() }
        }
        try center.synchronize(timeout: timeout)
        return {
            for token in tokens { token.cancel() }
            center.close()
        }
    }
}

extension ServerDirectory {
    fileprivate static func temporary() throws(BenchmarkError) -> ServerDirectory {
        var template = Array("/tmp/notify-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .notMade("a directory in /tmp", code: errno) }
        return ServerDirectory(
            path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    fileprivate func remove() { try? FileManager.default.removeItem(atPath: path) }
}
