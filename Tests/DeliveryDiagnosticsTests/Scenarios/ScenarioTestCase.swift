import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Lets scenarios happen on the main thread, and breaks their records.
class ScenarioTestCase: XCTestCase {
    static let anotherThread = ThreadIdentity(number: 99, name: nil, kernelID: 99)

    func records(
        of scenario: any Scenario, options: ScenarioOptions = ScenarioOptions()
    ) throws -> [DeliveryRecord] {
        let environment = ScenarioEnvironment(options: options)
        try scenario.perform(in: environment)
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) goes on recording")
        return environment.recorder.records
    }

    func failures(
        of scenario: any Scenario, _ records: [DeliveryRecord], options: ScenarioOptions = ScenarioOptions()
    ) -> [String] {
        scenario.expectations(of: records, options: options).filter { !$0.holds }.map(\.claim)
    }

    /// That a recording of which one thing is changed fails these claims and no others.
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
    /// The place of the first record that is so.
    func place(
        _ what: String = "no such record", where isSo: (DeliveryRecord) -> Bool
    ) throws -> Int {
        try XCTUnwrap(firstIndex(where: isSo), what)
    }

    /// The place of the first record with this message.
    func place(of message: String) throws -> Int {
        try place("nothing says \(message)") { $0.message == message }
    }

    /// The place of the first delivery of a notification.
    func placeOfDelivery() throws -> Int {
        try place { $0.stage == .deliver && $0.notification != nil }
    }

    /// Changes what the library is said to have counted.
    mutating func miscount() throws {
        self[try place { $0.stage == .count }].message = "posted 1000"
    }
}
