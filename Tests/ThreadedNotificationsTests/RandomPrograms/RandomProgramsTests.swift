import SharedTesting
import ThreadedNotifications
import XCTest

/// Random programs, checked by a naive model of the guarantees. `PROGRAM=seed` runs one, and prints what happened;
/// so does a program that fails.
final class RandomProgramsTests: XCTestCase {
    private let oneProgram = ProcessInfo.processInfo.environment["PROGRAM"].flatMap(UInt64.init)

    func testProgramsOfOneThreadKeepTheGuarantees() throws {
        try check(.oneThread, workers: [], programs: 300)
    }

    func testProgramsOfTwoThreadsKeepTheGuarantees() throws {
        try withWorkers(1) { try check(.twoThreads, workers: $0, programs: 200) }
    }

    func testFourPostingThreadsAndTwoTargetThreadsKeepTheGuarantees() throws {
        try withWorkers(6) { try check(.posters, workers: $0, programs: 60) }
    }

    func testEachNotificationHasOneOutcomeWhenHandlersCallThreadExit() throws {
        let programs = oneProgram.map { $0...$0 } ?? 1...TestRounds.rounds(60, stress: 10_000)
        for seed in programs { try withWorkers(1) { try check(.exit, workers: $0, seeds: seed...seed) } }
    }

    private func check(_ shape: RandomProgram.Shape, workers: [RunLoopThread], programs: UInt64) throws {
        let all = 1...TestRounds.rounds(programs, stress: programs * 200)
        try check(shape, workers: workers, seeds: oneProgram.map { $0...$0 } ?? all)
    }

    private func check(_ shape: RandomProgram.Shape, workers: [RunLoopThread], seeds: ClosedRange<UInt64>) throws {
        for seed in seeds {
            let program = RandomProgram(seed: seed, shape: shape)
            let outcome = ProgramRun(program, workers: workers).run()
            let faults = ProgramModel.faults(of: program, outcome)
            if oneProgram != nil || !faults.isEmpty {
                print(program)
                for (index, event) in outcome.events.enumerated() { print(index + 1, event) }
            }
            try require(faults.isEmpty, "\(program)\n\(faults.prefix(5).joined(separator: "\n"))")
        }
    }

    private func withWorkers(_ count: Int, _ body: ([RunLoopThread]) throws -> Void) throws {
        let workers = (0..<count).map { RunLoopThread(name: "worker \($0)") }
        for worker in workers { try worker.start() }
        defer { for worker in workers { worker.stop() } }
        try body(workers)
    }
}
