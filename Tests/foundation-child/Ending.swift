import Foundation
import Synchronization

/// How a program that knows only Foundation ends, forks or handles signals. It prints how many notifications it has
/// posted. Alone and recorded it has the same output and the same end.
enum Ending: String, CaseIterable {
    case exit
    case exitAtOnce = "_exit"
    case quickExit = "quick_exit"
    /// Replaces itself by `true`.
    case execute
    case kill
    case abort
    case trap
    case stackOverflow = "stack-overflow"
    /// Gets a signal that it does not handle.
    case terminate
    /// Ends its main thread; the last thread posts.
    case mainThreadEnds = "main-thread-ends"
    /// Calls the previous handler of SIGTERM in its own, or ends as by default if there was none.
    case chainedHandler = "chained-handler"
    /// Forks in a signal handler that interrupts posts; the copies end at once.
    case forkInHandler = "fork-in-handler"
    /// Forks in a signal handler that interrupts posts; the copies return from the handler, post, and end.
    case copiesContinue = "copies-continue"
    /// The same by `_Fork`, which no hook sees.
    case copiesContinueWithoutHooks = "copies-continue-without-hooks"
    /// Exits in a signal handler that interrupts posts.
    case exitInHandler = "exit-in-handler"
    /// Posts in a copy that no hook of `fork` sees.
    case copyWithoutHooks = "copy-without-hooks"
    /// Closes descriptors that it did not open.
    case closeDescriptors = "close-descriptors"
    /// Prints which signals have a handler.
    case signalHandlers = "signal-handlers"
    /// Moves to a user namespace of its own, which a process with several threads cannot.
    case userNamespace = "user-namespace"

    private static let center = NotificationCenter.default
    private static let name = Notification.Name("Ending")
    private static let forkCount = Atomic<Int>(0)
    // Safety: both are written before the signal handlers that read them run, on the main thread. Swift does not import
    // fork.
    nonisolated(unsafe) private static var previous: sighandler_t?
    nonisolated(unsafe) private static var fork: @convention(c) () -> pid_t = { -1 }

    func run() {
        let token = Self.center.addObserver(forName: Self.name, object: nil, queue: nil) { _ in }
        defer { withExtendedLifetime(token) {} }
        if let symbol = dlsym(nil, rawValue.hasSuffix("without-hooks") ? "_Fork" : "fork") {
            Self.fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        }
        switch self {
        case .mainThreadEnds: endMainThread()
        case .forkInHandler, .copiesContinue, .copiesContinueWithoutHooks: forkInHandlers()
        case .exitInHandler: exitInHandler()
        default:
            Self.post(3)
            say("posted 3")
            end()
        }
    }

    private static func post(_ count: Int) {
        for _ in 0..<count { center.post(name: name, object: nil) }
    }

    /// Prints a line without a buffer, which `_exit` would lose.
    private func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(1, bytes, bytes.count)
    }

    private func end() {
        switch self {
        case .exit: Foundation.exit(3)
        case .exitAtOnce: _exit(4)
        case .quickExit: quick_exit(5)
        case .execute: execl("true")
        case .kill: raise(SIGKILL)
        case .abort: Foundation.abort()
        case .trap: fatalError("as it was told to")
        case .stackOverflow: say("\(Self.depth(of: 1))")
        case .terminate: raise(SIGTERM)
        case .chainedHandler:
            Self.previous = signal(SIGTERM) { number in
                if let previous = Ending.previous {
                    previous(number)
                } else {
                    signal(number, SIG_DFL)
                    raise(number)
                }
            }
            raise(SIGTERM)
        case .copyWithoutHooks:
            let copy = Self.fork()
            Self.post(1)
            if copy == 0 { _exit(0) }
            wait(for: copy)
            say("posted 1 more")
        case .closeDescriptors:
            for descriptor in Int32(3)..<1024 { close(descriptor) }
            // More than a recorder writes at once.
            Self.post(10_000)
            say("posted 10000 more")
        case .signalHandlers:
            for number in Int32(1)..<32 {
                var action = sigaction()
                sigaction(number, nil, &action)
                if unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != 0 { say("\(number)") }
            }
        case .userNamespace:
            guard let symbol = dlsym(nil, "unshare") else { return }
            let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
            say("\(unshare(0x1000_0000))")
        case .mainThreadEnds, .forkInHandler, .copiesContinue, .copiesContinueWithoutHooks, .exitInHandler: break
        }
    }

    private func execl(_ program: String) {
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
        execvp(program, &arguments)
    }

    /// Recursion that the compiler does not turn into a loop.
    private static func depth(of number: Int) -> Int {
        number == 0 ? 0 : 1 + depth(of: number &+ 1) + depth(of: number &+ 2)
    }

    private func wait(for copy: pid_t) {
        var status: Int32 = 0
        waitpid(copy, &status, 0)
    }

    private func endMainThread() {
        let main = pthread_self()
        Thread.detachNewThread {
            pthread_join(main, nil)
            Ending.post(3)
            say("posted 3")
        }
        Thread.exit()
    }

    // MARK: Signal handlers

    private func forkInHandlers() {
        let original = getpid()
        onTimer { _ in
            guard Ending.forkCount.load(ordering: .relaxed) < 100 else { return }
            let copy = Ending.fork()
            if copy == 0 {
                if CommandLine.arguments.last == Ending.forkInHandler.rawValue { _exit(0) }
                return
            }
            var status: Int32 = 0
            waitpid(copy, &status, 0)
            Ending.forkCount.add(status == 0 ? 1 : 1000, ordering: .relaxed)
        }
        var count = 0
        while Self.forkCount.load(ordering: .relaxed) < 100 {
            Self.post(1)
            count += 1
            if getpid() != original {
                Self.post(1)
                _exit(0)
            }
        }
        say("posted \(count)\n\(Self.forkCount.load(ordering: .relaxed)) forks")
    }

    private func exitInHandler() {
        onTimer { _ in Foundation.exit(6) }
        while true { Self.post(1) }
    }

    /// Calls a handler again and again.
    private func onTimer(_ handler: @escaping @convention(c) (Int32) -> Void) {
        signal(SIGALRM, handler)
        let interval = timeval(tv_sec: 0, tv_usec: 1000)
        var timer = itimerval(it_interval: interval, it_value: interval)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }
}
