import DeliveryRecording
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Tests the content of a timeline.
@Suite("Timeline")
struct TimelineTests {
    private let main = RecordedProgram.main
    private let worker = RecordedProgram.worker

    private func timeline(_ program: RecordedProgram) -> Timeline { Timeline(RecordingIndex(program.recording)) }

    private func timeline(_ program: RecordedProgram, _ filter: RecordingFilter) throws -> Timeline {
        let index = RecordingIndex(program.recording)
        return Timeline(index, try RecordingSelection(filter, of: index.recording))
    }

    private func slice(_ timeline: Timeline, of post: String) throws -> Timeline.Item {
        try #require(timeline.slices.first { $0.label.post == post })
    }

    @Test("each thread has a lane, ordered by thread number")
    func lanes() {
        var program = RecordedProgram()
        program.happens(.log, on: RecordedProgram.thread(3), message: "third")
        program.happens(.log, on: worker, message: "second")
        program.happens(.log, on: main, message: "first")
        #expect(timeline(program).lanes.map(\.title) == ["main", "worker", "thread 3"])
    }

    @Test("an arrow leads from the post to the delivery and has its latency")
    func arrows() throws {
        let drawn = timeline(.slowHandler)
        let first = try slice(drawn, of: "#1")
        let arrow = drawn.arrows[try #require(first.arrow)]
        #expect(arrow.kind == .delivery)
        #expect((arrow.fromLane, arrow.toLane) == (0, 1))
        #expect((arrow.from, arrow.to) == (90_000, 131_000))
        #expect(arrow.latency == 41_000)
        #expect(first.begin == 131_000)
        #expect(first.end - first.begin == 20_209_000)
        #expect(first.ending == .returned)
    }

    @Test("a nested handler and its post have greater depths")
    func nesting() throws {
        let drawn = timeline(.slowHandler)
        let (outer, inner) = (try slice(drawn, of: "#2"), try slice(drawn, of: "#4"))
        #expect((outer.depth, inner.depth) == (0, 1))
        #expect(outer.begin < inner.begin && inner.end < outer.end)
        #expect(drawn.arrows[try #require(inner.arrow)].kind == .atOnce)
        #expect(drawn.marks.first { $0.label.post == "#4" }?.depth == 1)
    }

    @Test("the arrow of a post without delivery leads to its outcome")
    func lost() throws {
        let drawn = timeline(.slowHandler)
        let drop = try #require(drawn.marks.first { $0.stage == .drop })
        let arrow = drawn.arrows[try #require(drop.arrow)]
        #expect(arrow.kind == .lost)
        #expect(arrow.from == drawn.marks.first { $0.label.post == "#3" }?.begin)
    }

    @Test("a block's arrow begins at its append")
    func blocks() throws {
        var program = RecordedProgram()
        program.happens(.append, on: main, post: 1, target: worker)
        program.happens(.deliver, on: worker, after: 25, post: 1)
        program.happens(.return, on: worker, after: 5, post: 1)
        let drawn = timeline(program)
        #expect(drawn.marks.map(\.label.what) == ["perform"])
        #expect(drawn.arrows.map(\.latency) == [25_000])
        #expect(drawn.rows == [.whole(0), .whole(1)])
    }

    @Test("a queued post has an arrow from its enqueue, and its delivery one from the post")
    func queued() {
        var program = RecordedProgram()
        program.happens(.enqueue, on: worker, "Idle", post: 1, target: main, style: .whenIdle)
        program.happens(.post, on: main, after: 300, "Idle", post: 1, count: 1)
        program.happens(.deliver, on: main, after: 2, "Idle", post: 1, observer: 1)
        program.happens(.return, on: main, after: 2, "Idle", post: 1, observer: 1)
        let drawn = timeline(program)
        #expect(drawn.arrows.map(\.kind) == [.queued, .atOnce])
        #expect(drawn.arrows.map(\.latency) == [300_000, 2000])
        #expect(drawn.arrows[0].fromLane == 1)
    }

    @Test("in the document's technique, deliveries have arrows but no recorded duration")
    func document() throws {
        var program = RecordedProgram()
        program.happens(.post, on: worker, "Test", post: 1)
        program.happens(.capture, on: worker, "Test", post: 1)
        program.happens(.signal, on: worker, "Test")
        program.happens(.drain, on: main, "Test")
        program.happens(.deliver, on: main, "Test", post: 1)
        program.happens(.log, on: main, message: "process notification")
        let drawn = timeline(program)
        #expect(drawn.arrows.map(\.latency) == [40_000])
        #expect(drawn.slices.map(\.ending) == [.isNotRecorded])
        #expect(drawn.marks.map(\.depth) == [0, 0])
        #expect(drawn.leftOut.undrawn == [.signal: 1, .drain: 1])
    }

    @Test("pending deliveries are counted at their post")
    func waiting() {
        var program = RecordedProgram()
        program.happens(.post, on: main, "Test", post: 1, count: 3)
        program.happens(.append, on: main, "Test", post: 1, observer: 1, target: worker)
        program.happens(.append, on: main, "Test", post: 1, observer: 2, target: worker)
        program.happens(.skip, on: main, "Test", post: 1, observer: 3)
        program.happens(.deliver, on: worker, "Test", post: 1, observer: 1)
        let drawn = timeline(program)
        #expect(drawn.marks[0].label.details == ["to 3 observers"])
        #expect(drawn.marks[0].label.outcome == "1 still waiting")
        #expect(drawn.lanes.map(\.waiting) == [0, 1], "it is told at its target, too")
        #expect(drawn.slices[0].ending == .runsOn)
    }

    @Test("a handler that does not return lasts until its thread ends")
    func endedThread() {
        var program = RecordedProgram()
        program.happens(.append, on: main, post: 1, target: worker)
        program.happens(.deliver, on: worker, post: 1)
        program.happens(.threadEnd, on: worker, after: 70)
        program.happens(.log, on: main, after: 500, message: "later")
        let drawn = timeline(program)
        #expect(drawn.slices[0].end == 80_000)
        #expect(drawn.lanes[1].end == 80_000)
    }

    @Test("all threads of a process end with it")
    func endedProcess() {
        var program = RecordedProgram()
        program.happens(.append, on: main, post: 1, target: worker)
        program.happens(.deliver, on: worker, post: 1)
        program.happens(.processEnd, on: main, after: 70, reason: .signal(11))
        program.happens(.log, on: main, after: 500, message: "later")
        let drawn = timeline(program)
        #expect(drawn.slices.map(\.ending) == [.runsOn])
        #expect(drawn.slices.map(\.end) == [80_000])
        #expect(drawn.lanes.map(\.end) == [80_000, 80_000])
    }

    @Test("a wait is a slice")
    func waits() {
        var program = RecordedProgram()
        program.happens(.wait, on: main, message: "until worker has handled it")
        program.happens(.log, on: worker, after: 40, message: "handled")
        program.happens(.waitEnd, on: main, after: 3)
        let drawn = timeline(program)
        #expect(drawn.slices.map(\.kind) == [.wait])
        #expect(drawn.slices.map(\.end) == [43_000])
    }

    // MARK: Runs

    @Test("four or more similar rows are a run with a range of latencies, three are not")
    func runs() throws {
        func posts(_ number: Int) -> RecordedProgram {
            var program = RecordedProgram()
            for post in 1...number { program.happens(.post, on: main, "Test", post: post) }
            for post in 1...number {
                program.happens(.deliver, on: worker, "Test", post: post, observer: 1)
                program.happens(.return, on: worker, after: 5, "Test", post: post, observer: 1)
            }
            return program
        }
        #expect(timeline(posts(3)).runs.isEmpty)
        #expect(timeline(posts(3)).rows.count == 6)
        let drawn = timeline(posts(5))
        #expect(drawn.rows == [.whole(0), .whole(1)])
        #expect(drawn.runs.map(\.count) == [5, 5])
        #expect(drawn.runs.map(\.lastPost) == ["#5", "#5"])
        #expect(drawn.runs[1].latency == 50_000...70_000)
        #expect(drawn.runs[1].longest == 5000)
        #expect((drawn.items.count, drawn.arrows.count) == (2, 1))
        let each = Timeline(RecordingIndex(posts(5).recording), foldsRuns: false)
        #expect(each.runs.isEmpty)
        #expect(each.rows.count == 10)
    }

    @Test("a run counts all pending deliveries, and does not include posts without observers")
    func waitingRun() {
        let drawn = timeline(.stalledWorker)
        #expect(drawn.runs.map(\.label.outcome) == ["9 still waiting"])
        #expect(drawn.marks.compactMap(\.label.outcome) == ["unobserved"])
        #expect(drawn.lanes.map(\.waiting) == [0, 9])
        var program = RecordedProgram()
        for post in 1...4 { program.happens(.post, on: main, "Test", post: post, count: 0) }
        for post in 5...8 { program.happens(.post, on: main, "Test", post: post, count: 1) }
        #expect(timeline(program).runs.map(\.label.outcome) == ["unobserved", "4 still waiting"])
    }

    @Test("an event between similar rows splits their run")
    func partedRuns() {
        var program = RecordedProgram()
        for post in 1...9 {
            program.happens(.post, on: main, "Test", post: post)
            if post == 4 { program.happens(.deliver, on: worker, post: 99) }
        }
        #expect(timeline(program).runs.map(\.count) == [4, 5])
    }

    // MARK: Selection

    @Test("a filter counts the records that it leaves out", arguments: [nil, 3, 0])
    func limit(_ limit: Int?) {
        let all = timeline(.slowHandler).rows.count
        let drawn = Timeline(RecordingIndex(RecordedProgram.slowHandler.recording), limit: limit)
        #expect(drawn.rows.count == limit ?? all)
        #expect(limit == nil ? drawn.leftOut.beyondLimit == 0 : drawn.leftOut.beyondLimit > 0)
        if limit == 3 { #expect(drawn.leftOut.limitReached == 231_000) }
    }

    @Test("selecting a post shows its rows from post to return")
    func onePost() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(post: 2))
        #expect(drawn.rows == [.whole(0), .whole(1)])
        #expect(drawn.arrows.map(\.latency) == [20_113_000])
        #expect(drawn.leftOut.filtered == 11)
    }

    @Test("selecting a post includes its captures")
    func captured() throws {
        var program = RecordedProgram()
        program.happens(.post, on: main, "Test", post: 1)
        program.happens(.capture, on: main, "Test", post: 2, count: 1, relatedPost: 1)
        program.happens(.deliver, on: main, "Test", post: 2, observer: 1)
        program.happens(.return, on: main, "Test", post: 2, observer: 1)
        program.happens(.post, on: main, "Test", post: 3)
        #expect(try timeline(program, RecordingFilter(post: 1)).rows.count == 3)
    }

    @Test("selecting a name includes records that do not repeat the name")
    func oneName() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(name: "TotalDidChange"))
        #expect(drawn.rows == [.whole(0), .whole(1)])
        #expect(drawn.leftOut.filtered == 11)
    }

    @Test("selecting a time includes slices that began earlier and have not ended")
    func window() throws {
        let drawn = try timeline(.slowHandler, RecordingFilter(from: 200_000, to: 400_000))
        #expect(drawn.begin == 200_000)
        #expect(drawn.slices.map(\.label.post) == ["#1"])
        #expect(drawn.marks.map(\.label.post) == ["#2", "#3"])
        #expect(drawn.leftOut.before == 3)
        #expect(drawn.leftOut.after > 0)
    }

    // MARK: Many threads

    @Test("the busiest threads keep their lanes and the others share one")
    func folding() {
        var program = RecordedProgram()
        for number in 1...200 {
            let thread = RecordedProgram.thread(number)
            for _ in 0..<(number == 150 ? 20 : 1) { program.happens(.log, on: thread, message: "here") }
        }
        let drawn = timeline(program).folded(toLanes: 3)
        #expect(drawn.lanes.map(\.title) == ["thread 1", "thread 150", "198 others"])
        #expect(drawn.foldedLanes.count == 198)
        #expect(drawn.lanes.reduce(0) { $0 + $1.threads } == 200)
        #expect(drawn.marks.allSatisfy { $0.lane < 3 })
    }

    @Test("an empty recording has an empty timeline")
    func empty() {
        let drawn = Timeline(RecordingIndex(Recording([])))
        #expect(drawn.rows.isEmpty)
        #expect(drawn.lanes.isEmpty)
        #expect(TimelineText(drawn, width: 80).text == "0 rows of 0 records, 0 threads, 0 ns: the run")
    }
}

extension Timeline {
    /// Handlers and waits.
    var slices: [Item] { items.filter { !$0.isRun && $0.kind != .mark } }
    var marks: [Item] { items.filter { !$0.isRun && $0.kind == .mark } }
    var runs: [Item] { items.filter(\.isRun) }
}
