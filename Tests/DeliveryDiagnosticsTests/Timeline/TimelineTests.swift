import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests the content of a timeline.
final class TimelineTests: XCTestCase {
    private let main = RecordedStory.main
    private let worker = RecordedStory.worker

    private func timeline(_ program: RecordedStory) -> Timeline { Timeline(RecordingIndex(program.recording)) }

    private func timeline(_ program: RecordedStory, _ filter: RecordingFilter) throws -> Timeline {
        let index = RecordingIndex(program.recording)
        return Timeline(index, try RecordingSelection(filter, of: index.recording))
    }

    func testEachThreadHasALaneOrderedByThreadNumber() {
        var program = RecordedStory()
        program.happens(.log, on: RecordedStory.thread(3), message: "third")
        program.happens(.log, on: worker, message: "second")
        program.happens(.log, on: main, message: "first")
        XCTAssertEqual(timeline(program).lanes.map(\.title), ["main", "worker", "thread 3"])
    }

    func testAQueuedPostHasAnArrowFromItsEnqueueAndItsDeliveryOneFromThePost() {
        var program = RecordedStory()
        program.happens(.enqueue, on: worker, "Idle", post: 1, target: main, style: .whenIdle)
        program.happens(.post, on: main, after: 300, "Idle", post: 1, count: 1)
        program.happens(.deliver, on: main, after: 2, "Idle", post: 1, observer: 1)
        program.happens(.return, on: main, after: 2, "Idle", post: 1, observer: 1)
        let drawn = timeline(program)
        XCTAssertEqual(drawn.arrows.map(\.kind), [.queued, .atOnce])
        XCTAssertEqual(drawn.arrows.map(\.latency.upperBound), [300_000, 2000])
        XCTAssertEqual(drawn.arrows[0].lane, 1)
    }

    func testInTheDocumentsTechniqueDeliveriesHaveArrowsButNoRecordedDuration() throws {
        var program = RecordedStory()
        program.happens(.post, on: worker, "Test", post: 1)
        program.happens(.capture, on: worker, "Test", post: 1)
        program.happens(.signal, on: worker, "Test")
        program.happens(.drain, on: main, "Test")
        program.happens(.deliver, on: main, "Test", post: 1)
        program.happens(.log, on: main, message: "process notification")
        let drawn = timeline(program)
        XCTAssertEqual(drawn.arrows.map(\.latency.upperBound), [40_000])
        XCTAssertEqual(drawn.slices.map(\.ending), [.notRecorded])
        XCTAssertEqual(drawn.marks.map(\.depth), [0, 0])
        XCTAssertEqual(drawn.leftOut.undrawn, [.signal: 1, .drain: 1])
    }

    func testPendingDeliveriesAreCountedAtTheirPost() {
        var program = RecordedStory()
        program.happens(.post, on: main, "Test", post: 1, count: 3)
        program.happens(.append, on: main, "Test", post: 1, observer: 1, target: worker)
        program.happens(.append, on: main, "Test", post: 1, observer: 2, target: worker)
        program.happens(.skip, on: main, "Test", post: 1, observer: 3)
        program.happens(.deliver, on: worker, "Test", post: 1, observer: 1)
        let drawn = timeline(program)
        XCTAssertEqual(drawn.label(of: drawn.marks[0]).details, ["to 3 observers"])
        XCTAssertEqual(drawn.label(of: drawn.marks[0]).outcome, "1 still waiting")
        XCTAssertEqual(drawn.lanes.map(\.waiting), [0, 1], "it is told at its target, too")
        XCTAssertEqual(drawn.slices[0].ending?.runsOn, true)
    }

    func testAllThreadsOfAProcessEndWithIt() {
        var program = RecordedStory()
        program.happens(.append, on: main, post: 1, target: worker)
        program.happens(.deliver, on: worker, post: 1)
        program.happens(.processEnd, on: main, after: 70, reason: .signal(11))
        program.happens(.log, on: main, after: 500, message: "later")
        let drawn = timeline(program)
        XCTAssertEqual(drawn.slices.map { $0.ending?.runsOn }, [true])
        XCTAssertEqual(drawn.slices.map(\.end), [80_000])
        XCTAssertEqual(drawn.lanes.map(\.end), [80_000, 80_000])
    }

    // MARK: Runs

    func testFourOrMoreSimilarRowsAreARunWithARangeOfLatenciesThreeAreNot() throws {
        func posts(_ number: Int) -> RecordedStory {
            var program = RecordedStory()
            for post in 1...number { program.happens(.post, on: main, "Test", post: post) }
            for post in 1...number {
                program.happens(.deliver, on: worker, "Test", post: post, observer: 1)
                program.happens(.return, on: worker, after: 5, "Test", post: post, observer: 1)
            }
            return program
        }
        XCTAssertTrue(timeline(posts(3)).runs.isEmpty)
        XCTAssertEqual(timeline(posts(3)).rows.count, 6)
        let drawn = timeline(posts(5))
        XCTAssertEqual(drawn.rows, [.init(part: .whole, item: 0), .init(part: .whole, item: 1)])
        XCTAssertEqual(drawn.runs.map(\.count), [5, 5])
        XCTAssertEqual(drawn.runs.map { drawn.post(of: $0.lastEntry) }, ["#5", "#5"])
        XCTAssertEqual(drawn.runs[1].arrow?.latency, 50_000...70_000)
        XCTAssertTrue((drawn.items.count, drawn.arrows.count) == (2, 1))
        let each = Timeline(RecordingIndex(posts(5).recording), foldsRuns: false)
        XCTAssertTrue(each.runs.isEmpty)
        XCTAssertEqual(each.rows.count, 10)
    }

    func testARunCountsAllPendingDeliveriesAndDoesNotIncludePostsWithoutObservers() {
        let drawn = timeline(.stalledWorker)
        XCTAssertEqual(drawn.labels(drawn.runs).map(\.outcome), ["9 still waiting"])
        XCTAssertEqual(drawn.labels(drawn.marks).compactMap(\.outcome), ["unobserved"])
        XCTAssertEqual(drawn.lanes.map(\.waiting), [0, 9])
        var program = RecordedStory()
        for post in 1...4 { program.happens(.post, on: main, "Test", post: post, count: 0) }
        for post in 5...8 { program.happens(.post, on: main, "Test", post: post, count: 1) }
        let posts = timeline(program)
        XCTAssertEqual(posts.labels(posts.runs).map(\.outcome), ["unobserved", "4 still waiting"])
    }

    // MARK: Selection

    func testSelectingAPostIncludesItsCaptures() throws {
        var program = RecordedStory()
        program.happens(.post, on: main, "Test", post: 1)
        program.happens(.capture, on: main, "Test", post: 2, count: 1, relatedPost: 1)
        program.happens(.deliver, on: main, "Test", post: 2, observer: 1)
        program.happens(.return, on: main, "Test", post: 2, observer: 1)
        program.happens(.post, on: main, "Test", post: 3)
        XCTAssertEqual(try timeline(program, RecordingFilter(post: 1)).rows.count, 3)
    }

    func testSelectingATimeIncludesSlicesThatBeganEarlierAndHaveNotEnded() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(from: 200_000, to: 400_000))
        XCTAssertEqual(drawn.begin, 200_000)
        XCTAssertEqual(drawn.labels(drawn.slices).map(\.post), ["#1"])
        XCTAssertEqual(drawn.labels(drawn.marks).map(\.post), ["#2", "#3"])
        XCTAssertEqual(drawn.leftOut.before, 6)
        XCTAssertTrue(drawn.leftOut.after > 0)
    }
}

extension Timeline {
    /// Handlers and waits.
    var slices: [Item] { items.filter { !$0.isRun && !$0.isMark } }
    var marks: [Item] { items.filter { !$0.isRun && $0.isMark } }
    var runs: [Item] { items.filter(\.isRun) }
    var arrows: [Arrow] { items.compactMap(\.arrow) }

    func labels(_ items: [Item]) -> [TimelineLabel] { items.map(label) }
}
