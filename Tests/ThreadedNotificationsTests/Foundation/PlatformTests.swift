import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The behavior of Foundation's run loops, threads and ports on Linux, and its missing parts.
final class PlatformTests: XCTestCase {
    // MARK: Run loops

    func testABlockDoesNotWakeARunLoopThatSleeps() {
        let isPerformed = DispatchSemaphore(value: 0)
        let isSo = whileMainThreadSleeps {
            RunLoop.main.perform { isPerformed.signal() }
            return !isPerformed.isSignalled(within: patience)
        }
        assertStill("`RunLoop.perform(_:)` does not wake a run loop that sleeps.", isSo)
    }

    func testATimerWithAnIntervalFiresAtOnce() {
        let hasFired = Locked(false)
        let timer = Timer(timeInterval: 3600, repeats: false) { _ in hasFired.withLock { $0 = true } }
        RunLoop.main.add(timer, forMode: .default)
        for _ in 0..<10 { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005)) }
        timer.invalidate()
        assertStill("`Timer(timeInterval:repeats:block:)` fires at once.", hasFired.withLock { $0 })
    }

    func testTheMainActorOfAnAsyncMainIsNotOnTheMainThread() throws {
        try assertStillAlone("The main actor of a program with an `async` main is not on the main thread.") {
            Task { @MainActor in
                // The main function begins on the main thread; what follows a suspension shows the difference.
                await Task.detached {}.value
                _exit(Thread.isMainThread ? 1 : 0)
            }
            runAsyncMain()
        }
    }

    func testTimersOfTheMainRunLoopOfAnAsyncMainDoNotFire() throws {
        try assertStillAlone("Timers of `RunLoop.main` do not fire in a program with an `async` main.") {
            let hasFired = DispatchSemaphore(value: 0)
            RunLoop.addDueTimer { hasFired.signal() }
            Thread.detachNewThread { _exit(hasFired.isSignalled(within: patience) ? 1 : 0) }
            runAsyncMain()
        }
    }

    // MARK: Threads

    func testANameThatIsSetBeforeTheStartIsLostAndALongOneIsIgnored() {
        let (long, names, hasEnded) = ("a worker with a long name", Locked([String?]()), DispatchSemaphore(value: 0))
        let thread = Thread {
            names.withLock { $0 = [Thread.current.name] }
            Thread.current.name = long
            names.withLock { $0.append(Thread.current.name) }
            hasEnded.signal()
        }
        thread.name = "worker"
        thread.start()
        XCTAssertTrue(hasEnded.isSignalled())
        assertStill("A name that is set before the thread starts is lost.", names.withLock { $0[0] } != "worker")
        assertStill("A name of more than 15 bytes is ignored.", names.withLock { $0[1] } != long)
    }

    func testTheNameOfAnotherThreadIsTheOwn() {
        let (isNamed, isAsked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            Thread.current.name = "worker"
            isNamed.signal()
            _ = isAsked.isSignalled()
        }
        thread.start()
        XCTAssertTrue(isNamed.isSignalled())
        assertStill("The name of another thread is the calling thread's name.", thread.name != "worker")
        isAsked.signal()
    }

    func testADescriptionHasNeitherNumberNorName() {
        assertStill(
            "A thread's description has neither number nor name.", !"\(Thread.current)".contains("number = 1"))
    }

    func testTheLoggedIdIsNotTheKernels() throws {
        let pipe = Pipe()
        let saved = dup(STDERR_FILENO)
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        NSLog("a message")
        dup2(saved, STDERR_FILENO)
        close(saved)
        try pipe.fileHandleForWriting.close()
        let line = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        // The main thread's id is that of the process.
        assertStill(
            "`NSLog` writes another id of the thread than the kernel's.", !line.contains("[\(getpid()):\(getpid())]"))
        XCTAssertTrue(line.contains("[\(getpid()):"), line)
    }

    func testTheEndOfAThreadIsNotPosted() {
        let isPosted = Locked(false)
        let token = NotificationCenter.default.addObserver(forName: .NSThreadWillExit, object: nil, queue: nil) { _ in
            isPosted.withLock { $0 = true }
        }
        let thread = Thread {}
        thread.start()
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while !thread.isFinished, Date() < deadline { sched_yield() }
        NotificationCenter.default.removeObserver(token)
        assertStill("`NSThreadWillExit` is not posted.", thread.isFinished && !isPosted.withLock { $0 })
    }

    // MARK: Missing parts, and ports

    func testTypesAreMissing() {
        for name in [
            "18NSMachPortDelegate_p", "13NSMessagePortC", "29DistributedNotificationCenterC", "8SelectorV",
        ] {
            assertStill(
                "There is no usable `NSMachPort` or `MessagePort`, no `DistributedNotificationCenter`, and no selector.",
                _typeByName("10Foundation\(name)") == nil && _typeByName("10ObjectiveC\(name)") == nil)
        }
        XCTAssertTrue(_typeByName("10Foundation10SocketPortC") == SocketPort.self)
    }

    func testTheSequenceOfNotificationsIsMissing() {
        let sequence = NotificationCenter.default.notifications(named: Notification.Name.test)
        assertStill("There is no `notifications(named:)`.", sequence as Any is MissingSequence)
    }

    func testASocketPortListensOnAllAddresses() {
        let port = SocketPort()
        defer { port.invalidate() }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        withUnsafeMutableBytes(of: &address) { bytes in
            _ = getsockname(port.socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
        }
        assertStill(
            "A `SocketPort` can be reached from other computers.",
            address.sin_family == sa_family_t(AF_INET) && address.sin_addr.s_addr == INADDR_ANY)
    }

    // MARK: Property lists

    /// A property list in Apple's binary format: the objects, which refer to each other by index; the offset of each;
    /// and a trailer with the sizes of an offset and of a reference, the number of objects, the index of the first, and
    /// the offset of the offsets.
    private func binaryList(of objects: [[UInt8]]) -> Data {
        let header = Data("bplist00".utf8)
        let offsets = (0...objects.count).map { UInt8(header.count + objects.prefix($0).joined().count) }
        let numbers = [UInt8(objects.count), 0, offsets[objects.count]]
        let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1] + numbers.flatMap { [0, 0, 0, 0, 0, 0, 0, $0] as [UInt8] }
        return header + Array(objects.joined()) + offsets.dropLast() + trailer
    }

    func testAListWithASetEndsTheProgram() throws {
        // An array that contains a set that contains a string.
        let list = binaryList(of: [[0xA1, 1], [0xC1, 2], [0x51, UInt8(ascii: "A")]])
        try assertStillEnds("Reading a property list of \(list.count) bytes with a set in it ends the program.") {
            _ = try PropertyListSerialization.propertyList(from: list, format: nil)
        }
    }

    func testASmallListUsesMuchMemory() throws {
        // Eight nested arrays, each with 8 references to the next: one string, 16,777,216 times.
        let list = binaryList(
            of: (1...8).map { [0xA8] + [UInt8](repeating: $0, count: 8) } + [[0x51, UInt8(ascii: "A")]])
        try assertStillEnds("Reading a property list of \(list.count) bytes can take over 100 MB.") {
            var limit = rlimit(rlim_cur: 100 << 20, rlim_max: 100 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
            _ = try PropertyListSerialization.propertyList(from: list, format: nil)
        }
    }
}

/// Runs the main thread's run loop, and `body` on another thread when the main thread sleeps in it.
func whileMainThreadSleeps(_ body: @escaping @Sendable () -> Bool) -> Bool {
    let (isRunning, result) = (DispatchSemaphore(value: 0), Locked<Bool?>(nil))
    let waking = PortReceiver { _ in }
    RunLoop.main.perform { isRunning.signal() }
    Thread.detachNewThread { [port = waking.port] in
        var isAsleep = isRunning.isSignalled()
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        repeat {
            let file = "/proc/self/task/\(getpid())/stat"
            // The state follows the thread's name, which is in parentheses.
            let state = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: ")").last
            isAsleep = state?.hasPrefix(" S ") == true
        } while !isAsleep && Date() < deadline
        let isSo = isAsleep && body()
        result.withLock { $0 = isSo }
        port.signal()
    }
    return RunLoop.runCurrent { result.withLock { $0 } != nil } && result.withLock { $0 } == true
}

/// The runtime function that the compiler calls after it has made the task of an `async` main function.
@_silgen_name("swift_task_asyncMainDrainQueue")
private func runAsyncMain() -> Never

/// The result of `notifications(named:)` if Foundation lacks that method. If Foundation has it, the compiler prefers
/// Foundation's declaration, because it is less general than the one below.
private struct MissingSequence {}

extension NotificationCenter {
    fileprivate func notifications(named name: some Any) -> MissingSequence { MissingSequence() }
}
