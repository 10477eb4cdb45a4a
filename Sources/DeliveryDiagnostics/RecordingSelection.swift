package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The records of a recording that a reader shows: `--name`, `--thread`, `--post`, `--from` and `--to`.
///
/// A record is selected if it satisfies every condition that is set. Selection hides records from a report and nothing
/// else: the index is that of the whole recording, so a selected delivery keeps its post, and a handler its end.
package struct RecordingSelection: Sendable {
    /// True if every record is selected.
    package private(set) var isEverything: Bool
    private let index: RecordingIndex
    private var times: ClosedRange<Int64>
    private let start: UInt64
    /// Nil selects every name, post or thread.
    private var name: Int32?
    private var (posts, threads): ([Bool]?, [Bool]?)

    /// - Parameters:
    ///   - thread: the name or the number of a thread on which the record was made, or which it is for.
    ///   - post: the number of a post. Posts that Foundation's center made of it are part of it.
    ///   - from: in nanoseconds since the recording's first record.
    /// - Throws: `LogError`, with the most similar name, if the recording has no such name, thread or post.
    package init(
        name: String? = nil, thread: String? = nil, post: Int? = nil, from: Int64 = 0, to: Int64 = .max,
        of index: RecordingIndex
    ) throws(LogError) {
        self.init(all: index)
        let recording = index.recording
        isEverything = name == nil && thread == nil && post == nil && from == 0 && to == .max
        times = from...max(from, to)
        let last = recording.entries.last.map(elapsed) ?? .max
        if from > last {
            let (from, end) = (ElapsedTime.exact(from), ElapsedTime.exact(last))
            throw recording.lacks("records after \(from). The last is at \(end)")
        }
        if let name { self.name = try recording.index(ofName: name) }
        if let post {
            var isSelected = recording.posts.map { $0.number == post }
            if !isSelected.contains(true) { throw recording.lacks("post #\(post)") }
            for (number, post) in index.posts.enumerated() where post.posted >= 0 {
                let related = index.entry(post.posted).relatedPost
                if related >= 0, isSelected[Int(related)] { isSelected[number] = true }
            }
            posts = isSelected
        }
        if let thread {
            let isSelected = recording.threads.indices.map { recording.isThread($0, called: thread) }
            if !isSelected.contains(true) {
                throw recording.lacks("thread \"\(thread)\"", recording.threadName(similarTo: thread))
            }
            threads = isSelected
        }
    }

    /// Selects every record.
    package init(all index: RecordingIndex) {
        (self.index, isEverything, times) = (index, true, 0...Int64.max)
        start = index.recording.entries.first?.time ?? 0
    }

    /// True if the entry satisfies every condition.
    package func contains(_ entry: Recording.Entry) -> Bool { times.contains(elapsed(entry)) && matches(entry) }

    /// The same without the condition on time.
    func matches(_ entry: Recording.Entry) -> Bool {
        func isSelected(_ selected: [Bool]?, _ one: Int32, _ other: Int32) -> Bool {
            guard let selected else { return true }
            return one >= 0 && selected[Int(one)] || other >= 0 && selected[Int(other)]
        }
        let own = name != nil && entry.name < 0 && entry.post >= 0 ? index.name(ofPost: entry.post) : entry.name
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

    /// The name that a record has, as an index in `strings`.
    package func index(ofName name: String) throws(LogError) -> Int32 {
        if let found = self.name(called: name) { return found }
        throw lacks("notification \"\(name)\"", self.name(similarTo: name))
    }

    fileprivate func lacks(_ what: String, _ similar: String? = nil) -> LogError {
        let suggestion = similar.map { " Did you mean \"\(Excerpt.of($0))\"?" } ?? ""
        return LogError(log: source, line: nil, problem: "has no \(Excerpt.of(what)).\(suggestion)")
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
    func name(similarTo name: String) -> String? {
        Suggestion.nearest(to: name, among: names.map { strings[Int($0)] }.sorted())
    }
}
