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
        _ options: ScenarioOptions = ScenarioOptions()
    ) throws -> ScenarioEnvironment {
        ScenarioEnvironment(
            options: options, timeout: TestTimeout.hang,
            program: ChildProgram(path: "\(try Shell.directory())/notify-demo"))
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
        try result.get()
        return run
    }

    /// The recording of a scenario whose expectations hold.
    private func recording(_ scenario: any Scenario, _ options: ScenarioOptions = ScenarioOptions()) throws -> Recording
    {
        let run = try perform(scenario, in: environment(options))
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) still records")
        XCTAssertEqual(run.recording.problems, [], scenario.name)
        XCTAssertEqual(
            scenario.expectations(of: run, options: options).compactMap(\.failure), [], scenario.name)
        return run.recording
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
        for scenario in ScenarioCatalog.all {
            var options = flood(8, posters: 2)
            options.capture = .unsafe
            let recording = try recording(scenario, options)
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
            let ofNothing = scenario.expectations(of: RecordedRun(Recording(source: "nothing")), options: options)
            XCTAssertEqual(ofNothing.filter(\.holds).map(\.claim), [], scenario.name)
        }
    }

    func testAFloodWithAnyDropsLosesNothingAndTheSeedRepeatsThem() throws {
        for (notifications, drop, dropped) in [(400, 0, 0), (400, 0.5, 207), (400, 1, 400), (1, 0.9, 1)] {
            let entries = try recording(FloodScenario(), flood(notifications, dropSignals: drop)).entries
            XCTAssertEqual(entries.count { $0.stage == .signal || $0.stage == .dropSignal }, notifications + 1)
            XCTAssertEqual(entries.count { $0.stage == .dropSignal }, dropped, "\(drop)")
        }
        // Without its records, which are counted.
        let environment = try environment(flood(400))
        try ScenarioRecording.start(recordsAll: false)
        try FloodScenario().perform(in: environment)
        let run = try ScenarioRecording.finish()
        XCTAssertEqual(Set(run.recording.entries.map(\.stage)), [.log, .end])
        XCTAssertEqual(FloodScenario().expectations(of: run, options: environment.options).compactMap(\.failure), [])
        XCTAssertEqual(FloodScenario().report(on: run)?.hasSuffix("handled 400"), true)
    }

    func testEveryStageOfTheLibraryIsOneOfRecordsAndNothingIsRecordedAfterwards() throws {
        for stage in DeliveryEvent.Stage.allCases {
            XCTAssertNotNil(DeliveryStage(rawValue: stage.rawValue), "\(stage)")
        }
        let center = ThreadedNotificationCenter()
        try ScenarioRecording.start()
        ScenarioRecording.trace { center.addObserver(forName: .test, on: .main) { _ in }.cancel() }
        center.post(name: .test)
        let entries = try ScenarioRecording.finish().recording.entries
        XCTAssertEqual(entries.map(\.stage), [.register, .remove, .end])
        XCTAssertEqual(entries[1].reason, .cancelled)
    }
}
