internal import DeliveryRecording
internal import ThreadedNotifications

/// The layout of a drawing of a recording's threads: a lane for each thread, items for handlers, waits and events, and
/// arrows from posts to their outcomes.
///
/// It is computed once from the index and the selected part. `TimelineText` and `TimelinePicture` both draw it. Times
/// are nanoseconds since the recording's first record.
package struct Timeline: Sendable {
    /// A thread, or several threads folded into one lane.
    struct Lane: Hashable, Sendable {
        var title: String
        /// The time of the thread's first record.
        var begin: Int64
        /// The time of the thread's end; the greatest if it was not recorded.
        var end: Int64
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
        /// The arrow to it, or to the first.
        var arrow: Arrow?
        var count = 1
        /// The record at which the last of them begins.
        var lastEntry: Int32

        var isRun: Bool { count > 1 }
        var isMark: Bool { ending == nil }
        var runsOn: Bool { !isRun && ending?.runsOn == true }
        var duration: ElapsedTime { ElapsedTime(nanoseconds: end - begin) }

        mutating func append(_ other: Item) {
            count += other.count
            end = max(end, other.end)
            lastEntry = other.lastEntry
            waiting += other.waiting
            if let (mine, its) = arrow.flatMap({ mine in other.arrow.map { (mine.latency, $0.latency) } }) {
                arrow?.latency = min(mine.lowerBound, its.lowerBound)...max(mine.upperBound, its.upperBound)
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
        /// Where it begins.
        var lane: Int
        let time: Int64
        let depth: Int
        /// The least and greatest latency of the arrows that it stands for.
        var latency: ClosedRange<Int64>

        var longest: ElapsedTime { ElapsedTime(nanoseconds: latency.upperBound) }
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
    /// Why this part is drawn, if the user did not select it.
    let window: FindingWindow?
    var begin: Int64 = 0
    var end: Int64 = 0
    /// In the order of processes and thread numbers.
    var lanes: [Lane] = []
    /// In the order of their beginnings.
    var items: [Item] = []
    /// In recorded order.
    var rows: [Row] = []
    var leftOut = LeftOut()
    var foldedLanes: [String] = []

    var recording: Recording { index.recording }

    /// The time of the whole recording.
    var duration: ElapsedTime {
        guard let first = recording.entries.first, let last = recording.entries.last else { return .init(.zero) }
        return ElapsedTime(nanoseconds: Int64(clamping: last.time &- first.time))
    }

    func time(of row: Row) -> Int64 { row.part == .end ? items[row.item].end : items[row.item].begin }

    mutating func mapLanes(_ lane: [Int]) {
        for index in items.indices {
            items[index].lane = lane[items[index].lane]
            if let from = items[index].arrow?.lane { items[index].arrow?.lane = lane[from] }
        }
    }

    /// The timeline with at most this many lanes. The busiest lanes stay; the others share the last one.
    func folded(toLanes most: Int) -> Timeline {
        guard lanes.count > max(1, most) else { return self }
        var uses = [Int](repeating: 0, count: lanes.count)
        for item in items {
            uses[item.lane] += item.count
            if let arrow = item.arrow { uses[arrow.lane] += 1 }
        }
        let kept = lanes.indices.sorted { (uses[$1], $0) < (uses[$0], $1) }.prefix(max(0, most - 1)).sorted()
        let others = lanes.indices.filter { !kept.contains($0) }.map { lanes[$0] }
        var folded = self
        folded.foldedLanes = others.map(\.title)
        let last = Lane(
            title: "\(others.count) others", begin: others.map(\.begin).min() ?? 0,
            end: others.map(\.end).max() ?? 0, waiting: others.reduce(0) { $0 + $1.waiting })
        folded.lanes = kept.map { lanes[$0] } + [last]
        folded.mapLanes(lanes.indices.map { kept.firstIndex(of: $0) ?? kept.count })
        return folded
    }
}

extension RecordingIndex.Span.Ending {
    /// True if the thread or the recording ended first.
    var runsOn: Bool { self == .open || self == .abandoned }
}
