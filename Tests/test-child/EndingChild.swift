import Foundation
import Glibc
import Synchronization

/// A program that ends, works on threads, forks, handles signals or has limits in the way that its argument names.
///
/// The tests run each one alone and recorded, and expect the same of both. The file that the environment variable
/// `COUNTS` may name gets the number of posts that began and of those that returned, in this process and its copies.
enum EndingChild: String, TestChild {
    // Ends.
    case returns, exit, underscoreExit, quickExit, abort, kill, trap, stackOverflow, executes, postsAtExit
    case mainThreadExits
    // Threads that post.
    case joins, exitsWhilePosting, killsWhilePosting
    // Forks. A copy that is made in a signal handler may continue.
    case forks, forksAndKills, forksWhilePosting, forksInHandler, spawns, copiesContinue
    // Signals.
    case handlesTermination, chainsHandlers, exitsInHandler, ignoresBrokenPipe, endsByBrokenPipe
    // Limits.
    case fileSizeLimit, descriptorLimit

    func run() throws {
        let observer = NotificationCenter.default.addObserver(forName: Self.name, object: nil, queue: nil) { _ in }
        try postAndEnd()
        withExtendedLifetime(observer) {}
    }

    private static let name = Notification.Name("Counted")
    private static let counts = Counts()
    private static let forkCount = Atomic(0)
    /// True in a copy that was made in a signal handler, which may have interrupted a post.
    private static let isInterruptedCopy = Atomic(false)

    /// The address of the handler of SIGTERM before this program's.
    private static let previousHandler = Atomic(0)

    private static func post(_ count: Int = 1) {
        for _ in 0..<count {
            counts.began.pointee.add(1, ordering: .relaxed)
            NotificationCenter.default.post(name: name, object: nil)
            if !isInterruptedCopy.load(ordering: .relaxed) { counts.returned.pointee.add(1, ordering: .relaxed) }
        }
    }

    private func postAndEnd() throws {
        if self == .descriptorLimit { Self.limit(RLIMIT_NOFILE, to: 8) }
        if self == .postsAtExit { atexit { EndingChild.post() } }
        Self.post(25)
        switch self {
        case .returns, .postsAtExit: break
        case .exit: Glibc.exit(3)
        case .underscoreExit: _exit(4)
        case .quickExit: quick_exit(5)
        case .abort: Glibc.abort()
        case .kill: raise(SIGKILL)
        case .trap: fatalError("as it was told to")
        case .stackOverflow: print(Self.descend(1))
        case .executes: Self.execute()
        case .mainThreadExits:
            Thread.detachNewThread { EndingChild.post(200) }
            pthread_exit(nil)
        case .joins: Self.join(4) { EndingChild.post(100) }
        case .exitsWhilePosting:
            Self.postOnThreads()
            Glibc.exit(0)
        case .killsWhilePosting:
            Self.postOnThreads()
            raise(SIGKILL)
        case .forksWhilePosting:
            Self.postOnThreads()
            for _ in 1...5 { Self.fork { _exit(0) } }
            _exit(0)
        case .forks:
            Self.fork {
                Self.post(10)
                Glibc.exit(0)
            }
            Self.post(5)
        case .forksAndKills:
            Self.fork {
                Self.post(10)
                raise(SIGKILL)
            }
            Self.post(5)
        case .forksInHandler, .copiesContinue: forkInHandler()
        case .spawns:
            let process = Process()
            process.executableURL = Bundle.main.executableURL
            process.arguments = ["ending", Self.returns.rawValue]
            try process.run()
            process.waitUntilExit()
            Self.post(5)
        case .handlesTermination:
            signal(SIGTERM) { _ in
                EndingChild.post()
                _exit(7)
            }
            raise(SIGTERM)
        case .chainsHandlers:
            var action = sigaction()
            sigaction(SIGTERM, nil, &action)
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            Self.previousHandler.store(handler, ordering: .relaxed)
            signal(SIGTERM) { EndingChild.callPreviousHandler($0) }
            raise(SIGTERM)
        case .exitsInHandler:
            Self.onTimer { _ in Glibc.exit(6) }
            while true { Self.post() }
        case .ignoresBrokenPipe, .endsByBrokenPipe:
            signal(SIGPIPE, self == .ignoresBrokenPipe ? SIG_IGN : SIG_DFL)
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            close(ends[0])
            print(write(ends[1], "x", 1), errno == EPIPE)
        case .fileSizeLimit:
            Self.limit(RLIMIT_FSIZE, to: 1 << 16)
            Self.post(3000)
        case .descriptorLimit: print("opens a file:", open("/dev/null", O_RDONLY) >= 0)
        }
    }

    private func forkInHandler() {
        Self.onTimer(
            self == .forksInHandler
                ? { _ in EndingChild.forkOnce { _exit(0) } }
                : { _ in EndingChild.forkOnce { EndingChild.isInterruptedCopy.store(true, ordering: .relaxed) } })
        while Self.forkCount.load(ordering: .relaxed) < 50 {
            Self.post()
            if Self.isInterruptedCopy.load(ordering: .relaxed) {
                Self.post()
                _exit(0)
            }
        }
        signal(SIGALRM, SIG_IGN)
        Self.post(5)
    }

    private static func forkOnce(_ copy: () -> Void) {
        guard forkCount.load(ordering: .relaxed) < 50 else { return }
        fork(copy)
        forkCount.add(1, ordering: .relaxed)
    }

    // MARK: Parts

    /// As a library does that is not the only one with a handler.
    private static func callPreviousHandler(_ number: Int32) {
        let previous = previousHandler.load(ordering: .relaxed)
        if previous == 0 {
            signal(number, SIG_DFL)
            raise(number)
        } else if previous != 1 {
            unsafeBitCast(previous, to: (@convention(c) (Int32) -> Void).self)(number)
        }
    }

    private static func limit(_ resource: __rlimit_resource, to value: rlim_t) {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }

    /// Replaces this process by another program of this executable.
    private static func execute() {
        let words: [String] = [CommandLine.arguments[0], "ending", "returns"]
        var arguments = words.map { strdup($0) } + [nil]
        execv(Bundle.main.executablePath ?? "", &arguments)
    }

    /// Needs more stack than there is.
    @inline(never)
    private static func descend(_ depth: Int) -> Int {
        guard depth > 0 else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: depth))
            return descend(depth + 1) + Int(memory[depth & 4095])
        }
    }

    private static func join(_ threads: Int, _ work: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        for _ in 1...threads {
            Thread.detachNewThread {
                work()
                done.signal()
            }
        }
        for _ in 1...threads { done.wait() }
    }

    /// Starts threads that post until the process ends. Returns when each of them has begun.
    private static func postOnThreads() {
        let begun = DispatchSemaphore(value: 0)
        for _ in 1...3 {
            Thread.detachNewThread {
                EndingChild.post()
                begun.signal()
                while true { EndingChild.post() }
            }
        }
        for _ in 1...3 { begun.wait() }
    }

    /// Forks, and waits for the copy to end.
    ///
    /// Swift does not import fork, because a copy of a multithreaded process may do very little.
    private static func fork(_ copy: () -> Void) {
        typealias Fork = @convention(c) () -> pid_t
        guard let fork = dlsym(nil, "fork").map({ unsafeBitCast($0, to: Fork.self) }) else { return }
        let process = fork()
        if process == 0 { return copy() }
        let before = errno
        waitpid(process, nil, 0)
        errno = before
    }

    /// Calls a handler again and again, whatever the thread does.
    private static func onTimer(_ handler: @escaping @convention(c) (Int32) -> Void) {
        signal(SIGALRM, handler)
        let interval = timeval(tv_sec: 0, tv_usec: 1000)
        var timer = itimerval(it_interval: interval, it_value: interval)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }
}

/// Counters in a file, which survive the process.
//
// Safety: the addresses are constant, and the memory has atomic values.
private struct Counts: @unchecked Sendable {
    let began: UnsafeMutablePointer<Atomic<Int>>
    let returned: UnsafeMutablePointer<Atomic<Int>>

    init() {
        let file = open(ProcessInfo.processInfo.environment["COUNTS"] ?? "", O_RDWR)
        let memory = mmap(
            nil, 4096, PROT_READ | PROT_WRITE, file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, file, 0)
        close(file)
        guard let memory, memory != MAP_FAILED else { fatalError("no memory for the counts") }
        began = memory.assumingMemoryBound(to: Atomic<Int>.self)
        returned = (memory + 64).assumingMemoryBound(to: Atomic<Int>.self)
    }
}
