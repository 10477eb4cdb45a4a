import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// The scenarios, on the main thread. The tests of the documents compare their outputs.
final class ScenarioTests: XCTestCase {
    private func environment(
        _ options: ScenarioOptions = ScenarioOptions(), program: ChildProgram? = nil,
        timeout: Duration = TestTimeout.hang
    ) throws -> ScenarioEnvironment {
        var environment = ScenarioEnvironment(
            program: try program ?? ChildProgram(path: "\(Shell.directory())/notify-demo"))
        (environment.options, environment.timeout) = (options, timeout)
        return environment
    }

    private func flood(_ notifications: Int, posters: Int = 8, dropSignals: Double = 0.9) -> ScenarioOptions {
        var options = ScenarioOptions()
        (options.notifications, options.posters, options.dropSignals) = (notifications, posters, dropSignals)
        return options
    }

    private func perform(_ scenario: any Scenario, in environment: ScenarioEnvironment) throws -> RecordedRun {
        try ScenarioRecording.start()
        let result = Result { try scenario.perform(in: environment) }
        let run = try ScenarioRecording.finish()
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) still records")
        try result.get()
        XCTAssertEqual(run.recording.problems, [], scenario.name)
        XCTAssertEqual(
            scenario.expectations(of: run, options: environment.options).compactMap(\.failure), [], scenario.name)
        return run
    }

    func testEachExpectationOfAScenarioFailsAfterSomeChangeOfOneRecord() throws {
        let changes: [(inout Recording, Int) -> Void] = [
            { $0.entries.remove(at: $1) }, { $0.entries.append($0.entries[$1]) },
            { $0.entries.append($0.entries.remove(at: $1)) },
            { $0.entries.insert($0.entries.remove(at: $1), at: 0) },
            { recording, index in
                var thread = recording.threads[Int(recording.entries[index].thread)]
                thread.identity = ThreadIdentity(number: 99, name: nil, kernelID: 99)
                recording.threads.append(thread)
                recording.entries[index].thread = Int32(recording.threads.count - 1)
            },
            { recording, index in
                recording.strings.append((recording.message(of: recording.entries[index]) ?? "") + "?")
                recording.entries[index].message = Int32(recording.strings.count - 1)
            },
            { $0.entries[$1].reason = .stopped }, { $0.entries[$1].time = 0 },
        ]
        // The tests of the bridge run the machines.
        for scenario in ScenarioCatalog.all where scenario.name != "machines" {
            var options = flood(8, posters: 2)
            options.capture = .unsafe
            let recording = try perform(scenario, in: environment(options)).recording
            // The first and the last record of each kind.
            let kinds = Dictionary(grouping: recording.entries.indices) { index in
                let entry = recording.entries[index]
                return [entry.stage.rawValue, recording.name(of: entry), recording.message(of: entry)]
            }
            var unbroken = Set(scenario.expectations(of: RecordedRun(recording), options: options).map(\.claim))
            for index in Set(kinds.values.flatMap { [$0[0], $0[$0.count - 1]] }) {
                for change in changes where !unbroken.isEmpty {
                    var changed = recording
                    change(&changed, index)
                    let expectations = scenario.expectations(of: RecordedRun(changed), options: options)
                    unbroken.subtract(expectations.filter { !$0.holds }.map(\.claim))
                }
            }
            XCTAssertEqual(unbroken, [], scenario.name)
        }
    }

    func testAFloodWithAnyDropsLosesNothingAndTheSeedRepeatsThem() throws {
        for (notifications, drop, dropped) in [(400, 0, 0), (400, 0.5, 207), (400, 1, 400), (1, 0.9, 1)] {
            let options = flood(notifications, dropSignals: drop)
            let entries = try perform(FloodScenario(), in: environment(options)).recording.entries
            XCTAssertEqual(entries.count { $0.stage == .signal || $0.stage == .dropSignal }, notifications + 1)
            XCTAssertEqual(entries.count { $0.stage == .dropSignal }, dropped, "\(drop)")
        }
    }

    func testASecondProcessThatCannotStartEndsHangsOrRecordsNothingIsAnError() throws {
        func shell(_ line: String) -> ChildProgram { ChildProgram(path: "/bin/sh", arguments: ["-c", line]) }
        let (short, hang) = (Duration.milliseconds(50), TestTimeout.hang)
        let missing = ChildProgram(path: "/nonexistent")
        for (scenario, program, timeout, problem) in [
            (DistributedScenario(), missing, hang, "cannot run /nonexistent: No such file or directory"),
            (DistributedScenario(), shell(""), hang, "the child process ended before it had read its input"),
            (DistributedScenario(), shell("exec sleep 600"), .seconds(2), "the child process wrote no line within 2.0"),
            (
                ObserverLifetimeScenario(), shell("exec sleep 600"), short,
                "timed out after 0.05 seconds while waiting for a second process"
            ),
            (ObserverLifetimeScenario(), shell("exit 0"), hang, "the second process: it recorded nothing"),
        ] as [(any Scenario, ChildProgram, Duration, String)] {
            XCTAssertThrowsError(try perform(scenario, in: environment(program: program, timeout: timeout))) {
                XCTAssertTrue("\($0)".hasPrefix(problem), "\($0)")
            }
        }
    }

    func testEveryStageOfTheLibraryIsOneOfRecords() throws {
        for stage in DeliveryEvent.Stage.allCases {
            XCTAssertNotNil(DeliveryStage(rawValue: stage.rawValue), "\(stage)")
        }
    }
}
