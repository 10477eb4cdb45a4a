import DeliveryRecording
import RecordingTesting
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

    private func slice(_ timeline: Timeline, of post: String) throws -> Timeline.Item {
        try XCTUnwrap(timeline.slices.first { timeline.post(of: $0.entry) == post })
    }

    func testEachThreadHasALaneOrderedByThreadNumber() {
        var program = RecordedStory()
        program.happens(.log, on: RecordedStory.thread(3), message: "third")
        program.happens(.log, on: worker, message: "second")
        program.happens(.log, on: main, message: "first")
        XCTAssertEqual(timeline(program).lanes.map(\.title), ["main", "worker", "thread 3"])
    }

    func testAnArrowLeadsFromThePostToTheDeliveryAndHasItsLatency() throws {
        let drawn = timeline(.slowHandler)
        let first = try slice(drawn, of: "#1")
        let arrow = drawn.arrows[try XCTUnwrap(first.arrow)]
        XCTAssertEqual(arrow.kind, .delivery)
        XCTAssertTrue((arrow.fromLane, arrow.toLane) == (0, 1))
        XCTAssertTrue((arrow.from, arrow.to) == (90_000, 131_000))
        XCTAssertEqual(arrow.latency, 41_000)
        XCTAssertEqual(first.begin, 131_000)
        XCTAssertEqual(first.end - first.begin, 20_209_000)
        XCTAssertEqual(first.ending, .returned)
    }

    func testANestedHandlerAndItsPostHaveGreaterDepths() throws {
        let drawn = timeline(.slowHandler)
        let (outer, inner) = (try slice(drawn, of: "#2"), try slice(drawn, of: "#4"))
        XCTAssertTrue((outer.depth, inner.depth) == (0, 1))
        XCTAssertTrue(outer.begin < inner.begin && inner.end < outer.end)
        XCTAssertEqual(drawn.arrows[try XCTUnwrap(inner.arrow)].kind, .atOnce)
        XCTAssertEqual(drawn.marks.first { drawn.post(of: $0.entry) == "#4" }?.depth, 1)
    }

    func testTheArrowOfAPostWithoutDeliveryLeadsToItsOutcome() throws {
        let drawn = timeline(.slowHandler)
        let drop = try XCTUnwrap(drawn.marks.first { $0.stage == .drop })
        let arrow = drawn.arrows[try XCTUnwrap(drop.arrow)]
        XCTAssertEqual(arrow.kind, .lost)
        XCTAssertEqual(arrow.from, drawn.marks.first { drawn.post(of: $0.entry) == "#3" }?.begin)
    }

    func testABlocksArrowBeginsAtItsAppend() throws {
        var program = RecordedStory()
        program.happens(.append, on: main, post: 1, target: worker)
        program.happens(.deliver, on: worker, after: 25, post: 1)
        program.happens(.return, on: worker, after: 5, post: 1)
        let drawn = timeline(program)
        XCTAssertEqual(drawn.labels(drawn.marks).map(\.what), ["perform"])
        XCTAssertEqual(drawn.arrows.map(\.latency), [25_000])
        XCTAssertEqual(drawn.rows, [.init(part: .whole, item: 0), .init(part: .whole, item: 1)])
    }

    func testAQueuedPostHasAnArrowFromItsEnqueueAndItsDeliveryOneFromThePost() {
        var program = RecordedStory()
        program.happens(.enqueue, on: worker, "Idle", post: 1, target: main, style: .whenIdle)
        program.happens(.post, on: main, after: 300, "Idle", post: 1, count: 1)
        program.happens(.deliver, on: main, after: 2, "Idle", post: 1, observer: 1)
        program.happens(.return, on: main, after: 2, "Idle", post: 1, observer: 1)
        let drawn = timeline(program)
        XCTAssertEqual(drawn.arrows.map(\.kind), [.queued, .atOnce])
        XCTAssertEqual(drawn.arrows.map(\.latency), [300_000, 2000])
        XCTAssertEqual(drawn.arrows[0].fromLane, 1)
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
        XCTAssertEqual(drawn.arrows.map(\.latency), [40_000])
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

    func testAHandlerThatDoesNotReturnLastsUntilItsThreadEnds() {
        var program = RecordedStory()
        program.happens(.append, on: main, post: 1, target: worker)
        program.happens(.deliver, on: worker, post: 1)
        program.happens(.threadEnd, on: worker, after: 70)
        program.happens(.log, on: main, after: 500, message: "later")
        let drawn = timeline(program)
        XCTAssertEqual(drawn.slices[0].end, 80_000)
        XCTAssertEqual(drawn.lanes[1].end, 80_000)
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

    func testAWaitIsASlice() {
        var program = RecordedStory()
        program.happens(.wait, on: main, message: "until worker has handled it")
        program.happens(.log, on: worker, after: 40, message: "handled")
        program.happens(.waitEnd, on: main, after: 3)
        let drawn = timeline(program)
        XCTAssertEqual(drawn.slices.map(\.stage), [.wait])
        XCTAssertEqual(drawn.slices.map(\.end), [43_000])
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
        XCTAssertEqual(drawn.runs[1].latency, 50_000...70_000)
        XCTAssertEqual(drawn.runs[1].longest, 5000)
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

    func testAnEventBetweenSimilarRowsSplitsTheirRun() {
        var program = RecordedStory()
        for post in 1...9 {
            program.happens(.post, on: main, "Test", post: post)
            if post == 4 { program.happens(.deliver, on: worker, post: 99) }
        }
        XCTAssertEqual(timeline(program).runs.map(\.count), [4, 5])
    }

    // MARK: Selection

    func testALimitCountsTheRecordsThatItLeavesOut() {
        let all = timeline(.slowHandler).rows.count
        for limit in [nil, 3, 0] as [Int?] {
            let drawn = Timeline(RecordingIndex(RecordedStory.slowHandler.recording), limit: limit)
            XCTAssertEqual(drawn.rows.count, limit ?? all)
            XCTAssertTrue(limit == nil ? drawn.leftOut.beyondLimit == 0 : drawn.leftOut.beyondLimit > 0)
            if limit == 3 { XCTAssertEqual(drawn.leftOut.limitReached, 231_000) }
        }
    }

    func testSelectingAPostShowsItsRowsFromPostToReturn() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(post: 2))
        XCTAssertEqual(drawn.rows, [.init(part: .whole, item: 0), .init(part: .whole, item: 1)])
        XCTAssertEqual(drawn.arrows.map(\.latency), [20_113_000])
        XCTAssertEqual(drawn.leftOut.filtered, 11)
    }

    func testSelectingAPostIncludesItsCaptures() throws {
        var program = RecordedStory()
        program.happens(.post, on: main, "Test", post: 1)
        program.happens(.capture, on: main, "Test", post: 2, count: 1, relatedPost: 1)
        program.happens(.deliver, on: main, "Test", post: 2, observer: 1)
        program.happens(.return, on: main, "Test", post: 2, observer: 1)
        program.happens(.post, on: main, "Test", post: 3)
        XCTAssertEqual(try timeline(program, RecordingFilter(post: 1)).rows.count, 3)
    }

    func testSelectingANameIncludesRecordsThatDoNotRepeatTheName() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(name: "TotalDidChange"))
        XCTAssertEqual(drawn.rows, [.init(part: .whole, item: 0), .init(part: .whole, item: 1)])
        XCTAssertEqual(drawn.leftOut.filtered, 11)
    }

    func testSelectingATimeIncludesSlicesThatBeganEarlierAndHaveNotEnded() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(from: 200_000, to: 400_000))
        XCTAssertEqual(drawn.begin, 200_000)
        XCTAssertEqual(drawn.labels(drawn.slices).map(\.post), ["#1"])
        XCTAssertEqual(drawn.labels(drawn.marks).map(\.post), ["#2", "#3"])
        XCTAssertEqual(drawn.leftOut.before, 3)
        XCTAssertTrue(drawn.leftOut.after > 0)
    }

    // MARK: Many threads

    func testTheBusiestThreadsKeepTheirLanesAndTheOthersShareOne() {
        var program = RecordedStory()
        for number in 1...200 {
            let thread = RecordedStory.thread(number)
            for _ in 0..<(number == 150 ? 20 : 1) { program.happens(.log, on: thread, message: "here") }
        }
        let drawn = timeline(program).folded(toLanes: 3)
        XCTAssertEqual(drawn.lanes.map(\.title), ["thread 1", "thread 150", "198 others"])
        XCTAssertEqual(drawn.foldedLanes.count, 198)
        XCTAssertEqual(drawn.lanes.reduce(0) { $0 + $1.threads }, 200)
        XCTAssertTrue(drawn.marks.allSatisfy { $0.lane < 3 })
    }

    func testAnEmptyRecordingHasAnEmptyTimeline() {
        let drawn = Timeline(RecordingIndex(Recording([])))
        XCTAssertTrue(drawn.rows.isEmpty)
        XCTAssertTrue(drawn.lanes.isEmpty)
        XCTAssertEqual(TimelineText(drawn, width: 80).text, "0 rows of 0 records, 0 threads, 0 ns: the run")
    }
}

extension Timeline {
    /// Handlers and waits.
    var slices: [Item] { items.filter { !$0.isRun && !$0.isMark } }
    var marks: [Item] { items.filter { !$0.isRun && $0.isMark } }
    var runs: [Item] { items.filter(\.isRun) }

    func labels(_ items: [Item]) -> [TimelineLabel] { items.map(label) }
}
