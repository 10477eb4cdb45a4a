import Dispatch
import Foundation
import Glibc
import ThreadedNotifications

/// Programs that print what happened to their deliveries.
enum DeliveryChild: String, TestChild {
    /// Performs a delayed block on `.postingThread` while the system creates no thread.
    case delayWithoutThreads = "delay-without-threads"
    /// Posts in the `deinit` of the object, for another thread.
    case deinitElsewhere = "deinit-elsewhere"
    /// The same, on a center that retains the latest notification.
    case deinitLatest = "deinit-latest"
    /// The same, with each overflow policy.
    case deinitBounded = "deinit-bounded"
    /// The same, and waits.
    case deinitWait = "deinit-wait"
    /// The same, for several observers on the posting thread, one of which is called later, and one of which runs the
    /// run loop.
    case deinitHere = "deinit-here"
    /// The same, as a message with a subject.
    case deinitMessage = "deinit-message"
    /// Enqueues in the `deinit` of the object.
    case deinitEnqueue = "deinit-enqueue"
    /// Posts to a Foundation center in the `deinit` of the object.
    case deinitFoundation = "deinit-foundation"
    /// Forks; the copy posts for the threads of the parent, and waits for them.
    case fork
    /// The same, while the thread waits for a handler of another one.
    case forkInWait = "fork-in-wait"
    /// Forks in a handler on a thread that is not the main thread; the parent and the copy go on.
    case forkInHandler = "fork-in-handler"
    /// Forks; the parent and the copy run the main run loop.
    case forkAndRun = "fork-and-run"
    /// Forks again and again while other threads post.
    case forkWhilePosting = "fork-while-posting"

    func run() throws {
        switch self {
        case .delayWithoutThreads: try Self.delayWithoutThreads()
        case .deinitElsewhere, .deinitLatest, .deinitBounded, .deinitWait, .deinitHere, .deinitMessage,
            .deinitEnqueue, .deinitFoundation:
            try DeinitPosts().run(self)
        case .fork: try Forks().fork()
        case .forkInWait: try Forks().forkInWait()
        case .forkInHandler: try Forks().forkInHandler()
        case .forkAndRun: try Forks().forkAndRun()
        case .forkWhilePosting: try Forks().forkWhilePosting()
        }
    }

    private static func delayWithoutThreads() throws {
        let performed = DispatchSemaphore(value: 0)
        // From now on Dispatch has the threads that it needs.
        try TargetThread.postingThread.perform(after: .zero) { performed.signal() }
        performed.wait()
        // The address space has no room for the stack of another thread.
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first
        let size = rlim_t(pages.flatMap { UInt64($0) } ?? 0) * 4096 + 2 << 20
        var room = rlimit(rlim_cur: size, rlim_max: size)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &room)
        let worker = RunLoopThread(name: "worker")
        do { try worker.start() } catch { print(error.code == .threadNotCreated) }
        let block = try TargetThread.postingThread.perform(after: .zero) { performed.signal() }
        print(performed.wait(timeout: .now() + 10) == .success, block.outcome)
    }
}
