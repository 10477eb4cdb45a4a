import DeliveryRecording
import Foundation
import FoundationXML
import SharedTesting
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Draws timelines of invalid recordings.
@Suite("Random timelines")
struct RandomTimelineTests {
    private func records(_ random: inout SeededGenerator) -> [DeliveryRecord] {
        let names = ["A", "PriceDidChange", "名前", "e\u{301}", "\u{1B}[2J", String(repeating: "long ", count: 60), ""]
        let threads = Int.random(in: 1...40, using: &random)
        let posts = Int.random(in: 1...20, using: &random)
        let stages = Bool.random(using: &random) ? DeliveryStage.allCases : [.post, .append, .deliver, .return]
        var time: UInt64 = 0
        return (0..<Int.random(in: 0...300, using: &random)).map { index in
            time &+= UInt64(1) << UInt64.random(in: 0...(index % 50 == 49 ? 63 : 14), using: &random)
            func maybe<Value>(_ value: Value) -> Value? { Int.random(in: 0...3, using: &random) > 0 ? value : nil }
            func thread() -> ThreadIdentity {
                let number = Int.random(in: 1...threads, using: &random)
                return ThreadIdentity(number: number, name: maybe(names[number % names.count]), kernelID: 1)
            }
            return DeliveryRecord(
                sequence: index + 1, monotonicNanoseconds: time,
                wallNanoseconds: .random(in: .min ... .max, using: &random),
                process: ProcessIdentity(id: maybe(1) ?? 2, name: "p"), thread: thread(),
                stage: stages.randomElement(using: &random) ?? .log,
                notification: maybe(names.randomElement(using: &random) ?? ""),
                post: maybe(Int.random(in: 1...posts, using: &random)),
                observer: maybe(Int.random(in: 1...3, using: &random)),
                target: maybe(thread()), message: maybe(names.randomElement(using: &random) ?? ""),
                count: maybe(Int.random(in: 0...4, using: &random)),
                relatedPost: maybe(Int.random(in: 1...posts, using: &random)))
        }
    }

    private func selection(_ random: inout SeededGenerator) -> TimelineSelection {
        func maybe<Value>(_ value: Value) -> Value? { Int.random(in: 0...3, using: &random) == 0 ? value : nil }
        return TimelineSelection(
            from: maybe(Int64.random(in: 0...100_000, using: &random)) ?? 0,
            to: maybe(Int64.random(in: 0...1_000_000, using: &random)) ?? .max,
            post: maybe(Int.random(in: 1...21, using: &random)), name: maybe("A"),
            limit: maybe(Int.random(in: 0...50, using: &random)), foldsRuns: Bool.random(using: &random))
    }

    @Test(
        "lines fit the width, the picture is well formed, and nothing is left out silently", arguments: 0..<300)
    func anything(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let recording = Recording(records(&random))
        let selection = selection(&random)
        let timeline = Timeline(recording, selection: selection)
        expectSound(timeline, of: recording, selection)
        for symbols in [TimelineSymbols.unicode, .ascii] {
            let width = Int.random(in: TimelineText.minimumWidth...220, using: &random)
            let text = TimelineText(timeline, width: width, symbols: symbols)
            for line in text.lines {
                let line = line.map(\.text).joined()
                #expect(DisplayWidth.of(line) <= width, "\(line)")
                if symbols.isASCII { #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }) }
            }
        }
        let svg = TimelinePicture(timeline).svg
        #expect(XMLParser(data: Data(svg.utf8)).parse())
        #expect(!svg.contains("nan") && !svg.contains("inf\""))
    }

    private func expectSound(_ timeline: Timeline, of recording: Recording, _ selection: TimelineSelection) {
        let lanes = timeline.lanes.indices
        #expect(timeline.slices.allSatisfy { lanes.contains($0.lane) && $0.begin <= $0.end })
        #expect(timeline.marks.allSatisfy { lanes.contains($0.lane) })
        #expect(timeline.runs.allSatisfy { lanes.contains($0.lane) && $0.count >= 4 && $0.begin <= $0.end })
        #expect(
            timeline.arrows.allSatisfy { lanes.contains($0.fromLane) && lanes.contains($0.toLane) && $0.latency >= 0 })
        let times = timeline.rows.map { timeline.time(of: $0) }
        #expect(times == times.sorted())
        #expect(times.allSatisfy { $0 >= selection.from && $0 <= selection.to })
        if let limit = selection.limit { #expect(timeline.rows.count <= limit) }
        guard !selection.foldsRuns else { return }
        let drawn = timeline.rows.reduce(0) { sum, row in
            switch row {
            case .lasts(let slice) where timeline.slices[slice].ending == .isNotRecorded: sum + 1
            case .lasts: sum + 2
            case .begins, .ends, .mark, .run: sum + 1
            }
        }
        let leftOut = timeline.leftOut
        let counted = leftOut.before + leftOut.after + leftOut.filtered + leftOut.beyondLimit
        let undrawn = leftOut.undrawn.values.reduce(0, +)
        let parts = recording.entries.count { $0.stage == .append || $0.stage == .capture }
        let total = drawn + counted + undrawn
        #expect((recording.entries.count - parts...recording.entries.count).contains(total))
    }
}
