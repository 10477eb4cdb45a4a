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
        let skipped = Awaited([String]())
        // A run waits much of its time.
        DispatchQueue.concurrentPerform(iterations: MachineFault.all.count) { index in
            let (fault, posts) = (MachineFault.all[index], TestRounds.rounds(500, stress: 20_000))
            let result = fault.run(posts: posts, timeout: TestTimeout.hang).result
            if result.hasPrefix(MachinesScenario.skipped) {
                skipped.withLock { $0.append("\(fault.name): \(result)") }
            } else {
                XCTAssertEqual(result, MachinesScenario.asPromised, fault.name)
            }
        }
        let rows = skipped.withLock { $0 }
        if !rows.isEmpty { throw XCTSkip(rows.joined(separator: "; ")) }
    }

    func testALocalServerThatKeepsPostsForABridgeThatIsGoneSleepsAndTheNextOneGetsThem() throws {
        try skipWithoutPrograms()
        let rig = try MachineRig(timeout: TestTimeout.hang)
        try rig.one.post()
        try rig.waitForAll()
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
        try rig.waitForAll()
        XCTAssertEqual(rig.tally.withLock { [$0.received, $0.gap] }, [101, 0])
    }

    func testATallyTellsWhatIsReceivedInOrderAndWhichPromiseDoesNotHold() {
        var tally = MachineTally()
        func expect(_ problem: String?, posted: Int, _ loss: MachineFault.Loss) {
            tally.posted = posted
            XCTAssertEqual(tally.problem(loss), problem)
        }
        for (machine, number) in [("a", 1), ("b", 1), ("a", 2), ("a", 5), ("b", 2)] {
            tally.receive(number, from: machine, at: "c")
        }
        expect("nothing was lost", posted: 5, .certain)
        tally.receive(.gap(NotificationGap(count: 3, cause: .slow)))
        tally.receive(.interrupted(reason: "none"))
        expect(nil, posted: 8, .none)
        tally.receive(.gap(NotificationGap(count: 1, cause: .missing)))
        expect("1 were lost", posted: 9, .none)
        expect(nil, posted: 9, .possible)
        expect("8 were posted, 5 received, and the gap is 4", posted: 8, .possible)
        for number in [5, 4] { tally.receive(number, from: "a", at: "c") }
        expect("2 came twice, or after a later one", posted: 9, .none)
        XCTAssertEqual(tally.last, [["c", "a"]: 5, ["c", "b"]: 2])
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
