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

    func testTwoRunsOfOneProgramAreTheSameHoweverTheirThreadsInterleave() {
        for seed in 0..<UInt64(TestRounds.rounds(30, stress: 1000)) {
            let program = RandomProgram(seed: seed, areAllNamed: seed % 2 == 0)
            let runs = (1...2).map { RandomRun(program, seed: seed &* 31 &+ $0) }
            let comparison = compare(runs[0].records, runs[1].records)
            guard comparison.isSame else { return XCTFail("seed \(seed): \(comparison.text)") }
        }
    }

    func testARunNeverDiffersFromItsOwnBeginning() {
        var found = (truncated: 0, undecided: 0)
        for seed in 0..<UInt64(TestRounds.rounds(6, stress: 200)) {
            let records = RandomRun(RandomProgram(seed: seed, areAllNamed: seed % 2 == 0), seed: seed).records
            let complete = Recording(ended(records))
            for count in stride(from: 1, through: records.count, by: 1 + records.count / 10) {
                let short = Recording(Array(records.prefix(count)))
                for comparison in [RunComparison(complete, short), RunComparison(short, complete)] {
                    found.truncated += comparison.truncation == nil ? 0 : 1
                    found.undecided += comparison.isUndecided ? 1 : 0
                    guard comparison.differences.isEmpty else {
                        return XCTFail("seed \(seed), \(count) of \(records.count): \(comparison.text)")
                    }
                }
            }
        }
        XCTAssertGreaterThan(found.truncated, 30, "\(found)")
        XCTAssertLessThan(found.undecided, found.truncated / 10, "\(found)")
    }

    func testNoPlaceOutcomeOrCountTellsRunsOfOneProgramApart() {
        for seed in 0..<UInt64(TestRounds.rounds(10, stress: 300)) {
            let program = RandomProgram(seed: seed, areAllNamed: true)
            var texts = FactTexts()
            let runs = (1...6).map { number in
                RunFacts(Recording(ended(RandomRun(program, seed: seed &* 31 &+ number).records)), &texts)
            }
            let found = RunAnswers(good: Array(runs[..<3]), bad: Array(runs[3...]), texts)
            for answer in found.answers where [.place, .outcome, .count].contains(answer.kind) {
                XCTFail("seed \(seed): \(texts.clause(answer.fact))")
            }
        }
    }

    func testARecordingWithMissingRepeatedOrReorderedRecordsEqualsItself() {
        var generator = SeededGenerator(seed: 8)
        for seed in 0..<UInt64(TestRounds.rounds(6, stress: 200)) {
            let complete = RandomRun(RandomProgram(seed: seed, areAllNamed: seed % 2 == 0), seed: seed).records
            let pieces = complete.filter { _ in !generator.once(in: 10) }
            for damaged in [pieces, pieces + pieces.suffix(3), pieces.reversed()] {
                let comparison = compare(damaged, damaged)
                guard comparison.isSame else { return XCTFail("seed \(seed): \(comparison.text)") }
                _ = compare(complete, damaged)
            }
        }
    }

    func testAChangedMessageIsReportedAtItsRecord() throws {
        try expectDifference { records, generator in
            guard let index = records.indices.filter({ records[$0].stage == .log }).randomElement(using: &generator)
            else { return nil }
            var changed = records
            changed[index].message = "changed"
            return (changed, index, index)
        }
    }

    func testARemovedDeliveryIsReportedAtItsRecord() throws {
        try expectDifference { records, generator in
            guard let (index, end) = emptyHandlers(of: records).randomElement(using: &generator) else { return nil }
            var changed = records
            changed.remove(at: end)
            changed.remove(at: index)
            return (changed, index, nil)
        }
    }

    func testADeliveryOnAnotherThreadIsReportedAtItsRecord() throws {
        try expectDifference { records, generator in
            guard let (index, end) = emptyHandlers(of: records).randomElement(using: &generator),
                let thread = Set(records.map(\.thread)).filter({ $0 != records[index].thread })
                    .min(by: { $0.number < $1.number })
            else { return nil }
            var changed = records
            let returned = changed.remove(at: end)
            changed.insert(returned, at: index + 1)
            changed[index].thread = thread
            changed[index + 1].thread = thread
            return (changed, index, index)
        }
    }

    /// Compares random runs with modified copies, in both directions.
    ///
    /// - Parameter mutation: returns the modified records, and the index of the change in the original and in the copy.
    private func expectDifference(
        _ mutation: ([TestRecord], inout SeededGenerator) -> (
            changed: [TestRecord], index: Int, inChanged: Int?
        )?
    ) throws {
        var changes = 0
        for seed in 0..<UInt64(TestRounds.rounds(16, stress: 600)) {
            let program = RandomProgram(seed: seed, areAllNamed: true)
            let records = RandomRun(program, seed: seed).records
            var generator = SeededGenerator(seed: seed &+ 1000)
            guard let (changed, index, inChanged) = mutation(records, &generator) else { continue }
            changes += 1
            let difference = try XCTUnwrap(compare(records, changed).differences.first, "seed \(seed)")
            XCTAssertEqual(difference.first.line.map { $0 - 1 }, index, "seed \(seed): \(difference)")
            let back = try XCTUnwrap(compare(changed, records).differences.first, "seed \(seed)")
            XCTAssertTrue(
                back.second.line == index + 1 || (inChanged != nil && back.first.line == inChanged.map { $0 + 1 }),
                "seed \(seed): \(back)")
        }
        XCTAssertGreaterThan(changes, 3)
    }

    /// Handed-over deliveries to handlers that do nothing, with their returns.
    private func emptyHandlers(of records: [TestRecord]) -> [(Int, Int)] {
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
