internal import Dispatch
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// Ways in which a program that is recorded may end, or get in the way of its recording: what the tests of recording start in
/// a process of its own.
public enum RecordedEnd: String, Sendable, CaseIterable {
    /// It exits, with something waiting.
    case exit
    /// It reads where there is no memory, in a handler.
    case fault
    /// It stops by Swift's own trap, in a handler.
    case trap
    /// It is told to end by a signal that it does not handle.
    case terminate
    /// It aborts while other threads post.
    case abortWhilePosting = "abort-while-posting"
    /// It reads where there is no memory while other threads post.
    case faultWhilePosting = "fault-while-posting"
    /// It is killed, once its records are in the file.
    case kill
    /// It forks, and the copy posts too.
    case fork
    /// It starts itself once more, and both are recorded.
    case spawn
    /// It throws its recording away while it is recorded.
    case truncate
    /// It writes into its recording.
    case scribble
    /// Its main thread ends, as with an async main function, and it posts for it.
    case mainThreadEnds = "main-thread-ends"
    /// For a while it may write little more to a file than is there.
    case fill
    /// It ends its recording, and then by a signal that it does not handle.
    case stop
    /// It says that it is there, and goes on when it reads a line.
    case pause
    /// It is told to end by a signal that it has blocked and waits for.
    case wait

    /// Posts a notification named `first`, ends in the way that this says, or goes on to post one named `last`.
    /// - Parameter recording: the file that it is recorded to.
    public func perform(recording: String) throws {
        let center = ThreadedNotificationCenter()
        let waiting = center.addObserver(forName: nil, on: .main) { _ in }
        let handler = center.addObserver(forName: Notification.Name("last"), on: .postingThread) { [self] _ in
            endInHandler()
        }
        for _ in 1...1000 { center.post(name: Notification.Name("first")) }
        try disturb(recording, center)
        center.post(name: Notification.Name("last"))
        withExtendedLifetime((waiting, handler)) {}
    }

    private func disturb(_ recording: String, _ center: ThreadedNotificationCenter) throws {
        switch self {
        case .exit, .fault, .trap, .terminate: break
        case .abortWhilePosting, .faultWhilePosting: Self.postOnThreads(center)
        case .mainThreadEnds:
            let observer = center.addObserver(forName: Notification.Name("for main"), on: .main) { _ in }
            DeliveryEvent.tracer = { event in
                guard event.stage == .threadEnd, event.thread.number == 1 else { return }
                Thread.detachNewThread {
                    center.post(name: Notification.Name("for main"))
                    withExtendedLifetime(observer) { Glibc.exit(0) }
                }
            }
            dispatchMain()
        case .fill: try fill(recording, center)
        case .stop: try DeliveryRecording.stop()
        case .wait: Self.waitForSignal()
        case .pause:
            DeliveryRecording.flush()
            print("ready")
            fflush(nil)
            _ = readLine()
        case .kill:
            DeliveryRecording.flush()
        case .fork:
            let copy = Self.copy()
            if copy == 0 {
                center.post(name: Notification.Name("in the copy"))
                Glibc.exit(0)
            }
            var status: Int32 = 0
            waitpid(copy, &status, 0)
        case .spawn:
            let process = Process()
            process.executableURL = Bundle.main.executableURL
            process.arguments = CommandLine.arguments.dropFirst().dropLast() + [Self.exit.rawValue]
            try process.run()
            process.waitUntilExit()
        case .truncate:
            DeliveryRecording.flush()
            Glibc.truncate(recording, 0)
        case .scribble:
            DeliveryRecording.flush()
            let file = try FileHandle(forWritingTo: URL(filePath: recording))
            try file.seek(toOffset: 1000)
            try file.write(contentsOf: Data("this is my file\n".utf8))
        }
    }

    private func endInHandler() {
        switch self {
        case .abortWhilePosting: abort()
        case .fault, .faultWhilePosting: UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
        case .trap: fatalError("as it was told to")
        case .terminate, .stop: raise(SIGTERM)
        case .kill: raise(SIGKILL)
        case .exit, .fork, .spawn, .truncate, .scribble, .mainThreadEnds, .fill, .wait, .pause: break
        }
    }

    /// Posts on several threads, much more than this thread does meanwhile. Returns when all of them have begun.
    private static func postOnThreads(_ center: ThreadedNotificationCenter) {
        let begun = DispatchSemaphore(value: 0)
        for _ in 1...4 {
            Thread.detachNewThread {
                center.post(name: Notification.Name("meanwhile"))
                begun.signal()
                for _ in 1...5000 { center.post(name: Notification.Name("meanwhile")) }
            }
        }
        for _ in 1...4 { begun.wait() }
    }

    private func fill(_ recording: String, _ center: ThreadedNotificationCenter) throws {
        DeliveryRecording.flush()
        let size = try FileHandle(forReadingFrom: URL(filePath: recording)).seekToEnd()
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var before = rlimit()
        getrlimit(resource, &before)
        var limit = rlimit(rlim_cur: rlim_t(size) + 10_000, rlim_max: before.rlim_max)
        setrlimit(resource, &limit)
        for _ in 1...1000 { center.post(name: Notification.Name("first")) }
        DeliveryRecording.flush()
        // Room for the line that tells of the loss, sooner or later, and for no more.
        for _ in 1...20 {
            limit.rlim_cur += 17
            setrlimit(resource, &limit)
            for _ in 1...10 { center.post(name: Notification.Name("first")) }
            DeliveryRecording.flush()
        }
        setrlimit(resource, &before)
    }

    private static func waitForSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Glibc.kill(getpid(), SIGTERM)
        var signal: Int32 = 0
        sigwait(&signals, &signal)
    }

    /// Swift does not show fork: what a copy of a process with threads may do is little. Here it posts and exits.
    private static func copy() -> pid_t {
        typealias Fork = @convention(c) () -> pid_t
        guard let fork = dlsym(nil, "fork") else { return -1 }
        return unsafeBitCast(fork, to: Fork.self)()
    }
}
