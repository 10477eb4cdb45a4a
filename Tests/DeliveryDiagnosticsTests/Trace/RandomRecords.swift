import DeliveryRecording
import SharedTesting
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Random records with any stages, numbers and times, as a damaged file may have them.
enum RandomRecords {
    static func records(_ count: Int, seed: UInt64) -> [TestRecord] {
        var generator = SeededGenerator(seed: seed)
        func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func maybe<Value>(_ value: Value) -> Value? { random(0...3) == 0 ? nil : value }
        let texts = ["A", "B \"quoted\"", "line\nbreak\u{0}\u{7F}", "é\u{1F600}\\", ""]
        let extremes = [Int.min, -1, 0, Int(Int32.max), Int.max]
        // Some recordings have fewer stages, so that more records belong together.
        let stages = random(0...1) == 0 ? DeliveryStage.allCases : [.post, .append, .drain, .deliver, .return, .drop]
        var time = UInt64(random(0...1) == 0 ? 1_000_000 : 0)
        func thread(_ process: Int) -> ThreadIdentity {
            let number = random(0...30) == 0 ? extremes[random(0...4)] : random(1...4)
            return ThreadIdentity(
                number: number, name: maybe(texts[random(0...4)]), kernelID: Int32(truncatingIfNeeded: random(-1...9)))
        }
        func number() -> Int { random(0...99) == 0 ? extremes[random(0...4)] : random(1...6) }
        return (1..<count + 1).map { sequence in
            switch random(0...30) {
            case 0: time = UInt64(random(0...2_000_000))
            case 1: time = random(0...99) == 0 ? .max : time
            default: time &+= UInt64(random(0...2) * random(0...3000))
            }
            let process = random(0...2)
            return TestRecord(
                sequence: random(0...9) == 0 ? number() : sequence, time: time,
                wallTime: Int64(number()),
                process: ProcessIdentity(id: Int32(process / 2 * 7), name: texts[process]), thread: thread(process),
                stage: stages[random(0...stages.count - 1)], name: maybe(texts[random(0...4)]),
                post: maybe(number()), observer: maybe(number()), target: maybe(thread(process)),
                message: maybe(texts[random(0...4)]), location: maybe(SourceLocation(texts[random(0...4)], number())),
                count: maybe(number()), relatedPost: maybe(number()))
        }
    }
}
