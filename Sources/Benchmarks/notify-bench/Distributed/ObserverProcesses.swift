internal import ChildProcesses
internal import DistributedNotifications
internal import Glibc
internal import ThreadedNotifications

/// Processes with observers, and the numbers that the observers have handled. Only the measuring thread uses it.
final class ObserverProcesses {
    private let tally: Tally
    private(set) var children: [ChildProcess] = []
    private let timeout: Duration
    private var missed = 0
    /// The number that each observer should have handled since the beginning.
    private(set) var expected = 0

    /// - Parameters:
    ///   - count: the number of observers.
    ///   - areSeparate: whether each observer has a process of its own. Otherwise one process has them all.
    ///   - directory: of the server; the processes share a file in it.
    init(
        _ kind: ObserversProgram.Kind, _ count: Int, areSeparate: Bool = false, in directory: ServerDirectory,
        _ conditions: BenchmarkConditions
    ) throws {
        tally = try Tally(count, at: ObserversProgram.tallyPath(in: directory), isNew: true)
        timeout = conditions.timeout
        // An observer that is ready counts as one notification.
        expect(1)
        do {
            for numbers in areSeparate ? (0..<count).map({ $0..<$0 + 1 }) : [0..<count] {
                let asked = ObserversProgram(kind, numbers, of: count, in: directory, core: conditions.targetCore)
                let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
                defer { close(null) }
                let child = try ChildProgram(path: conditions.observersProgram, arguments: asked.arguments)
                    .start(input: .piped, output: .descriptor(null))
                children.append(child)
            }
            _ = try waitForAll()
        } catch {
            end()
            throw error
        }
    }

    /// Expects each observer to handle `count` more. Called after all earlier posts were handled.
    func expect(_ count: Int) {
        expected += count
        tally.expect(count)
    }

    /// Sleeps until each observer has handled all that is expected.
    ///
    /// - Returns: the time of the last of them, by CControlNow.
    /// - Throws: `BenchmarkError`, also if a notification was lost.
    func waitForAll() throws(BenchmarkError) -> Int64 {
        try wait { tally.wait() }
        let lost = tally.missed - missed
        missed += lost
        if lost > 0 { throw .lost(lost) }
        let most = tally.counts.max() ?? 0
        if most != expected { throw .miscounted(handled: most, posted: expected) }
        return tally.doneAt
    }

    /// Sleeps until each observer has handled `count` notifications since the beginning.
    func waitForEach(_ count: Int) throws(BenchmarkError) {
        try wait {
            let isDone = tally.counts.allSatisfy { $0 >= count }
            if !isDone { usleep(50) }
            return isDone
        }
    }

    /// - Parameter isDone: waits for a moment.
    private func wait(until isDone: () -> Bool) throws(BenchmarkError) {
        let deadline = SuspendingClock.Instant.after(timeout)
        while !isDone() {
            guard !children.contains(where: \.hasEnded) else { throw .observersEnded }
            guard SuspendingClock.now < deadline else {
                throw .timedOut(waitingFor: "the observers to handle what was posted", after: timeout)
            }
        }
    }

    /// Ends the processes: closes their inputs, and kills those that do not end.
    ///
    /// - Returns: true if all ended without being killed.
    @discardableResult
    func end() -> Bool {
        for child in children { child.closeInput() }
        return children.map { $0.wait(timeout: .seconds(2)) }.allSatisfy { $0 == .exit(0) }
    }
}
