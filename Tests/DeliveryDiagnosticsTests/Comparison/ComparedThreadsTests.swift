import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Which threads of two recordings correspond, and what of them is compared.
final class ComparedThreadsTests: RecordingComparisonTestCase {
    // MARK: Selection

    func testIgnoredNotificationsAreNotComparedNorWhatTheirHandlersDo() {
        func run(_ ticks: Int) -> RecordedStory {
            script { script in
                for tick in 0..<ticks {
                    script.hand(10 + tick, to: [2], on: Self.a, "Tick")
                    script.add(.deliver, on: Self.a, "Tick", post: 10 + tick, observer: 2)
                    script.add(.log, on: Self.a, message: "tick \(tick)")
                    script.add(.return, on: Self.a, "Tick", post: 10 + tick, observer: 2)
                }
                script.deliver(1, to: [1], on: Self.a)
            }
        }
        XCTAssertFalse(compare(run(2), run(3)).isSame)
        XCTAssertTrue(compare(run(2), run(3)) { $0.ignored = ["Tick"] }.isSame)
    }

    func testOnlyTheSelectedNotificationsOrThreadAreCompared() throws {
        func run(_ message: String, posts: Bool = true) -> Recording {
            script { script in
                script.hand(1, to: [1], on: Self.a, "Tick")
                script.add(.deliver, on: Self.a, "Tick", post: 1, observer: 1)
                script.add(.log, on: Self.a, message: message)
                if posts { script.hand(2, to: [2], on: Self.b, from: Self.a) }
                script.add(.return, on: Self.a, "Tick", post: 1, observer: 1)
                if posts { script.handle(2, by: 2, on: Self.b) }
            }.recording("run")
        }
        func isSame(_ one: Recording, _ other: Recording, name: String? = nil, thread: String? = nil) throws -> Bool {
            var options = RunComparison.Options()
            try options.select(RecordingFilter(name: name, thread: thread), of: one, other)
            return RunComparison(one, other, options: options).isSame
        }
        let (one, other, without) = (run("x"), run("y"), run("x", posts: false))
        XCTAssertFalse(try isSame(one, other))
        // The handlers that post the selected notifications are not compared, but still tell them apart.
        XCTAssertTrue(try isSame(one, other, name: "Done"))
        XCTAssertTrue(try isSame(one, other, name: "Tick"))
        XCTAssertTrue(try isSame(one, other, thread: "b"))
        XCTAssertFalse(try isSame(one, other, thread: "a"))
        XCTAssertFalse(try isSame(one, without, name: "Done"))
        XCTAssertTrue(try isSame(one, without, name: "Tick"))
        assertThrows(RecordingSelection.NothingSelected.self) { try isSame(one, other, name: "Tock") }
        assertThrows(RecordingSelection.NothingSelected.self) { try isSame(one, other, thread: "c") }
    }

    // MARK: Threads

    /// Threads without names that log a message each and then perform a block on another thread each.
    private func rings(_ next: [Int], order: [Int]) -> RecordedStory {
        script { script in
            for index in order { script.add(.log, on: RecordedStory.thread(index + 2), message: "hello") }
            for (post, index) in order.enumerated() {
                script.add(
                    .append, on: RecordedStory.thread(index + 2), nil, post: post + 1,
                    target: RecordedStory.thread(next[index] + 2))
            }
        }
    }

    func testThreadsWithoutNamesAreDistinguishedByTheThreadsTheyHandNotificationsTo() {
        let next = (0..<24).map { $0 ^ 1 }
        var generator = SeededGenerator(seed: 3)
        let many = compare(
            rings(next, order: Array(0..<24)), rings(next, order: (0..<24).shuffled(using: &generator)))
        XCTAssertTrue(many.isSame, many.text)
        XCTAssertEqual(many.threads, 24)
        let (ring, rings) = ([1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3])
        for next in [ring, rings] {
            XCTAssertTrue(
                compare(self.rings(next, order: Array(0..<6)), self.rings(next, order: [3, 1, 5, 0, 2, 4])).isSame)
        }
        // A ring of six threads and two rings of three, in which all threads look alike.
        let undecided = compare(self.rings(ring, order: Array(0..<6)), self.rings(rings, order: Array(0..<6)))
        XCTAssertTrue(undecided.isUndecided, undecided.text)
        XCTAssertTrue(undecided.text.contains("Give the threads names to avoid this"))
    }

    func testRunsThatAreKnownToDifferAreNeverUndecided() {
        let runs = ["x", "y"].map { fifth in
            script { script in
                for n in 2..<9 { script.add(.log, on: RecordedStory.thread(n), message: n == 5 ? fifth : "x") }
            }
        }
        let reason = compare(runs[0], runs[1]).differences.first?.reason
        XCTAssertTrue(reason == .message || reason == .onlyInFirst)
    }

    func testTheThreadsOfAProcessCorrespondToThreadsOfOneProcess() {
        func run(_ messages: [(Int32, String)]) -> RecordedStory {
            var script = RecordedStory()
            for (process, message) in messages {
                script.process = ProcessIdentity(id: process, name: "p")
                script.add(.log, message: message)
                script.add(.log, on: Self.a, message: message)
                script.end()
            }
            return script
        }
        XCTAssertTrue(compare(run([(7, "x"), (8, "y")]), run([(3, "y"), (4, "x")])).isSame)
        XCTAssertFalse(compare(run([(7, "x"), (8, "y")]), run([(3, "x"), (3, "y")])).isSame)
    }
}
