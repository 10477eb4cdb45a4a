internal import ThreadedNotifications

/// The activity of a recording's threads, prepared for drawing: a lane for each thread, slices for things with a
/// duration, marks for events, and arrows from posts to their outcomes.
///
/// Independent of the output: `TimelineText` and `TimelinePicture` both draw it. Times are nanoseconds since the
/// recording's first record.
public struct Timeline: Sendable, Hashable {
    /// A thread, or several threads folded into one lane.
    public struct Lane: Sendable, Hashable {
        public var title: String
        /// Full description of the thread.
        public var details: String
        /// The time of the thread's first record.
        public var begin: Int64
        /// The time of the thread's end, if it was recorded.
        public var end: Int64
        /// The number of threads in this lane.
        public var threads = 1
        /// The number of drawn deliveries that are still waiting for it at the end.
        public var waiting = 0
    }

    /// The texts of a slice or a mark.
    public struct Label: Sendable, Hashable {
        /// The stage.
        public var what: String
        /// For example `#3`.
        public var post: String?
        /// The notification's name.
        public var name: String?
        /// True for a post that no observer matched.
        public var isToNobody = false
        /// The number of this post's deliveries that are still pending at the end.
        public var waiting = 0
        /// Further properties, the most important first.
        public var details: [String] = []
        /// The source location.
        var place: SourceLocation?
        /// The line of the file, or the sequence number if the record is not from a file.
        public var line: Int

        /// The outcome of a post, if nothing else in the drawing shows it.
        public var outcome: String? { isToNobody ? "unobserved" : waiting > 0 ? "\(waiting) still waiting" : nil }
    }

    /// A handler or block that runs, or a thread's wait for another thread.
    public struct Slice: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            case handler
            case wait
        }

        public enum Ending: Sendable, Hashable {
            case returned
            /// The thread or the recording ended first.
            case runsOn
            /// The document's technique does not record when a handler returns.
            case isNotRecorded
        }

        public var lane: Int
        public var kind: Kind
        public var begin: Int64
        /// The time at which its drawing ends.
        public var end: Int64
        public var ending: Ending
        /// The number of slices of its thread that contain it.
        public var depth: Int
        public var label: Label
        /// Index in `arrows` of the arrow to its beginning.
        public var arrow: Int?
    }

    /// An event without a duration.
    public struct Mark: Sendable, Hashable {
        public var lane: Int
        public var time: Int64
        public var stage: DeliveryStage
        /// The number of slices of its thread that contain it.
        public var depth: Int
        public var label: Label
        /// Index in `arrows` of the arrow to it.
        public var arrow: Int?
    }

    /// Several similar marks or slices of one thread without anything else drawn between them.
    public struct Run: Sendable, Hashable {
        public var lane: Int
        /// `deliver` for handlers that returned.
        public var stage: DeliveryStage
        public var begin: Int64
        public var end: Int64
        public var count: Int
        public var depth: Int
        /// The label of the first.
        public var label: Label
        /// The post of the last.
        public var lastPost: String?
        /// Index in `arrows` of the arrow to the first.
        public var arrow: Int?
        /// The latencies of their arrows, in nanoseconds.
        public var latency: ClosedRange<Int64>?
        /// The duration of the longest handler, in nanoseconds.
        public var longest: Int64 = 0
    }

    /// An arrow from a post to one of its deliveries, or to another outcome.
    public struct Arrow: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            /// To a handler, through its thread's mailbox or the document's queue.
            case delivery
            /// To a handler on the posting thread, before `post` returned.
            case atOnce
            /// From a posting queue's `enqueue` to its post.
            case queued
            /// To a drop, coalescing or cancellation, or to a target thread that had ended.
            case lost
        }

        public var kind: Kind
        public var fromLane: Int
        public var from: Int64
        /// The number of slices of its thread that contain its beginning.
        public var fromDepth: Int
        public var toLane: Int
        public var to: Int64

        /// In nanoseconds.
        public var latency: Int64 { to - from }
    }

    /// An event to draw, in recorded order. Values are indices in `slices`, `marks` and `runs`.
    public enum Row: Sendable, Hashable {
        case begins(Int)
        case ends(Int)
        /// Begins and ends with nothing drawn between.
        case lasts(Int)
        case mark(Int)
        case run(Int)
    }

    /// Counts of everything that is not drawn. Nothing is left out silently.
    public struct LeftOut: Sendable, Hashable {
        /// Records before and after the selected time.
        public var before = 0
        public var after = 0
        /// Records of other posts or names.
        public var filtered = 0
        /// Records beyond the limit of rows, and the time of the first of them.
        public var beyondLimit = 0
        public var limitReached: Int64 = 0
        /// Records of stages that are never drawn.
        public var undrawn: [DeliveryStage: Int] = [:]
    }

    /// The path of the recording.
    public var source: String
    /// The number of its records.
    public var records: Int
    /// The beginning and end of the drawing.
    public var begin: Int64
    public var end: Int64
    /// In the order of processes and thread numbers.
    public var lanes: [Lane]
    /// In the order of their beginnings.
    public var slices: [Slice]
    public var marks: [Mark]
    public var runs: [Run]
    public var arrows: [Arrow]
    public var rows: [Row]
    public var leftOut: LeftOut
    /// The titles of the lanes that were folded into one.
    public var foldedLanes: [String] = []
}

extension Timeline {
    public init(_ recording: Recording, selection: TimelineSelection = TimelineSelection()) {
        self = TimelineBuilder(recording, selection: selection).timeline()
    }

    public func time(of row: Row) -> Int64 {
        switch row {
        case .begins(let slice), .lasts(let slice): slices[slice].begin
        case .ends(let slice): slices[slice].end
        case .mark(let mark): marks[mark].time
        case .run(let run): runs[run].begin
        }
    }
}
