internal import Foundation
internal import ThreadedNotifications

/// Posts with content: a message, or a notification with a userInfo dictionary.
enum TypedPosts {
    static let sameThread = Workload(
        name: "typed-post", summary: "post a message on the thread that handles, 1 observer",
        unit: .nanoseconds(per: "message"), control: "closure call", operations: 100...10_000_000,
        quickOperations: 10...10_000,
        contenders: [
            Contender("closure call") { _ in ClosureCalls(1) },
            Contender("ThreadedNotificationCenter") { _ in PostsHere(message) },
            Contender("…, MainActorMessage") { _ in PostsHere(mainActorMessage) },
            Contender("…, a notification") { _ in PostsHere(notification) },
            Contender("…, userInfo") { _ in PostsHere(userInfo) },
            Contender("NotificationCenter") { _ in PostsHere(foundationMessage) },
        ])

    static let otherThread = Workload(
        name: "typed-burst", summary: "1 thread posts messages to one other thread",
        unit: .nanoseconds(per: "message"), control: "C queue",
        contenders: [
            Contender("C queue") { try ControlBurst(posters: 1, $0) },
            Contender("ThreadedNotificationCenter") { try BurstSubject(posters: 1, $0, through: messages) },
            Contender("…, a notification") { try BurstSubject(posters: 1, $0, through: Channel.ours) },
            Contender("…, userInfo and transform") { try BurstSubject(posters: 1, $0, through: userInfos) },
        ])

    fileprivate final class Subject: Sendable {}

    fileprivate struct Numbered: NotificationCenter.AsyncMessage {
        typealias Subject = TypedPosts.Subject
        let number: Int
    }

    fileprivate struct Counted: NotificationCenter.MainActorMessage {
        typealias Subject = TypedPosts.Subject
        let number: Int
    }

    private static let name = Notification.Name("benchmark")

    // MARK: The same thread

    private static func message(_ count: CallCount) -> PostsHere.Posting {
        // Safety: handlers on the posting thread must be Sendable, and this thread is the only one that posts.
        nonisolated(unsafe) let count = count
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(for: Numbered.self, on: .postingThread) { count.count($0.number) }
        return PostsHere.Posting(post: { center.post(Numbered(number: 1)) }, end: { token.cancel() })
    }

    private static func mainActorMessage(_ count: CallCount) -> PostsHere.Posting {
        // Safety: the measuring thread is the main thread.
        nonisolated(unsafe) let count = count
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(for: Counted.self) { count.count($0.number) }
        return PostsHere.Posting(
            post: { MainActor.assumeIsolated { _ = center.post(Counted(number: 1)) } }, end: { token.cancel() })
    }

    private static func notification(_ count: CallCount) -> PostsHere.Posting {
        // Safety: as above.
        nonisolated(unsafe) let count = count
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: name, on: .postingThread) { _ in count.count() }
        return PostsHere.Posting(post: { center.post(name: name) }, end: { token.cancel() })
    }

    private static func userInfo(_ count: CallCount) -> PostsHere.Posting {
        // Safety: as above.
        nonisolated(unsafe) let count = count
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: name, on: .postingThread) { notification in
            count.count(notification.userInfo?["number"] as? Int ?? 0)
        }
        return PostsHere.Posting(
            post: { center.post(name: name, userInfo: ["number": 1]) }, end: { token.cancel() })
    }

    private static func foundationMessage(_ count: CallCount) -> PostsHere.Posting {
        // Safety: the measuring thread is the main thread.
        nonisolated(unsafe) let count = count
        let center = NotificationCenter()
        let token = center.addObserver(of: Subject.self, for: NotificationCenter.BaseMessageIdentifier<Counted>()) {
            count.count($0.number)
        }
        return PostsHere.Posting(
            post: { MainActor.assumeIsolated { center.post(Counted(number: 1)) } },
            end: { center.removeObserver(token) })
    }

    // MARK: Another thread

    private static func messages(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        try channel(arrivals, conditions) { center, target, thread in
            center.addObserver(for: Numbered.self, on: thread) { message in
                for _ in 0..<message.number { target.arrive() }
            }
        } post: { center in
            center.post(Numbered(number: 1))
        }
    }

    private static func userInfos(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        try channel(arrivals, conditions) { center, target, thread in
            center.addObserver(
                forName: name, on: thread, transform: { $0.userInfo?["number"] as? Int },
                using: { number in for _ in 0..<number { target.arrive() } })
        } post: { center in
            center.post(name: name, userInfo: ["number": 1])
        }
    }

    private static func channel(
        _ arrivals: Arrivals, _ conditions: BenchmarkConditions,
        observe: (ThreadedNotificationCenter, Arrivals.Target, RunLoopThread) -> ObserverToken,
        post: @escaping @Sendable (ThreadedNotificationCenter) -> Void
    ) throws -> Channel {
        let center = ThreadedNotificationCenter()
        let threads = try arrivals.targets.map { _ in
            try BenchmarkThread(core: conditions.targetCore)
        }
        let tokens = zip(arrivals.targets, threads).map { observe(center, $0, $1.thread) }
        return Channel(
            post: { count in for _ in 0..<count { post(center) } },
            end: {
                for token in tokens { token.cancel() }
                for thread in threads { try thread.end() }
            })
    }
}

/// Posts on the measuring thread.
private final class PostsHere: BenchmarkSubject {
    struct Posting {
        let post: () -> Void
        let end: () -> Void
    }

    private let count = CallCount()
    private let posting: Posting

    /// - Parameter observe: adds an observer that counts.
    init(_ observe: (CallCount) -> Posting) {
        posting = observe(count)
    }

    func measure(_ operations: Int) throws -> Sample {
        let post = posting.post
        let sample = Sample.timing(operations) {
            for _ in 0..<operations { post() }
        }
        try count.expect(operations)
        return sample
    }

    func end() {
        posting.end()
    }
}
