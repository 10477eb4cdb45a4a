import Dispatch
import Foundation

/// A program that knows only Foundation, and uses the part of it that its argument names. The tests of the recorder run
/// it.
@main
enum FoundationChild: String {
    /// Posts on the main thread and on another one; a handler posts.
    case handlers
    /// Adds observers with an operation queue of its own, the main queue, and the current one.
    case queues
    /// Posts on several threads at the same time for one observer with an operation queue.
    case concurrent
    /// Observes and posts typed messages.
    case messages
    /// Removes tokens twice, removes a token whose key is reused, and ends a center with its observer.
    case removals
    /// Posts with objects and values.
    case senders
    /// Uses subclasses of its own.
    case subclasses
    /// Enqueues notifications.
    case enqueue
    /// Observes what Foundation posts.
    case reading
    /// Adds and removes observers, and prints how many of their handlers are alive.
    case lifetimes
    /// Posts on a thread of Dispatch, on a named one, on one without a name, and on one that Dispatch's thread creates.
    case threads
    /// Ends a thread in a handler.
    case exitThread = "exit-thread"
    /// Forks while other threads add, call and remove observers. The copies do so too.
    case fork

    static let saved = Notification.Name("Saved")
    static let center = NotificationCenter.default

    @MainActor
    static func main() {
        switch CommandLine.arguments.last.flatMap(FoundationChild.init) {
        case .handlers: handlers()
        case .queues: queues()
        case .concurrent: concurrent()
        case .messages: messages()
        case .removals: removals()
        case .senders: senders()
        case .subclasses: subclasses()
        case .enqueue: enqueue()
        case .reading: reading()
        case .lifetimes: lifetimes()
        case .threads: threads()
        case .exitThread: exitThread()
        case .fork: fork()
        // Swift reads the arguments from /proc, which may be missing.
        case nil: handlers()
        }
    }

    /// Runs `body` on a new thread and waits for it.
    private static func onThread(_ body: @escaping @Sendable () -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        Thread {
            body()
            isDone.signal()
        }.start()
        isDone.wait()
    }

    /// Runs the main run loop until another thread or a handler has signalled.
    private static func runMainLoop(until isDone: DispatchSemaphore) {
        while isDone.wait(timeout: .now()) == .timedOut {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
    }

    private static func handlers() {
        let first = center.addObserver(forName: saved, object: nil, queue: nil) { _ in
            center.post(Notification(name: Notification.Name("Nested")))
        }
        center.post(name: saved, object: nil)
        onThread { center.post(name: saved, object: nil) }
        center.removeObserver(first)
        center.post(name: saved, object: nil)
    }

    private static func queues() {
        let queue = OperationQueue()
        let tokens = [queue, .main].map { queue in
            center.addObserver(forName: saved, object: nil, queue: queue) { _ in queue.addOperation {} }
        }
        center.post(name: saved, object: nil)
        queue.waitUntilAllOperationsAreFinished()
        // The handler of the current queue runs in the post.
        let isPosted = DispatchSemaphore(value: 0)
        queue.addOperation {
            center.post(name: saved, object: nil)
            isPosted.signal()
        }
        runMainLoop(until: isPosted)
        for token in tokens { center.removeObserver(token) }
    }

    private static func concurrent() {
        let queue = OperationQueue()
        let token = center.addObserver(forName: saved, object: nil, queue: queue) { _ in }
        DispatchQueue.concurrentPerform(iterations: 200) { _ in center.post(name: saved, object: nil) }
        center.removeObserver(token)
    }

    struct Ready: NotificationCenter.MainActorMessage {
        typealias Subject = Sender
    }

    struct Later: NotificationCenter.AsyncMessage {
        typealias Subject = Sender
    }

    @MainActor
    private static func messages() {
        let sender = Sender()
        var ready: NotificationCenter.ObservationToken? = center.addObserver(of: sender, for: .ready) { _ in }
        let anyReady = center.addObserver(of: Sender.self, for: .ready) { _ in }
        let readyType = center.addObserver(for: Ready.self) { _ in }
        let isHandled = DispatchSemaphore(value: 0)
        let later = center.addObserver(of: sender, for: .later) { _ in
            await Task.yield()
            isHandled.signal()
        }
        let anyLater = center.addObserver(of: Sender.self, for: .later) { _ in isHandled.signal() }
        let laterType = center.addObserver(for: Later.self) { _ in isHandled.signal() }
        center.post(Ready(), subject: sender)
        center.post(Ready())
        center.post(Later(), subject: sender)
        for _ in 0..<3 { isHandled.wait() }
        center.post(Later())
        for _ in 0..<2 { isHandled.wait() }
        if ready != nil { ready = nil }
        for token in [anyReady, readyType, later, anyLater, laterType] { center.removeObserver(token) }
    }

    private static func removals() {
        let first = center.addObserver(forName: saved, object: nil, queue: nil) { _ in }
        center.removeObserver(first)
        center.removeObserver(first)
        let other = center.addObserver(forName: saved, object: nil, queue: nil) { _ in }
        // Foundation removes the other observer.
        center.removeObserver(first)
        center.removeObserver(other)
        center.removeObserver("no token")
        let own = NotificationCenter()
        _ = own.addObserver(forName: nil, object: nil, queue: nil) { _ in }
    }

    private static func senders() {
        center.post(name: saved, object: Sender())
        center.post(name: saved, object: Subsender())
        center.post(name: saved, object: "text")
        center.post(name: saved, object: Int?.none as Any)
        center.post(name: Notification.Name("ein Name, der länger als fünfzehn Bytes ist"), object: nil)
        center.post(name: Notification.Name("quote \" \n"), object: Sender.self)
    }

    private static func subclasses() {
        let own = OwnCenter()
        let queue = OwnQueue()
        let token = own.addObserver(forName: saved, object: nil, queue: queue) { _ in }
        own.post(name: saved, object: nil)
        own.removeObserver(token)
    }

    private static func enqueue() {
        let isPosted = DispatchSemaphore(value: 0)
        let token = center.addObserver(forName: saved, object: nil, queue: nil) { _ in isPosted.signal() }
        let notification = Notification(name: saved, object: Sender.shared)
        NotificationQueue.default.enqueue(notification, postingStyle: .now)
        NotificationQueue.default.enqueue(notification, postingStyle: .asap, coalesceMask: .none, forModes: nil)
        for _ in 0..<2 { runMainLoop(until: isPosted) }
        center.removeObserver(token)
    }

    private static func reading() {
        let pipe = Pipe()
        let name = Notification.Name.NSFileHandleReadToEndOfFileCompletion
        let isRead = DispatchSemaphore(value: 0)
        let token = center.addObserver(forName: name, object: pipe.fileHandleForReading, queue: nil) { _ in
            isRead.signal()
        }
        pipe.fileHandleForReading.readToEndOfFileInBackgroundAndNotify()
        try? pipe.fileHandleForWriting.close()
        runMainLoop(until: isRead)
        center.removeObserver(token)
    }

    private static func lifetimes() {
        let queue = OperationQueue()
        for round in 0..<1000 {
            let sender = Sender()
            let token = center.addObserver(
                forName: saved, object: nil, queue: round % 2 == 0 ? queue : nil
            ) { [sender] _ in _ = sender }
            if round % 5 == 0 { center.post(name: saved, object: nil) }
            center.removeObserver(token)
        }
        queue.waitUntilAllOperationsAreFinished()
        print(Sender.alive)
    }

    private static func threads() {
        let isDone = DispatchSemaphore(value: 0)
        let post = { @Sendable in
            center.post(name: saved, object: nil)
            _ = isDone.signal()
        }
        center.post(name: saved, object: nil)
        DispatchQueue.global().async(execute: post)
        isDone.wait()
        // A thread of Foundation may not know itself yet when its name is set.
        guard let symbol = dlsym(nil, "pthread_setname_np") else { return }
        typealias SetName = @convention(c) (pthread_t, UnsafePointer<CChar>) -> Int32
        let setName = unsafeBitCast(symbol, to: SetName.self)
        Thread {
            _ = setName(pthread_self(), "loader")
            post()
        }.start()
        isDone.wait()
        Thread(block: post).start()
        isDone.wait()
        DispatchQueue.global().async { Thread(block: post).start() }
        isDone.wait()
    }

    private static func exitThread() {
        let token = center.addObserver(forName: saved, object: nil, queue: nil) { _ in
            if !Thread.isMainThread { Thread.exit() }
        }
        let thread = Thread { center.post(name: saved, object: nil) }
        thread.start()
        while !thread.isFinished { sched_yield() }
        center.post(name: saved, object: nil)
        center.removeObserver(token)
    }

    private static func fork() {
        // Swift does not import fork.
        guard let symbol = dlsym(nil, "fork") else { return }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        // They wait while the process is copied, so that no thread has a lock that a copy would wait for.
        let (isWaiting, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let threads = (0..<3).map { _ in
            Thread {
                post(to: center)
                isWaiting.signal()
                mayGoOn.wait()
                post(to: center)
            }
        }
        for thread in threads { thread.start() }
        for _ in threads { isWaiting.wait() }
        let ends = (0..<20).map { _ in
            let process = fork()
            if process == 0 {
                post(to: center)
                Foundation.exit(7)
            }
            var status: Int32 = 0
            waitpid(process, &status, 0)
            return status
        }
        for _ in threads { mayGoOn.signal() }
        while threads.contains(where: { !$0.isFinished }) { sched_yield() }
        print(Set(ends))
    }

    private static func post(to center: NotificationCenter) {
        let token = center.addObserver(forName: saved, object: nil, queue: nil) { _ in }
        center.post(name: saved, object: nil)
        center.removeObserver(token)
    }
}

class Sender: @unchecked Sendable {
    nonisolated(unsafe) static var alive = 0
    static let shared = Sender()
    init() { Self.alive += 1 }
    deinit { Self.alive -= 1 }
}

final class Subsender: Sender, @unchecked Sendable {}
final class OwnCenter: NotificationCenter, @unchecked Sendable {}
final class OwnQueue: OperationQueue, @unchecked Sendable {}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<FoundationChild.Ready> {
    static var ready: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<FoundationChild.Later> {
    static var later: Self { .init() }
}
