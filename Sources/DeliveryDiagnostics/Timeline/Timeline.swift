internal import ThreadedNotifications

/// What the threads of a recording did, laid out to be drawn: a lane for each thread, slices for what lasts, marks for what
/// happens, and arrows from posts to what became of them.
///
/// It says what is where in time and nothing of characters or pixels; `TimelineText` and `TimelinePicture` draw the same
/// one. Times are nanoseconds since the recording's first record.
public struct Timeline: Sendable, Hashable {
    /// A thread; or, folded into one lane, those that have no room.
    public struct Lane: Sendable, Hashable {
        public var title: String
        /// Who the thread is, in full.
        public var details: String
        /// What is known of it first.
        public var begin: Int64
        /// When it ended, as far as that is recorded.
        public var end: Int64
        /// How many threads.
        public var threads = 1
        /// How many deliveries still wait for it at the end, of what is drawn.
        public var waiting = 0
    }

    /// What a slice or a mark is of, in words.
    public struct Label: Sendable, Hashable {
        /// The stage, in a word.
        public var what: String
        /// `#3`.
        public var post: String?
        /// The notification's name.
        public var name: String?
        /// Whether it is a post that nobody observed.
        public var isToNobody = false
        /// Of what it posts, how many deliveries neither came nor failed before the end.
        public var waiting = 0
        /// What else there is to know, the most important first.
        public var details: [String] = []
        /// The line of source that did it.
        var place: SourcePlace?
        /// The line of the file; or the record's place.
        public var line: Int

        /// What became of a post, if nothing else that is drawn tells it.
        public var outcome: String? { isToNobody ? "to nobody" : waiting > 0 ? "\(waiting) still waiting" : nil }
    }

    /// A handler or a block that runs, or a thread that waits for another.
    public struct Slice: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            case handler
            case wait
        }

        public enum Ending: Sendable, Hashable {
            case returned
            /// Its thread or the recording ended before it did.
            case runsOn
            /// The document's technique does not say when a handler returns.
            case isNotRecorded
        }

        public var lane: Int
        public var kind: Kind
        public var begin: Int64
        /// Where it is drawn to.
        public var end: Int64
        public var ending: Ending
        /// How many others of its thread it runs in.
        public var depth: Int
        public var label: Label
        /// In `arrows`: the one that ends where it begins.
        public var arrow: Int?
    }

    /// Something that takes no time.
    public struct Mark: Sendable, Hashable {
        public var lane: Int
        public var time: Int64
        public var stage: DeliveryStage
        /// How many slices of its thread it happens in.
        public var depth: Int
        public var label: Label
        /// In `arrows`: the one that ends here.
        public var arrow: Int?
    }

    /// Several alike, one after the other on one thread, with nothing between that is drawn.
    public struct Run: Sendable, Hashable {
        public var lane: Int
        /// `deliver` if it is of handlers that returned.
        public var stage: DeliveryStage
        public var begin: Int64
        public var end: Int64
        public var count: Int
        public var depth: Int
        /// That of the first.
        public var label: Label
        /// The last one's post.
        public var lastPost: String?
        /// In `arrows`: the first one's.
        public var arrow: Int?
        /// Of their arrows, in nanoseconds.
        public var latency: ClosedRange<Int64>?
        /// Of the longest handler, in nanoseconds.
        public var longest: Int64 = 0
    }

    /// From a post to one of its deliveries, or to what became of it instead.
    public struct Arrow: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            /// To a handler, through its thread's mailbox or the document's queue.
            case delivery
            /// To a handler on the posting thread, before `post` returned.
            case atOnce
            /// From a posting queue to its post.
            case queued
            /// To where it was dropped, coalesced or cancelled, or its thread was gone.
            case lost
        }

        public var kind: Kind
        public var fromLane: Int
        public var from: Int64
        /// How many slices of its thread it begins in.
        public var fromDepth: Int
        public var toLane: Int
        public var to: Int64

        /// In nanoseconds.
        public var latency: Int64 { to - from }
    }

    /// A moment, in the order in which they were recorded. Numbers are places in `slices`, `marks` and `runs`.
    public enum Row: Sendable, Hashable {
        case begins(Int)
        case ends(Int)
        /// It begins and ends, and nothing is drawn between.
        case lasts(Int)
        case mark(Int)
        case run(Int)
    }

    /// What there is and is not drawn. Nothing is left out silently.
    public struct LeftOut: Sendable, Hashable {
        /// Records before and after what was asked for.
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

    /// The recording's file.
    public var source: String
    /// How many records it has.
    public var records: Int
    /// What is drawn begins and ends here.
    public var begin: Int64
    public var end: Int64
    /// In the order of processes and thread numbers.
    public var lanes: [Lane]
    /// In the order of their begin.
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
