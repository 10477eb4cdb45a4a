import DeliveryDiagnostics
import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// Runs scenarios on the main thread, and changes their records to break expectations.
class ScenarioTestCase: XCTestCase {
    static let anotherThread = ThreadIdentity(number: 99, name: nil, kernelID: 99)

    func records(
        of scenario: any Scenario, options: ScenarioOptions = ScenarioOptions()
    ) throws -> [DeliveryRecord] {
        let environment = ScenarioEnvironment(options: options)
        try scenario.perform(in: environment)
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) still records")
        return environment.recorder.records
    }

    func failures(
        of scenario: any Scenario, _ records: [DeliveryRecord], options: ScenarioOptions = ScenarioOptions()
    ) -> [String] {
        scenario.expectations(of: records, options: options).filter { !$0.holds }.map(\.claim)
    }

    /// Asserts that the expectations hold, and that exactly these claims fail after the change.
    func assert(
        _ scenario: any Scenario, fails claims: [String], after change: (inout [DeliveryRecord]) throws -> Void,
        line: UInt = #line
    ) throws {
        var records = try records(of: scenario)
        XCTAssertEqual(failures(of: scenario, records), [], line: line)
        try change(&records)
        XCTAssertEqual(failures(of: scenario, records), claims, line: line)
    }
}

extension [DeliveryRecord] {
    /// The index of the first record that matches.
    func indexOfRecord(
        _ failure: String = "no such record", where matches: (DeliveryRecord) -> Bool
    ) throws -> Int {
        try XCTUnwrap(firstIndex(where: matches), failure)
    }

    /// The index of the first record with this message.
    func indexOfMessage(_ message: String) throws -> Int {
        try indexOfRecord("no record says \(message)") { $0.message == message }
    }

    /// The index of the first delivery of a notification.
    func indexOfDelivery() throws -> Int {
        try indexOfRecord { $0.stage == .deliver && $0.notification != nil }
    }

    /// Changes the first counters that the library has recorded.
    mutating func miscount() throws {
        self[try indexOfRecord { $0.stage == .count }].counters = DeliveryCounters(delivered: 1000)
    }
}
