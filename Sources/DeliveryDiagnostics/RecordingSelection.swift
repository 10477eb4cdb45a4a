package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The part of a recording that a reader shows: `--name`, `--thread`, `--post`, `--from` and `--to`.
///
/// A record is selected if it satisfies every condition that is set. Selection hides records from a report and nothing
/// else: an index is built of the whole recording, so a selected delivery keeps its post, and a handler its end.
package struct RecordingFilter: Sendable, Hashable {
    package var name: String?
    /// The name or the number of a thread on which the record was made, or which it is for.
    package var thread: String?
    /// The number of a post. Posts that Foundation's center made of it are part of it.
    package var post: Int?
    /// In nanoseconds since the recording's first record.
    package var from: Int64
    package var to: Int64

    package init(name: String? = nil, thread: String? = nil, post: Int? = nil, from: Int64 = 0, to: Int64 = .max) {
        (self.name, self.thread, self.post, self.from, self.to) = (name, thread, post, from, to)
    }

    /// True if every record is selected.
    package var isEmpty: Bool { self == RecordingFilter() }
}

/// The records of one recording that a filter selects.
///
/// Cost: one pass over the recording if the filter has a name or a post.
package struct RecordingSelection: Sendable {
    /// The recording does not contain what the filter names.
    package struct NothingSelected: Error, CustomStringConvertible {
        package var description: String
    }

    /// True if every record is selected.
    package let isEverything: Bool
    private let times: ClosedRange<Int64>
    private let start: UInt64
    private let name: Int32?
    /// For each post: the index of its name, if the filter has a name.
    private var nameOfPost: [Int32] = []
    /// Nil if the filter has no post, or no thread.
    private var (posts, threads): ([Bool]?, [Bool]?)

    /// - Throws: `NothingSelected`, with the most similar name, if the recording has no such name, thread or post.
    package init(_ filter: RecordingFilter = RecordingFilter(), of recording: Recording) throws(NothingSelected) {
        isEverything = filter.isEmpty
        times = filter.from...max(filter.from, filter.to)
        start = recording.entries.first?.time ?? 0
        name = filter.name.flatMap(recording.name(called:))
        func check(
            _ isFound: Bool, _ what: String, _ similar: @autoclosure () -> String? = nil
        ) throws(NothingSelected) {
            if isFound { return }
            let suggestion = similar().map { " Did you mean \"\(Excerpt.of($0))\"?" } ?? ""
            throw NothingSelected(
                description: "\(ShownText.escaped(recording.source)): has no \(Excerpt.of(what)).\(suggestion)")
        }
        let last = recording.entries.last.map(elapsed) ?? .max
        try check(
            filter.from <= last,
            "records after \(ElapsedTime.exact(filter.from)). The last is at \(ElapsedTime.exact(last))")
        if let name = filter.name {
            try check(self.name != nil, "notification \"\(name)\"", recording.names(similarTo: name).first)
            nameOfPost = Array(repeating: -1, count: recording.posts.count)
            for entry in recording.entries where entry.post >= 0 && nameOfPost[Int(entry.post)] < 0 {
                nameOfPost[Int(entry.post)] = entry.name
            }
        }
        if let post = filter.post {
            var isSelected = recording.posts.map { $0.number == post }
            try check(isSelected.contains(true), "post #\(post)")
            for entry in recording.entries where entry.stage == .capture && entry.post >= 0 && entry.relatedPost >= 0 {
                if isSelected[Int(entry.relatedPost)] { isSelected[Int(entry.post)] = true }
            }
            posts = isSelected
        }
        if let thread = filter.thread {
            threads = recording.threads.indices.map { recording.isThread($0, called: thread) }
            try check(
                threads?.contains(true) == true, "thread \"\(thread)\"", recording.threadName(similarTo: thread))
        }
    }

    /// Selects every record.
    package init(all recording: Recording) {
        (isEverything, times, start, name) = (true, 0...Int64.max, recording.entries.first?.time ?? 0, nil)
    }

    /// True if the entry satisfies every condition of the filter.
    package func contains(_ entry: Recording.Entry) -> Bool { times.contains(elapsed(entry)) && matches(entry) }

    /// The same without the condition on time.
    func matches(_ entry: Recording.Entry) -> Bool {
        func isSelected(_ selected: [Bool]?, _ one: Int32, _ other: Int32) -> Bool {
            guard let selected else { return true }
            return one >= 0 && selected[Int(one)] || other >= 0 && selected[Int(other)]
        }
        let own = name != nil && entry.name < 0 && entry.post >= 0 ? nameOfPost[Int(entry.post)] : entry.name
        return name ?? own == own && isSelected(posts, entry.post, entry.relatedPost)
            && isSelected(threads, entry.thread, entry.target)
    }

    /// The time since the first record, in nanoseconds. Times of a damaged file are limited so that sums do not
    /// overflow.
    func elapsed(_ entry: Recording.Entry) -> Int64 { Int64(min(entry.time &- start, UInt64(Int64.max / 4))) }
}

extension Recording {
    /// Finds the name that a record has, as an index in `strings`. The name of a typed message may be without its
    /// module: `JobArrived` finds `jobs.JobArrived` if it is the only one.
    func name(called name: String) -> Int32? {
        if let same = names.first(where: { strings[Int($0)] == name }) { return same }
        let ofModules = names.filter { Suggestion.isLastComponent(name, of: strings[Int($0)]) }
        return ofModules.count == 1 ? ofModules.first : nil
    }

    private var names: Set<Int32> { Set(entries.lazy.map(\.name)).filter { $0 >= 0 } }

    /// - Parameter name: the name or the number of a thread.
    func isThread(_ thread: Int, called name: String) -> Bool {
        threads[thread].identity.name == name || "\(threads[thread].identity.number)" == name
    }

    func threadName(similarTo name: String) -> String? {
        Suggestion.nearest(to: name, among: Set(threads.compactMap(\.identity.name)).sorted())
    }

    /// The name that may be meant by one that was not found.
    func names(similarTo name: String) -> [String] {
        [Suggestion.nearest(to: name, among: names.map { strings[Int($0)] }.sorted())].compactMap(\.self)
    }
}
