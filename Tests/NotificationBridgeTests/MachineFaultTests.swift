internal import Foundation
internal import SharedTesting
internal import XCTest

@testable internal import Scenarios

/// What goes wrong between two machines, with the real nats-server, bridges and local servers.
final class MachineFaultTests: XCTestCase {
    /// Nil: a program is not installed. Then `testEveryFault…` is skipped.
    private static let programs = Result { try MachinePrograms() }

    func testInEveryFaultEachPostIsReceivedOnceInOrderOrInTheGap() throws {
        let programs: MachinePrograms
        do { programs = try Self.programs.get() } catch { throw XCTSkip("\(error)") }
        let runs = Awaited([MachineRun]())
        // A run waits much of its time.
        DispatchQueue.concurrentPerform(iterations: MachineFault.all.count) { index in
            let posts = TestRounds.rounds(1000, stress: 20_000)
            let run = MachineRun(MachineFault.all[index], posts: posts, programs, timeout: TestTimeout.hang)
            runs.withLock { $0.append(run) }
        }
        let all = runs.withLock { $0 }
        for run in all { XCTAssertNil(run.problem, run.fault) }
        let skipped = all.compactMap { run in run.skipped.map { "\(run.fault): \($0)" } }
        if !skipped.isEmpty { throw XCTSkip(skipped.joined(separator: "; ")) }
    }
}
