import Foundation
import Glibc
import Synchronization
import ThreadedNotifications

/// A program that ends, works on threads, forks, handles signals or has limits in the way that its argument names.
///
/// The tests run each one alone and recorded, and expect the same of both. The file that the environment variable
/// `COUNTS` may name gets the number of posts that began and of those that returned, in this process and its copies.
enum EndingChild: String, TestChild {
    // Ends.
    case returns, exit, underscoreExit, quickExit, abort, kill, terminate, trap, stackOverflow, underscoreExitInThread
    case executes, postsAtExit, mainThreadExits, mainThreadExitsLast
    // Threads that post.
    case joins, exitsWhilePosting, underscoreExitsWhilePosting, killsWhilePosting, abortsWhilePosting
    case executesWhilePosting
    // Forks.
    case forks, forksAndExecutes, forksAndKills, forksWhilePosting, forksInHandler, spawns, libraryForks
    // `_Fork` has no hooks. A copy that is made in a signal handler may continue.
    case forksWithoutHooks, copiesContinue, copiesContinueWithoutHooks
    // Signals.
    case handlesTermination, handlesSystemCalls, chainsHandlers, postsInHandler, exitsInHandler, ignoresBrokenPipe
    case endsByBrokenPipe, asksForHandlers
    // Limits.
    case fileSizeLimit, descriptorLimit, addressSpaceLimit, closesDescriptors, unshares

    func run() throws {
        let observer = NotificationCenter.default.addObserver(forName: Self.name, object: nil, queue: nil) { _ in }
        try postAndEnd()
        withExtendedLifetime(observer) {}
    }

    private static let name = Notification.Name("Counted")
    private static let counts = Counts()
    private static let libraryCenter = ThreadedNotificationCenter()
    private static let forkCount = Atomic(0)
    /// True in a copy that was made in a signal handler, which may have interrupted a post.
    private static let isInterruptedCopy = Atomic(false)
    private static let forkFunction = Mutex("fork")
    private static let whatACopyDoes = Mutex<@Sendable () -> Void>({})
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
        if rawValue.hasSuffix("WithoutHooks") { Self.forkFunction.withLock { $0 = "_Fork" } }
        if rawValue.hasSuffix("WhilePosting") { Self.postOnThreads() }
        switch self {
        case .returns, .postsAtExit: return
        case .exit: Glibc.exit(3)
        case .exitsWhilePosting: Glibc.exit(0)
        case .underscoreExit, .underscoreExitsWhilePosting: _exit(4)
        case .quickExit: quick_exit(5)
        case .abort, .abortsWhilePosting: Glibc.abort()
        case .kill, .killsWhilePosting: raise(SIGKILL)
        case .terminate: raise(SIGTERM)
        case .trap: fatalError("as it was told to")
        case .stackOverflow: print(Self.descend(1))
        case .underscoreExitInThread:
            Thread.detachNewThread { _exit(6) }
            while true { pause() }
        case .executes, .executesWhilePosting: Self.execute()
        case .mainThreadExits:
            Thread.detachNewThread { EndingChild.post(200) }
            pthread_exit(nil)
        case .mainThreadExitsLast: pthread_exit(nil)
        case .joins: return Self.join(4) { EndingChild.post(100) }
        case .forksWhilePosting:
            for _ in 1...20 { Self.fork { _exit(0) } }
            _exit(0)
        default: try forkOrHandleSignalsOrLiveWithLimits()
        }
        Self.post(5)
    }

    private func forkOrHandleSignalsOrLiveWithLimits() throws {
        switch self {
        case .forks, .forksWithoutHooks:
            Self.fork {
                Self.post(10)
                Glibc.exit(0)
            }
        case .forksAndExecutes: Self.fork { Self.execute() }
        case .forksAndKills:
            Self.fork {
                Self.post(10)
                raise(SIGKILL)
            }
        case .forksInHandler: Self.forkInHandler { _exit(0) }
        case .copiesContinue, .copiesContinueWithoutHooks:
            Self.forkInHandler { EndingChild.isInterruptedCopy.store(true, ordering: .relaxed) }
        case .spawns:
            let process = Process()
            process.executableURL = Bundle.main.executableURL
            process.arguments = ["ending", Self.returns.rawValue]
            try process.run()
            process.waitUntilExit()
        case .libraryForks:
            let observer = Self.libraryCenter.addObserver(forName: nil, on: .postingThread) { _ in }
            Self.fork {
                Self.libraryCenter.post(name: Notification.Name("of the library"))
                Glibc.exit(0)
            }
            Self.libraryCenter.post(name: Notification.Name("of the library"))
            withExtendedLifetime(observer) {}
        case .handlesTermination:
            signal(SIGTERM) { _ in
                EndingChild.post()
                _exit(7)
            }
            raise(SIGTERM)
        case .handlesSystemCalls:
            signal(SIGSYS) { _ in }
            raise(SIGSYS)
        case .exitsInHandler:
            Self.onTimer { _ in Glibc.exit(6) }
            while true { Self.post() }
        case .chainsHandlers:
            var action = sigaction()
            sigaction(SIGTERM, nil, &action)
            Self.previousHandler.store(Self.address(action), ordering: .relaxed)
            signal(SIGTERM) { EndingChild.callPreviousHandler($0) }
            raise(SIGTERM)
        case .postsInHandler:
            signal(SIGUSR1) { _ in EndingChild.post() }
            for _ in 1...10 { raise(SIGUSR1) }
        case .ignoresBrokenPipe, .endsByBrokenPipe:
            signal(SIGPIPE, self == .ignoresBrokenPipe ? SIG_IGN : SIG_DFL)
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            close(ends[0])
            print(write(ends[1], "x", 1), errno == EPIPE)
        case .asksForHandlers:
            for number in Int32(1)...64 {
                var action = sigaction()
                guard sigaction(number, nil, &action) == 0 else { continue }
                let address = Self.address(action)
                if address != 0 { print("signal \(number) is \(address == 1 ? "ignored" : "handled")") }
            }
        case .fileSizeLimit:
            Self.limit(RLIMIT_FSIZE, to: 1 << 16)
            Self.post(3000)
        case .descriptorLimit: print("opens a file:", open("/dev/null", O_RDONLY) >= 0)
        case .addressSpaceLimit:
            let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").first
            Self.limit(RLIMIT_AS, to: (pages.flatMap { rlim_t($0) } ?? 0) * 4096 + 64 << 20)
            Self.post(2000)
        case .closesDescriptors:
            for descriptor in Int32(3)..<1024 { close(descriptor) }
            let files = (1...200).compactMap { _ in tmpfile().map { fileno($0) } }
            Self.post(2000)
            print("first \(files[0]), written to: \(files.filter { $0 >= 0 && lseek($0, 0, SEEK_END) != 0 })")
        default:
            let cloneNewUser: Int32 = 0x1000_0000
            let unshare = dlsym(nil, "unshare").map { unsafeBitCast($0, to: (@convention(c) (Int32) -> Int32).self) }
            print("unshare:", unshare?(cloneNewUser) == 0)
        }
    }

    // MARK: Parts

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
        let name = forkFunction.withLock { $0 }
        guard let fork = dlsym(nil, name).map({ unsafeBitCast($0, to: Fork.self) }) else { return }
        let process = fork()
        if process == 0 { return copy() }
        let before = errno
        waitpid(process, nil, 0)
        errno = before
    }

    /// Posts, while a signal handler forks 50 times. A copy that continues posts once more, and ends.
    private static func forkInHandler(_ copy: @escaping @Sendable () -> Void) {
        whatACopyDoes.withLock { $0 = copy }
        onTimer { _ in
            guard EndingChild.forkCount.load(ordering: .relaxed) < 50 else { return }
            EndingChild.fork(EndingChild.whatACopyDoes.withLock { $0 })
            EndingChild.forkCount.add(1, ordering: .relaxed)
        }
        while forkCount.load(ordering: .relaxed) < 50 {
            post()
            guard isInterruptedCopy.load(ordering: .relaxed) else { continue }
            post()
            _exit(0)
        }
        signal(SIGALRM, SIG_IGN)
    }

    /// Calls a handler again and again, whatever the thread does.
    private static func onTimer(_ handler: @escaping @convention(c) (Int32) -> Void) {
        signal(SIGALRM, handler)
        let interval = timeval(tv_sec: 0, tv_usec: 1000)
        var timer = itimerval(it_interval: interval, it_value: interval)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }

    private static func address(_ action: sigaction) -> Int {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    }

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
