import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// The scenarios, on the main thread. The tests of the documents compare their outputs.
final class ScenarioTests: XCTestCase {
    private static let anotherThread = ThreadIdentity(number: 99, name: nil, kernelID: 99)

    private func environment(
        _ options: ScenarioOptions = ScenarioOptions(), program: ChildProgram? = nil,
        timeout: Duration = TestTimeout.hang
    ) throws -> ScenarioEnvironment {
        ScenarioEnvironment(
            options: options, timeout: timeout,
            program: try program ?? ChildProgram(path: "\(Shell.directory())/notify-demo"))
    }

    private func options(_ notifications: Int, posters: Int = 4, dropSignals: Double = 0.9) -> ScenarioOptions {
        var options = ScenarioOptions(notifications: notifications)
        (options.posters, options.dropSignals) = (posters, dropSignals)
        return options
    }

    /// The records of a scenario whose expectations hold.
    private func records(_ scenario: any Scenario, _ options: ScenarioOptions = ScenarioOptions()) throws
        -> [DeliveryRecord]
    {
        let environment = try environment(options)
        try scenario.perform(in: environment)
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) still records")
        let records = environment.recorder.records
        XCTAssertEqual(records.map(\.sequence), Array(1...records.count))
        XCTAssertEqual(
            scenario.expectations(of: RecordedRun(records), options: options).compactMap(\.failure), [], scenario.name)
        return records
    }

    func testEachExpectationOfAScenarioFailsAfterSomeChangeOfOneRecord() throws {
        let changes: [(inout [DeliveryRecord], Int) -> Void] = [
            { $0.remove(at: $1) }, { $0.append($0[$1]) }, { $0.append($0.remove(at: $1)) },
            { $0[$1].thread = Self.anotherThread },
            { $0[$1].sequence = 0 }, { $0[$1].sequence = $0.count + 1 }, { $0[$1].message? += "?" },
            { $0[$1].reason = .stopped },
            { records, index in
                records[index].monotonicNanoseconds = 0
            },
        ]
        for scenario in ScenarioCatalog.all {
            let options =
                switch scenario.name {
                case "flood", "many-observers": options(8, posters: 2)
                case "observer-lifetime": ScenarioOptions(capture: .unsafe)
                default: ScenarioOptions()
                }
            let records = try records(scenario, options)
            // The first and the last record of each kind.
            let kinds = Dictionary(grouping: records.indices) { index in
                [records[index].stage.rawValue, records[index].notification, records[index].message]
            }
            var unbroken = Set(scenario.expectations(of: RecordedRun(records), options: options).map(\.claim))
            for index in Set(kinds.values.flatMap { [$0[0], $0[$0.count - 1]] }) {
                for change in changes where !unbroken.isEmpty {
                    var changed = records
                    change(&changed, index)
                    let expectations = scenario.expectations(of: RecordedRun(changed), options: options)
                    unbroken.subtract(expectations.filter { !$0.holds }.map(\.claim))
                }
            }
            XCTAssertEqual(unbroken, [], scenario.name)
            let ofNothing = scenario.expectations(of: RecordedRun([]), options: options)
            XCTAssertEqual(ofNothing.filter(\.holds).map(\.claim), [], scenario.name)
        }
    }

    func testAFloodWithAnyDropsLosesNothingAndTheSeedRepeatsThem() throws {
        for (drop, dropped) in [(0, 0), (0.5, 1976), (1, 4000)] {
            let records = try records(FloodScenario(), options(4000, posters: 8, dropSignals: drop))
            XCTAssertEqual(records.count { $0.stage == .signal || $0.stage == .dropSignal }, 4001)
            XCTAssertEqual(records.count { $0.stage == .dropSignal }, dropped)
        }
        // Fewer notifications than posters.
        _ = try records(FloodScenario(), options(1, posters: 8))
        for (notifications, posters) in [(1, 1), (50, 16)] {
            _ = try records(ManyObserversScenario(), options(notifications, posters: posters))
        }
        // Without its records, by the tally that the recorder keeps.
        var tallied = try environment(options(4000, posters: 2))
        tallied.recorder = DeliveryRecorder(keepsAll: false)
        try FloodScenario().perform(in: tallied)
        let run = tallied.recorder.run
        XCTAssertEqual(Set(run.records.map(\.stage)), [.log])
        XCTAssertEqual(FloodScenario().expectations(of: run, options: tallied.options).compactMap(\.failure), [])
        XCTAssertEqual(FloodScenario().report(on: run)?.hasSuffix("handled 4000"), true)
    }

    func testAScenarioOffTheMainThreadOrWithoutAProgramIsRefused() throws {
        let refused = expectation(description: "refused")
        Thread {
            assertThrows(ScenarioError.notOnMainThread) { try RedirectScenario().perform(in: ScenarioEnvironment()) }
            refused.fulfill()
        }.start()
        wait(for: [refused], timeout: TestTimeout.seconds)
        for scenario: any Scenario in [ObserverLifetimeScenario(), DistributedScenario()] {
            assertThrows(ScenarioError.noProgram) { try scenario.perform(in: ScenarioEnvironment()) }
        }
    }

    func testASecondProcessThatCannotStartEndsHangsOrWritesNonsenseIsAnErrorAndLeavesNoDirectory() throws {
        func shell(_ line: String) -> ChildProgram { ChildProgram(path: "/bin/sh", arguments: ["-c", line]) }
        func directories() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/tmp").filter {
                $0.hasPrefix("notify-demo-\(getpid())-")
            }
        }
        let before = try directories()
        let short = Duration.milliseconds(50)
        let cannotRun = ScenarioError.child(problem: "cannot run /nonexistent: No such file or directory")
        let distributed: [(ChildProgram, Duration, ScenarioError)] = [
            (ChildProgram(path: "/nonexistent"), TestTimeout.hang, cannotRun),
            (shell(""), TestTimeout.hang, .child(problem: "ended before it had finished a command")),
            (shell("exec sleep 600"), .seconds(2), .timedOut(waitingFor: "the second process", after: .seconds(2))),
        ]
        for (program, timeout, error) in distributed {
            assertThrows(error) {
                try DistributedScenario().perform(in: environment(program: program, timeout: timeout))
            }
        }
        XCTAssertEqual(try directories(), before)
        let lifetime: [(ChildProgram, Duration, ScenarioError)] = [
            (ChildProgram(path: "/nonexistent"), TestTimeout.hang, cannotRun),
            (shell("exec sleep 600"), short, .timedOut(waitingFor: "a second process", after: short)),
        ]
        for (program, timeout, error) in lifetime {
            assertThrows(error) {
                try ObserverLifetimeScenario().perform(in: environment(program: program, timeout: timeout))
            }
        }
        XCTAssertThrowsError(try ObserverLifetimeScenario().perform(in: environment(program: shell("echo nonsense")))) {
            XCTAssertTrue("\($0)".contains("its output is not a recording: its output:1: "), "\($0)")
        }
    }

    func testRecordsOfManyThreadsAreInOrderEveryStageIsRecordedAndNothingAfterwards() {
        let (recorder, outer, inner) = (DeliveryRecorder(), DeliveryRecorder(), DeliveryRecorder())
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<1000 { recorder.record(.post) }
        }
        XCTAssertEqual(recorder.records.map(\.sequence), Array(1...4000))
        let times = recorder.records.map(\.monotonicNanoseconds)
        XCTAssertEqual(times, times.sorted())
        XCTAssertEqual(DeliveryEvent.Stage.allCases.filter { DeliveryStage(rawValue: $0.rawValue) == nil }, [])
        let center = ThreadedNotificationCenter()
        outer.trace {
            inner.trace { _ = center.post(name: .test) }
            center.addObserver(forName: .test, on: .main) { _ in }.cancel()
        }
        center.post(name: .test)
        XCTAssertEqual(inner.records.map(\.stage), [.post])
        XCTAssertEqual(outer.records.map(\.stage), [.register, .remove])
        XCTAssertEqual(outer.records.last?.reason, .cancelled)
    }
}
