internal import ChildProcesses
internal import DistributedNotifications
internal import Glibc
internal import ThreadedNotifications

/// A process with observers, and the numbers that they have handled. Only the measuring thread uses it.
final class ObserverProcess {
    private let tally: Tally
    let child: ChildProcess
    private let timeout: Duration
    private var missed = 0
    /// The number that each observer should have handled since the beginning.
    private(set) var expected = 0

    /// - Parameters:
    ///   - count: the number of observers.
    ///   - directory: of the server; the processes share a file in it.
    init(
        _ kind: ObserversProgram.Kind, _ count: Int, in directory: ServerDirectory, _ conditions: BenchmarkConditions
    ) throws {
        tally = try Tally(count, at: ObserversProgram.tallyPath(in: directory), isNew: true)
        timeout = conditions.timeout
        let asked = ObserversProgram(kind, count, in: directory)
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        child = try ChildProgram(path: conditions.observersProgram, arguments: asked.arguments)
            .start(input: .piped, output: .descriptor(null))
        // An observer that is ready counts as one notification.
        expect(1)
        do {
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
            if child.hasEnded { throw .observersEnded }
            guard SuspendingClock.now < deadline else {
                throw .timedOut(waitingFor: "the observers to handle what was posted", after: timeout)
            }
        }
    }

    /// Ends the process: closes its input, and kills it if it does not end.
    ///
    /// - Returns: true if it ended without being killed.
    @discardableResult
    func end() -> Bool {
        child.closeInput()
        return child.wait(timeout: .seconds(2)) == .exit(0)
    }
}
