import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// Runs a scenario once on the main thread, and changes copies of its records to break its expectations.
struct ScenarioCheck {
    static let anotherThread = ThreadIdentity(number: 99, name: nil, kernelID: 99)

    let scenario: any Scenario
    let options: ScenarioOptions
    let records: [DeliveryRecord]

    /// Asserts that all expectations hold.
    init(
        _ scenario: any Scenario, options: ScenarioOptions = ScenarioOptions(),
        in environment: ScenarioEnvironment = ScenarioEnvironment(), line: UInt = #line
    ) throws {
        var environment = environment
        environment.options = options
        try scenario.perform(in: environment)
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) still records")
        self.scenario = scenario
        self.options = options
        records = environment.recorder.records
        XCTAssertEqual(failures(of: records), [], scenario.name, line: line)
    }

    func failures(of records: [DeliveryRecord]) -> [String] {
        scenario.expectations(of: records, options: options).filter { !$0.holds }.map(\.claim)
    }

    /// Asserts that exactly these claims fail after a change of the records.
    func fails(
        _ claims: String..., line: UInt = #line, after change: (inout [DeliveryRecord]) throws -> Void
    ) throws {
        var records = records
        try change(&records)
        XCTAssertEqual(failures(of: records), claims, line: line)
    }

    /// Asserts that the scenario notices counters of the library that differ from the records.
    func failsIfMiscounted(line: UInt = #line) throws {
        try fails("the library's counters agree with the records", line: line) {
            $0[try $0.index(.count)].counters = DeliveryCounters(delivered: 1000)
        }
    }
}

extension [DeliveryRecord] {
    /// The index of the first record that matches.
    func index(_ failure: String = "no such record", where matches: (DeliveryRecord) -> Bool) throws -> Int {
        try XCTUnwrap(firstIndex(where: matches), failure)
    }

    func index(of message: String) throws -> Int { try index("no record says \(message)") { $0.message == message } }

    func index(_ stage: DeliveryStage, _ notification: String? = nil) throws -> Int {
        try index { $0.stage == stage && (notification == nil || $0.notification == notification) }
    }

    /// The first delivery of a notification.
    func indexOfDelivery() throws -> Int { try index { $0.stage == .deliver && $0.notification != nil } }

    func sequence(after message: String) throws -> Int { self[try index(of: message)].sequence + 1 }

    /// Exchanges the posts of all records that match.
    mutating func exchange(_ one: Int?, _ other: Int?, where matches: (DeliveryRecord) -> Bool) {
        for index in indices where matches(self[index]) {
            if self[index].post == one {
                self[index].post = other
            } else if self[index].post == other {
                self[index].post = one
            }
        }
    }
}
