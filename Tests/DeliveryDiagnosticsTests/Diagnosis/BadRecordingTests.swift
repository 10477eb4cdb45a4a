import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class BadRecordingTests: XCTestCase {
    /// Random stages with few posts, observers, threads and processes, so that many belong together. Times may descend.
    private func records(_ count: Int, _ generator: inout SeededGenerator) -> [TestRecord] {
        func maybe(_ range: ClosedRange<Int>, _ generator: inout SeededGenerator) -> Int? {
            Bool.random(using: &generator) ? Int.random(in: range, using: &generator) : nil
        }
        func thread(_ generator: inout SeededGenerator) -> ThreadIdentity {
            let number = Int.random(in: 1...3, using: &generator)
            return ThreadIdentity(number: number, name: number == 1 ? "main" : nil, kernelID: Int32(number))
        }
        let names = ["Done", "Dome", "", "Other name", nil]
        let messages = ["text", "{number = 2, name = x} to handle Done", nil, nil]
        let reasons: [Recording.Reason?] = [.exit, .signal(11), .notStarted, nil]
        return (1...count).map { sequence in
            let time = UInt64.random(
                in: 0...(Bool.random(using: &generator) ? 1000 : 10_000_000_000), using: &generator)
            return TestRecord(
                sequence: sequence, time: time, wallTime: Int64(time),
                process: ProcessIdentity(id: Int32.random(in: 1...2, using: &generator), name: "program"),
                thread: thread(&generator), stage: DeliveryStage.allCases.randomElement(using: &generator) ?? .post,
                name: names.randomElement(using: &generator) ?? nil, post: maybe(1...6, &generator),
                observer: maybe(1...4, &generator), target: Bool.random(using: &generator) ? thread(&generator) : nil,
                message: messages.randomElement(using: &generator) ?? nil,
                location: maybe(0...9, &generator).map { SourceLocation("File.swift", $0) },
                count: maybe(0...3, &generator) ?? maybe(Int.max - 1...Int.max, &generator),
                sender: maybe(1...2, &generator).map { Recording.Sender(identifier: UInt64($0), type: "Type") },
                relatedPost: maybe(1...6, &generator), overtakes: maybe(0...3, &generator) == 0, policy: .block,
                reason: reasons.randomElement(using: &generator) ?? nil)
        }
    }

    /// The results do not matter.
    func testAnyRecordingIsCountedAndDiagnosedWithoutACrash() throws {
        var generator = SeededGenerator(seed: 5)
        let limits = DiagnosisLimits(
            mainBudget: .init(nanoseconds: 1), depth: 1, stall: .init(nanoseconds: 1), chain: 1)
        var kinds: Set<String> = []
        let rounds = TestRounds.rounds(100, stress: 10_000)
        for round in 0..<rounds {
            let recording = Recording(records(1 + round % 120, &generator))
            let statistics = DeliveryStatistics(RecordingIndex(recording))
            for grouping in [nil] + StatisticsReport.Grouping.allCases {
                XCTAssertFalse(StatisticsReport(statistics, width: 1 + round % 100).text(by: grouping).isEmpty)
            }
            let diagnosis = Diagnosis(recording, limits: limits)
            XCTAssertFalse(diagnosis.text(width: 1 + round % 100).isEmpty)
            XCTAssertTrue(try diagnosis.json().hasPrefix("{"))
            kinds.formUnion(diagnosis.findings.map(\.title))
        }
        // The rounds cover most kinds.
        XCTAssertGreaterThan(kinds.count, 15, "\(kinds)")
    }
}
