package import DeliveryRecording
internal import ThreadedNotifications

/// The layout of a drawing of a recording's threads: a lane for each thread, items for handlers, waits and events, and
/// arrows from posts to their outcomes.
///
/// Independent of the output: `TimelineText` and `TimelinePicture` both draw it. Times are nanoseconds since the
/// recording's first record.
package struct Timeline: Sendable, Hashable {
    /// A thread, or several threads folded into one lane.
    package struct Lane: Sendable, Hashable {
        package var title: String
        /// Full description of the thread.
        package var details: String
        /// The time of the thread's first record.
        package var begin: Int64
        /// The time of the thread's end, if it was recorded.
        package var end: Int64
        /// The number of threads in this lane.
        package var threads = 1
        /// The number of drawn deliveries that are still waiting for it at the end.
        package var waiting = 0
    }

    /// The texts of an item.
    package struct Label: Sendable, Hashable {
        /// The stage.
        package var what: String
        /// For example `#3`.
        package var post: String?
        /// The notification's name.
        package var name: String?
        /// True for a post that no observer matched.
        package var isUnobserved = false
        /// The number of this post's deliveries that are still pending at the end.
        package var waiting = 0
        /// Further properties, the most important first.
        package var details: [String] = []
        /// The source location.
        var location: SourceLocation?
        /// The line of the file, or the sequence number if the record is not from a file.
        package var line: Int

        /// The outcome of a post, if nothing else in the drawing shows it.
        package var outcome: String? { isUnobserved ? "unobserved" : waiting > 0 ? "\(waiting) still waiting" : nil }
    }

    /// Something that is drawn: a handler, a wait, an event without a duration, or several similar ones.
    package struct Item: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// An event without a duration.
            case mark
            case handler
            case wait
        }

        package enum Ending: Sendable, Hashable {
            case returned
            /// The thread or the recording ended first.
            case runsOn
            /// The document's technique does not record when a handler returns.
            case isNotRecorded
        }

        package var kind: Kind
        package var stage: DeliveryStage
        package var lane: Int
        package var begin: Int64
        /// The time at which its drawing ends.
        package var end: Int64
        package var ending = Ending.returned
        /// The number of handlers and waits of its thread that contain it.
        package var depth: Int
        /// The label of the first.
        package var label: Label
        /// Index in `arrows` of the arrow to the first.
        package var arrow: Int?
        /// The number of similar items that are drawn as this one.
        package var count = 1
        /// The post of the last.
        package var lastPost: String?
        /// The latencies of their arrows, in nanoseconds.
        package var latency: ClosedRange<Int64>?
        /// The duration of the longest, in nanoseconds.
        package var longest: Int64 = 0

        package var isRun: Bool { count > 1 }
    }

    /// An arrow from a post to one of its deliveries, or to another outcome.
    package struct Arrow: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// To a handler, through its thread's mailbox or the document's queue.
            case delivery
            /// To a handler on the posting thread, before `post` returned.
            case atOnce
            /// From a posting queue's `enqueue` to its post.
            case queued
            /// To a drop, coalescing or cancellation, or to a target thread that had ended.
            case lost
        }

        package var kind: Kind
        package var fromLane: Int
        package var from: Int64
        /// The number of handlers and waits of its thread that contain its beginning.
        package var fromDepth: Int
        package var toLane: Int
        package var to: Int64

        /// In nanoseconds.
        package var latency: Int64 { to - from }
    }

    /// A row of the drawing, in recorded order. Values are indices in `items`.
    package enum Row: Sendable, Hashable {
        case begins(Int)
        case ends(Int)
        /// A mark, a run, or something that begins and ends with nothing drawn between.
        case whole(Int)

        package var item: Int {
            switch self {
            case .begins(let item), .ends(let item), .whole(let item): item
            }
        }
    }

    /// Counts of everything that is not drawn. Nothing is left out silently.
    package struct LeftOut: Sendable, Hashable {
        /// Records before and after the selected time.
        package var before = 0
        package var after = 0
        /// Records of other posts or names.
        package var filtered = 0
        /// Records beyond the limit of rows, and the time of the first of them.
        package var beyondLimit = 0
        package var limitReached: Int64 = 0
        /// Records of stages that are never drawn.
        package var undrawn: [DeliveryStage: Int] = [:]
    }

    /// The path of the recording.
    package var source: String
    /// The number of its records.
    package var records: Int
    /// The beginning and end of the drawing.
    package var begin: Int64
    package var end: Int64
    /// In the order of processes and thread numbers.
    package var lanes: [Lane]
    /// In the order of their beginnings.
    package var items: [Item]
    package var arrows: [Arrow]
    package var rows: [Row]
    package var leftOut: LeftOut
    /// The titles of the lanes that were folded into one.
    package var foldedLanes: [String] = []
}

extension Timeline {
    package func time(of row: Row) -> Int64 {
        if case .ends(let item) = row { items[item].end } else { items[row.item].begin }
    }
}
