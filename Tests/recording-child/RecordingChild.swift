import DeliveryRecording
import Foundation
import Glibc
import ThreadedNotifications

/// A program that ends or disturbs its recording in the way that its argument names. The tests of recording run it.
@main
enum RecordingChild: String {
    /// Exits while a notification is pending.
    case exit
    /// Accesses an invalid address in a handler.
    case fault
    /// Triggers a Swift trap in a handler.
    case trap
    /// Is ended by a signal that it does not handle.
    case terminate
    /// Aborts while other threads post.
    case abortWhilePosting = "abort-while-posting"
    /// Accesses an invalid address while other threads post.
    case faultWhilePosting = "fault-while-posting"
    /// Is killed after its records were written.
    case kill
    /// Forks; the copy posts too.
    case fork
    /// Forks and waits until a later record is in its recording, three times, and is killed.
    case recordAfterFork = "record-after-fork"
    /// Replaces itself by the same program.
    case execute
    /// Handles SIGSYS, which it gets, as a program does that emulates system calls.
    case emulate
    /// Posts in an exit handler that it installed first of all.
    case postAtExit = "post-at-exit"
    /// Starts itself again; both processes are recorded.
    case spawn
    /// Writes into its recording.
    case scribble
    /// Ends its main thread, as an asynchronous `main` does, and posts for the main thread from another thread.
    case mainThreadEnds = "main-thread-ends"
    /// Temporarily limits the size of its recording to little more than its current size.
    case fill
    /// Stops its recording, then is ended by a signal that it does not handle.
    case stop
    /// Prints `ready` and waits until it reads a line.
    case pause
    /// Receives a termination signal that it has blocked and waits for.
    case wait

    static func main() throws {
        // It is expected to crash.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        guard let child = CommandLine.arguments.last.flatMap(RecordingChild.init) else {
            fatalError("no such way to end: \(CommandLine.arguments)")
        }
        if child == .emulate { signal(SIGSYS) { _ in } }
        if child == .postAtExit {
            atexit { ThreadedNotificationCenter.default.post(name: Notification.Name("at exit")) }
        }
        try child.perform(
            recording: ProcessInfo.processInfo.environment[ProcessRecording.environmentVariable] ?? "")
    }

    /// Posts notifications named `first`, performs this action, and posts one named `last`.
    /// - Parameter recording: the path of its recording.
    func perform(recording: String) throws {
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
        case .exit, .fault, .trap, .terminate, .kill, .postAtExit: break
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
        case .stop: try ProcessRecording.stop()
        case .wait: Self.waitForSignal()
        case .pause:
            print("ready")
            fflush(nil)
            _ = readLine()
        case .fork:
            let copy = Self.copy()
            if copy == 0 {
                center.post(name: Notification.Name("in the copy"))
                Glibc.exit(0)
            }
            var status: Int32 = 0
            waitpid(copy, &status, 0)
        case .recordAfterFork:
            // Ends this process if a record is not written.
            alarm(60)
            for name in ["one", "two", "three"] {
                let copy = Self.copy()
                if copy == 0 { _exit(0) }
                var status: Int32 = 0
                waitpid(copy, &status, 0)
                center.post(name: Notification.Name(name))
                while try !String(contentsOfFile: recording, encoding: .utf8).contains("\"\(name)\"") {}
            }
            raise(SIGKILL)
        case .execute:
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(CommandLine.arguments[0]), strdup("exit"), nil]
            execv("/proc/self/exe", &arguments)
        case .emulate:
            raise(SIGSYS)
        case .spawn:
            let process = Process()
            process.executableURL = Bundle.main.executableURL
            process.arguments = CommandLine.arguments.dropFirst().dropLast() + [Self.exit.rawValue]
            try process.run()
            process.waitUntilExit()
        case .scribble:
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
        case .exit, .postAtExit, .fork, .recordAfterFork, .execute, .emulate, .spawn, .scribble, .mainThreadEnds, .fill,
            .wait, .pause:
            break
        }
    }

    /// Posts from several threads, long enough to continue while this thread proceeds. Returns when all of them have
    /// begun.
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
        // The recorder has made room for more than it has written.
        let size = try FileHandle(forReadingFrom: URL(filePath: recording)).seekToEnd()
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var before = rlimit()
        getrlimit(resource, &before)
        var limit = rlimit(rlim_cur: rlim_t(size) + 10_000, rlim_max: before.rlim_max)
        setrlimit(resource, &limit)
        for _ in 1...20_000 { center.post(name: Notification.Name("first")) }
        // Leaves room for some records.
        for _ in 1...20 {
            limit.rlim_cur += 1700
            setrlimit(resource, &limit)
            for _ in 1...10 { center.post(name: Notification.Name("first")) }
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

    /// Swift does not import fork, because a copy of a multithreaded process may do very little. Here it posts and
    /// exits.
    private static func copy() -> pid_t {
        typealias Fork = @convention(c) () -> pid_t
        guard let fork = dlsym(nil, "fork") else { return -1 }
        return unsafeBitCast(fork, to: Fork.self)()
    }
}
