import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class RandomRunComparisonTests: XCTestCase {
    private func compare(_ first: [TestRecord], _ second: [TestRecord]) -> RunComparison {
        RunComparison(Recording(ended(first)), Recording(ended(second)))
    }

    /// Without an end, a recording is incomplete.
    private func ended(_ records: [TestRecord]) -> [TestRecord] {
        guard var end = records.last else { return [] }
        (end.sequence, end.stage, end.reason, end.message) = (end.sequence + 1, .end, .exit, nil)
        return records + [end]
    }

    private func programs(_ count: Int, stress: Int, areAllNamed: Bool = false) -> [(UInt64, RandomProgram)] {
        (0..<UInt64(TestRounds.rounds(count, stress: stress))).map {
            ($0, RandomProgram(seed: $0, areAllNamed: areAllNamed || $0 % 2 == 0))
        }
    }

    func testTwoRunsOfOneProgramAreTheSameHoweverTheirThreadsInterleave() {
        for (seed, program) in programs(30, stress: 1000) {
            let runs = (1...2).map { program.records(seed: seed &* 31 &+ $0) }
            let comparison = compare(runs[0], runs[1])
            guard comparison.isSame else { return XCTFail("seed \(seed): \(comparison)") }
        }
    }

    func testARunNeverDiffersFromItsOwnBeginning() {
        for (seed, program) in programs(6, stress: 200) {
            let records = program.records(seed: seed)
            let complete = Recording(ended(records))
            for count in stride(from: 1, through: records.count, by: 1 + records.count / 10) {
                let short = Recording(Array(records.prefix(count)))
                for comparison in [RunComparison(complete, short), RunComparison(short, complete)]
                where comparison.truncation == nil {
                    return XCTFail("seed \(seed), \(count) of \(records.count): \(comparison)")
                }
            }
        }
    }

    func testNoPlaceOutcomeOrCountTellsRunsOfOneProgramApart() throws {
        for (seed, program) in programs(10, stress: 300, areAllNamed: true) {
            let runs = (1...6).map { number in
                ComparisonInput.recording(Recording(ended(program.records(seed: seed &* 31 &+ number))))
            }
            let report = try ManyRunsReport(
                good: Array(runs[..<3]), bad: Array(runs[3...]), pools: [], maximumAnswers: .max)
            let json = try JSONText.of(report)
            for kind in ["place", "outcome", "count"] {
                XCTAssertFalse(json.contains(#""kind":"\#(kind)""#), "seed \(seed): \(report)")
            }
        }
    }

    func testARecordingWithMissingRepeatedOrReorderedRecordsEqualsItself() {
        var generator = SeededGenerator(seed: 8)
        for (seed, program) in programs(6, stress: 200) {
            let complete = program.records(seed: seed)
            let pieces = complete.filter { _ in !generator.once(in: 10) }
            for damaged in [pieces, pieces + pieces.suffix(3), pieces.reversed()] {
                let comparison = compare(damaged, damaged)
                guard comparison.isSame else { return XCTFail("seed \(seed): \(comparison)") }
                _ = compare(complete, damaged)
            }
        }
    }

    /// Changes records, and returns the index of the change in the original, and whether the copy has a record there.
    private typealias Change = (inout [TestRecord], inout SeededGenerator) -> (index: Int, isInCopy: Bool)?

    func testAChangeIsReportedAtItsRecordInBothDirections() throws {
        let changes: [(String, Change)] = [
            (
                "a message",
                { records, generator in
                    let logs = records.indices.filter { records[$0].stage == .log }
                    guard let index = logs.randomElement(using: &generator) else { return nil }
                    records[index].message = "changed"
                    return (index, true)
                }
            ),
            (
                "a removed delivery",
                { records, generator in
                    guard let (index, end) = Self.emptyHandlers(of: records).randomElement(using: &generator) else {
                        return nil
                    }
                    for removed in [end, index] { records.remove(at: removed) }
                    return (index, false)
                }
            ),
            (
                "a delivery on another thread",
                { records, generator in
                    guard let (index, end) = Self.emptyHandlers(of: records).randomElement(using: &generator),
                        let thread = Set(records.map(\.thread)).filter({ $0 != records[index].thread })
                            .min(by: { $0.number < $1.number })
                    else { return nil }
                    records.insert(records.remove(at: end), at: index + 1)
                    for moved in index...index + 1 { records[moved].thread = thread }
                    return (index, true)
                }
            ),
        ]
        for (name, change) in changes {
            var count = 0
            for (seed, program) in programs(16, stress: 600, areAllNamed: true) {
                let records = program.records(seed: seed)
                var (changed, generator) = (records, SeededGenerator(seed: seed &+ 1000))
                guard let (index, isInCopy) = change(&changed, &generator) else { continue }
                count += 1
                let difference = try XCTUnwrap(compare(records, changed).differences.first, "\(name), seed \(seed)")
                XCTAssertEqual(difference.first.line, index + 1, "\(name), seed \(seed): \(difference)")
                let back = try XCTUnwrap(compare(changed, records).differences.first, "\(name), seed \(seed)")
                XCTAssertTrue(
                    back.second.line == index + 1 || isInCopy && back.first.line == index + 1,
                    "\(name), seed \(seed): \(back)")
            }
            XCTAssertGreaterThan(count, 3, name)
        }
    }

    /// Handed-over deliveries to handlers that do nothing, with their returns.
    private static func emptyHandlers(of records: [TestRecord]) -> [(Int, Int)] {
        let appended = Set(records.filter { $0.stage == .append }.map { [$0.post, $0.observer] })
        return records.indices.compactMap { index in
            let record = records[index]
            guard record.stage == .deliver, appended.contains([record.post, record.observer]),
                let next = records[(index + 1)...].firstIndex(where: { $0.thread == record.thread }),
                records[next].stage == .return
            else { return nil }
            return (index, next)
        }
    }
}
