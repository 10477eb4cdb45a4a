internal import CControl
internal import Glibc

/// Processes with observers, and the numbers that the observers have handled. Only the measuring thread uses it.
final class ObserverProcesses {
    private let tally: OpaquePointer
    private(set) var children: [Child] = []
    private let timeout: Duration
    private var missed: UInt64 = 0
    /// The number that each observer should have handled since the beginning.
    private(set) var expected: UInt64 = 0

    struct Child {
        var process: pid_t = 0
        /// The process's standard input ends when this descriptor is closed.
        fileprivate var input: Int32 = -1
        fileprivate var hasEnded = false

        fileprivate mutating func checkIsAlive() -> Bool {
            if !hasEnded { hasEnded = waitpid(process, nil, WNOHANG) == process }
            return !hasEnded
        }
    }

    /// - Parameters:
    ///   - count: the number of observers.
    ///   - areSeparate: whether each observer has a process of its own. Otherwise one process has them all.
    init(
        _ kind: ObserversProgram.Kind, _ count: Int, areSeparate: Bool = false, path: String,
        _ conditions: BenchmarkConditions
    ) throws {
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
        do {
            if areSeparate {
                for number in 0..<count { try start(program, words + ["--observer", "\(number)"], memory) }
            } else {
                try start(program, words, memory)
            }
            try wait(for: "the observers to be ready")
        } catch {
            end()
            throw error
        }
    }

    private func start(_ program: String, _ words: [String], _ memory: Int32) throws(BenchmarkError) {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = Child()
        let error = CControlSpawn(&child.process, &child.input, program, &arguments, memory)
        guard error == 0 else { throw .notMade("a process for the observers", code: error) }
        children.append(child)
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
        let deadline = SuspendingClock.now + timeout
        while CControlTallyLeast(tally) < count {
            guard SuspendingClock.now < deadline, checkAreAlive() else {
                throw .timedOut(waitingFor: "the observers to catch up", after: timeout)
            }
            usleep(50)
        }
    }

    private func wait(for what: String) throws(BenchmarkError) {
        let deadline = SuspendingClock.now + timeout
        while !CControlTallyWait(tally, 100_000_000) {
            guard checkAreAlive() else { throw .observersEnded }
            guard SuspendingClock.now < deadline else { throw .timedOut(waitingFor: what, after: timeout) }
        }
    }

    private func checkAreAlive() -> Bool {
        children.indices.allSatisfy { children[$0].checkIsAlive() }
    }

    /// Ends the processes: closes their inputs, and kills those that do not end.
    ///
    /// - Returns: true if all ended without being killed.
    @discardableResult
    func end() -> Bool {
        for child in children {
            ProcessorTimes.addOwn(process: child.process)
            close(child.input)
        }
        let deadline = SuspendingClock.now + .seconds(2)
        var allEnded = true
        for index in children.indices {
            while children[index].checkIsAlive(), SuspendingClock.now < deadline { usleep(200) }
            guard !children[index].hasEnded else { continue }
            allEnded = false
            kill(children[index].process, SIGKILL)
            waitpid(children[index].process, nil, 0)
            children[index].hasEnded = true
        }
        return allEnded
    }
}
