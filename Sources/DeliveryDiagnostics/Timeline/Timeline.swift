internal import DeliveryRecording
internal import ThreadedNotifications

/// The layout of a drawing of a recording's threads: a lane for each thread, items for handlers, waits and events, and
/// arrows from posts to their outcomes.
///
/// Independent of the output: `TimelineText` and `TimelinePicture` both draw it. Times are nanoseconds since the
/// recording's first record.
package struct Timeline: Sendable {
    /// A thread, or several threads folded into one lane.
    struct Lane: Hashable, Sendable {
        var title: String
        var details: String
        /// The time of the thread's first record.
        var begin: Int64
        /// The time of the thread's end; the greatest if it was not recorded.
        var end: Int64
        var threads = 1
        /// The number of drawn deliveries that are still waiting for it at the end.
        var waiting = 0

        var waitingWords: String? { waiting > 0 ? "\(waiting) still waiting" : nil }
    }

    /// Something that is drawn: a handler, a wait, an event without a duration, or several similar ones.
    struct Item: Hashable, Sendable {
        let stage: DeliveryStage
        let entry: Int32
        var lane: Int
        let begin: Int64
        var end: Int64
        /// Nil for an event without a duration.
        let ending: RecordingIndex.Span.Ending?
        /// The number of handlers and waits of its thread that contain it.
        let depth: Int
        /// The number of this post's deliveries that are still pending at the end.
        var waiting = 0
        /// Index in `arrows` of the arrow to it, or to the first.
        var arrow: Int?
        var count = 1
        /// The record at which the last of them begins.
        var lastEntry: Int32
        /// The latencies of their arrows, in nanoseconds.
        var latency: ClosedRange<Int64>?
        /// The duration of the longest, in nanoseconds.
        var longest: Int64

        var isRun: Bool { count > 1 }
        var isMark: Bool { ending == nil }

        mutating func append(_ other: Item) {
            count += other.count
            end = max(end, other.end)
            lastEntry = other.lastEntry
            waiting += other.waiting
            longest = max(longest, other.longest)
            if let mine = latency, let its = other.latency {
                latency = min(mine.lowerBound, its.lowerBound)...max(mine.upperBound, its.upperBound)
            }
        }
    }

    /// An arrow from a post to a delivery or another outcome.
    struct Arrow: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// To a handler, through its thread's mailbox or the document's queue.
            case delivery
            /// To a handler on the posting thread, before `post` returned.
            case atOnce
            /// From a posting queue's `enqueue` to its post.
            case queued
            /// To a drop, coalescing or cancellation, or to a target thread that had ended.
            case lost
        }

        let kind: Kind
        var fromLane: Int
        let from: Int64
        /// As `Item.depth`.
        let fromDepth: Int
        var toLane: Int
        let to: Int64

        var latency: Int64 { to - from }
    }

    struct Row: Hashable, Sendable {
        enum Part: Hashable, Sendable {
            case begin, end
            /// A mark, a run, or something that begins and ends with nothing drawn between.
            case whole
        }

        let part: Part
        let item: Int
    }

    /// Counts of everything that is not drawn. Nothing is left out silently.
    struct LeftOut: Hashable, Sendable {
        /// Records before and after the selected time.
        var before = 0
        var after = 0
        /// Records of other posts or names.
        var filtered = 0
        /// Records beyond the limit of rows, and the time of the first of them.
        var beyondLimit = 0
        var limitReached: Int64 = 0
        var undrawn: [DeliveryStage: Int] = [:]
    }

    let index: RecordingIndex
    var begin: Int64 = 0
    var end: Int64 = 0
    /// In the order of processes and thread numbers.
    var lanes: [Lane] = []
    /// In the order of their beginnings.
    var items: [Item] = []
    var arrows: [Arrow] = []
    /// In recorded order.
    var rows: [Row] = []
    var leftOut = LeftOut()
    var foldedLanes: [String] = []

    init(of index: RecordingIndex) {
        self.index = index
    }

    var recording: Recording { index.recording }

    var duration: ElapsedTime { ElapsedTime(nanoseconds: end - begin) }

    var threadCount: Int { lanes.reduce(0) { $0 + $1.threads } }

    func time(of row: Row) -> Int64 { row.part == .end ? items[row.item].end : items[row.item].begin }

    mutating func mapLanes(_ lane: [Int]) {
        for index in items.indices { items[index].lane = lane[items[index].lane] }
        for index in arrows.indices {
            arrows[index].fromLane = lane[arrows[index].fromLane]
            arrows[index].toLane = lane[arrows[index].toLane]
        }
    }

    /// The timeline with at most this many lanes. The busiest lanes stay; the others share the last one.
    func folded(toLanes most: Int) -> Timeline {
        guard lanes.count > max(1, most) else { return self }
        var uses = [Int](repeating: 0, count: lanes.count)
        for item in items { uses[item.lane] += item.count }
        for arrow in arrows { uses[arrow.fromLane] += 1 }
        let kept = lanes.indices.sorted { (uses[$1], $0) < (uses[$0], $1) }.prefix(max(0, most - 1)).sorted()
        let others = lanes.indices.filter { !kept.contains($0) }.map { lanes[$0] }
        var folded = self
        folded.foldedLanes = others.map(\.title)
        let last = Lane(
            title: "\(others.count) others", details: folded.foldedLanes.joined(separator: ", "),
            begin: others.map(\.begin).min() ?? 0, end: others.map(\.end).max() ?? 0,
            threads: others.count, waiting: others.reduce(0) { $0 + $1.waiting })
        folded.lanes = kept.map { lanes[$0] } + [last]
        folded.mapLanes(lanes.indices.map { kept.firstIndex(of: $0) ?? kept.count })
        return folded
    }
}

extension RecordingIndex.Span.Ending {
    /// True if the thread or the recording ended first.
    var runsOn: Bool { self == .open || self == .abandoned }
}
