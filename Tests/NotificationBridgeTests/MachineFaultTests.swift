internal import DistributedNotifications
internal import Foundation
internal import SharedTesting
internal import ThreadedNotifications
internal import XCTest

@testable internal import Scenarios

/// What goes wrong between two machines, with the real nats-server, bridges and local servers.
final class MachineFaultTests: XCTestCase {
    private func skipWithoutPrograms() throws { if let missing = MachineRig.missing { throw XCTSkip(missing) } }

    func testInEveryFaultEachPostIsReceivedOnceInOrderOrInTheGap() throws {
        try skipWithoutPrograms()
        let runs = Awaited([MachineRun]())
        // A run waits much of its time.
        DispatchQueue.concurrentPerform(iterations: MachineFault.all.count) { index in
            let posts = TestRounds.rounds(500, stress: 20_000)
            let run = MachineRun(MachineFault.all[index], posts: posts, timeout: TestTimeout.hang)
            runs.withLock { $0.append(run) }
        }
        let all = runs.withLock { $0 }
        for run in all { XCTAssertNil(run.problem, run.fault) }
        let skipped = all.compactMap { run in run.skipped.map { "\(run.fault): \($0)" } }
        if !skipped.isEmpty { throw XCTSkip(skipped.joined(separator: "; ")) }
    }

    func testALocalServerThatKeepsPostsForABridgeThatIsGoneSleepsAndTheNextOneGetsThem() throws {
        try skipWithoutPrograms()
        let rig = try MachineRig(timeout: TestTimeout.hang)
        try rig.one.post()
        try rig.two.waitForAll(of: [rig.one])
        try rig.one.endBridge()
        for _ in 0..<100 { try rig.one.post() }
        let server = try XCTUnwrap(rig.one.status?.process)
        // One that polls a connection which has ended runs without end.
        XCTAssertTrue(
            eventually {
                let state = try? String(contentsOfFile: "/proc/\(server)/stat", encoding: .utf8)
                return state?.split(separator: ")").last?.first { $0 != " " } == "S"
            })
        try rig.one.startBridge()
        try rig.two.waitForAll(of: [rig.one])
        XCTAssertEqual(rig.two.tally.withLock { [$0.received, $0.gap] }, [101, 0])
    }

    func testATallyTellsWhatIsReceivedInOrderAndWhichPromiseDoesNotHold() {
        var tally = MachineTally()
        for (machine, number) in [("a", 1), ("b", 1), ("a", 2), ("a", 5), ("b", 2)] {
            tally.receive(number, from: machine)
        }
        XCTAssertEqual(tally.problem(posted: 5, .certain), "nothing was lost")
        tally.receive(.gap(NotificationGap(count: 3, cause: .slow)))
        tally.receive(.interrupted(reason: "none"))
        XCTAssertEqual(tally.problem(posted: 8, .none), nil)
        tally.receive(.gap(NotificationGap(count: 1, cause: .missing)))
        XCTAssertEqual(tally.problem(posted: 9, .none), "1 were lost")
        XCTAssertEqual(tally.problem(posted: 9, .possible), nil)
        XCTAssertEqual(tally.problem(posted: 8, .possible), "8 were posted, 5 received, and the gap is 4")
        for number in [5, 4] { tally.receive(number, from: "a") }
        XCTAssertEqual(tally.problem(posted: 9, .none), "2 came twice, or after a later one")
        XCTAssertEqual(tally.last, ["a": 5, "b": 2])
    }

    func testARowThatIsMissingOrNotAsPromisedFails() throws {
        let names = MachineFault.all.map(\.name)
        let good = names.map { "\($0): as promised" }
        for (lines, failures) in [
            (good, []), (good.dropLast(), ["not run"]), (["skipped: there is no nats-server"], []),
            (["\(names[0]): 3 were lost"] + good.dropFirst(), ["3 were lost"]),
            (["\(names[0]): skipped: no tool"] + good.dropFirst(), []),
        ] as [([String], [String])] {
            try ScenarioRecording.start()
            for line in lines { ScenarioRecording.log(line) }
            let claims = MachinesScenario().expectations(of: try ScenarioRecording.finish(), options: ScenarioOptions())
            XCTAssertEqual(claims.compactMap(\.failure), failures)
        }
    }
}
