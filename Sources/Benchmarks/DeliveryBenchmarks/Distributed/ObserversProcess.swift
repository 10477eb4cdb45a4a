internal import CControl
internal import Glibc

/// A process with observers, and the numbers that they have handled. Only the measuring thread uses it.
final class ObserversProcess {
    private let tally: OpaquePointer
    private(set) var process: pid_t = 0
    /// The process's standard input ends when this descriptor is closed.
    private var input: Int32 = -1
    private let timeout: Duration
    private var hasEnded = false
    private var missed: UInt64 = 0
    /// The number that each observer should have handled since the beginning.
    private(set) var expected: UInt64 = 0

    init(_ kind: ObserversProgram.Kind, _ count: Int, path: String, _ conditions: BenchmarkConditions) throws {
        guard let program = conditions.observersProgram else { throw BenchmarkError.noObserversProgram }
        timeout = conditions.timeout
        var memory: Int32 = -1
        guard let tally = CControlTallyCreate(Int32(count), &memory) else {
            throw BenchmarkError.notMade("memory that two processes share", code: errno)
        }
        self.tally = tally
        defer { close(memory) }
        var words = [program, ObserversProgram.subcommand, kind.rawValue, path]
        if let core = conditions.targetCore { words += ["--core", "\(core)"] }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let error = CControlSpawn(&process, &input, program, &arguments, memory)
        guard error == 0 else {
            throw BenchmarkError.notMade("a process for the observers", code: error)
        }
        do {
            try wait(for: "the observers' process to be ready")
        } catch {
            end()
            throw error
        }
    }

    deinit {
        CControlTallyUnmap(tally)
    }

    /// Expects each observer to handle `count` more. Called after all earlier posts were handled.
    func expect(_ count: Int) {
        expected += UInt64(count)
        CControlTallyExpect(tally, UInt64(count))
    }

    /// Sleeps until each observer has handled all that is expected.
    ///
    /// - Returns: the time of the last of them, by CControlNow.
    /// - Throws: `BenchmarkError`, also if a notification was lost.
    func waitForAll() throws(BenchmarkError) -> Int64 {
        try wait(for: "the observers to handle what was posted")
        let lost = CControlTallyMissed(tally) - missed
        missed += lost
        if lost > 0 { throw .lost(Int(lost)) }
        let most = CControlTallyMost(tally)
        if most != expected { throw .miscounted(handled: Int(most), posted: Int(expected)) }
        return CControlTallyDoneAt(tally)
    }

    /// Sleeps until each observer has handled `count` notifications since the beginning.
    func waitForEach(_ count: UInt64) throws(BenchmarkError) {
        guard CControlTallyLeast(tally) < count else { return }
        let deadline = ContinuousClock.now + timeout
        while CControlTallyLeast(tally) < count {
            guard ContinuousClock.now < deadline, isAlive else {
                throw .timedOut(waitingFor: "the observers to catch up", after: timeout)
            }
            usleep(50)
        }
    }

    private func wait(for what: String) throws(BenchmarkError) {
        let deadline = ContinuousClock.now + timeout
        while !CControlTallyWait(tally, 100_000_000) {
            guard isAlive else { throw .observersEnded }
            guard ContinuousClock.now < deadline else { throw .timedOut(waitingFor: what, after: timeout) }
        }
    }

    private var isAlive: Bool {
        if !hasEnded { hasEnded = waitpid(process, nil, WNOHANG) == process }
        return !hasEnded
    }

    /// Ends the process: closes its input, and kills it if it does not end.
    ///
    /// - Returns: true if it ended without being killed.
    @discardableResult
    func end() -> Bool {
        ProcessorTimes.addOwn(process: process)
        close(input)
        let deadline = ContinuousClock.now + .seconds(2)
        while isAlive, ContinuousClock.now < deadline { usleep(200) }
        guard !hasEnded else { return true }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        hasEnded = true
        return false
    }
}
