import CRecorderInterface
import Foundation
import Glibc
import ThreadedNotifications

/// A program that disturbs its recording in the way that its argument names. The tests of recording run it.
enum RecordingChild: String, TestChild {
    /// Forks and waits until a later record is in its recording, three times, and is killed.
    case recordAfterFork = "record-after-fork"
    /// Temporarily limits the size of its recording to little more than its current size.
    case fill
    /// Stops its recording, then is ended by a signal that it does not handle.
    case stop
    /// Prints `ready` and waits until it reads a line.
    case pause
    /// Receives a termination signal that it has blocked and waits for.
    case wait

    /// Posts notifications named `first`, disturbs its recording, and posts one named `last`.
    func run() throws {
        let recording = ProcessInfo.processInfo.environment["THREADED_NOTIFICATIONS_RECORDING"] ?? ""
        let center = ThreadedNotificationCenter()
        let waiting = center.addObserver(forName: nil, on: .main) { _ in }
        for _ in 1...1000 { center.post(name: Notification.Name("first")) }
        try disturb(recording, center)
        center.post(name: Notification.Name("last"))
        withExtendedLifetime(waiting) {}
        if self == .stop { raise(SIGTERM) }
    }

    private func disturb(_ recording: String, _ center: ThreadedNotificationCenter) throws {
        switch self {
        case .fill: try fill(recording, center)
        case .stop: _ = NotificationRecorderFind()?.pointee.stop(nil, 0)
        case .wait: waitForSignal()
        case .pause:
            print("ready")
            fflush(nil)
            _ = readLine()
        case .recordAfterFork: try forkAndRecord(recording, center)
        }
    }

    private func forkAndRecord(_ recording: String, _ center: ThreadedNotificationCenter) throws {
        // Swift does not import fork, because a copy of a multithreaded process may do very little.
        typealias Fork = @convention(c) () -> pid_t
        guard let fork = dlsym(nil, "fork").map({ unsafeBitCast($0, to: Fork.self) }) else { return }
        // Ends this process if a record is not written.
        alarm(60)
        for name in ["one", "two", "three"] {
            let copy = fork()
            if copy == 0 { _exit(0) }
            waitpid(copy, nil, 0)
            center.post(name: Notification.Name(name))
            while try !String(contentsOfFile: recording, encoding: .utf8).contains("\"\(name)\"") {}
        }
        raise(SIGKILL)
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

    private func waitForSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Glibc.kill(getpid(), SIGTERM)
        var signal: Int32 = 0
        sigwait(&signals, &signal)
    }
}
