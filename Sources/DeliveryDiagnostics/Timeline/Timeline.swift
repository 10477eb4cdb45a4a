internal import DeliveryRecording
internal import ThreadedNotifications

/// The layout of a drawing of a recording's threads: a lane for each thread, items for handlers, waits and events, and
/// arrows from posts to their outcomes.
///
/// It is computed once from the index and the selected part. `TimelineText` and `TimelinePicture` both draw it. Times
/// are nanoseconds since the recording's first record.
package struct Timeline: Sendable {
    /// A thread. If there are more than fit, the last lane is that of all others.
    struct Lane: Sendable {
        var title: String
        /// The time of the thread's first record.
        var begin: Int64
        /// The time of the thread's end; the greatest if it was not recorded.
        var end: Int64
    }

    /// Something that is drawn: a handler, a wait, an event without a duration, or several similar ones.
    struct Item: Sendable {
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
        /// True if it is drawn with a duration.
        var lasts: Bool { ending != nil && ending != .notRecorded }
        var runsOn: Bool { !isRun && ending?.runsOn == true }

        mutating func append(_ other: Item) {
            count += 1
            (end, lastEntry) = (max(end, other.end), other.lastEntry)
            waiting += other.waiting
            let latency = max(arrow?.latency ?? 0, other.arrow?.latency ?? 0)
            arrow?.latency = latency
        }
    }

    /// An arrow from a post to a delivery or another outcome.
    struct Arrow: Sendable {
        enum Kind: Sendable {
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
        /// The record and lane of its beginning.
        let entry: Int32
        var lane: Int
        /// The longest latency of the arrows that it stands for.
        var latency: Int64
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
    /// The number of records that are not selected.
    var unselected = 0
    /// The number of records of drains and signals, which are not drawn.
    var undrawn = 0
    /// The time of the first row that exceeds the limit.
    var limitReached: Int64?

    var recording: Recording { index.recording }

    func time(of row: Row) -> Int64 { row.part == .end ? items[row.item].end : items[row.item].begin }
}

extension RecordingIndex.Span.Ending {
    /// True if the thread or the recording ended first.
    var runsOn: Bool { self == .open || self == .abandoned }
}
