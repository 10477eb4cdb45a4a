package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The records of one recording that a filter selects.
///
/// Cost: one pass over the recording if the filter has a name or a post.
package struct RecordingSelection: Sendable {
    /// The recording does not contain what the filter names.
    package struct NothingSelected: Error, Hashable, CustomStringConvertible {
        package var description: String
    }

    /// True if every record is selected.
    package let isEverything: Bool
    /// In nanoseconds since the recording's first record.
    package let times: ClosedRange<Int64>
    private let start: UInt64
    private let name: Int32?
    /// For each post: the index of its name, if the filter has a name.
    private var nameOfPost: [Int32] = []
    private var isSelectedPost: [Bool]?
    private var isSelectedThread: [Bool]?

    /// - Throws: `NothingSelected`, with the most similar name, if the recording has no such name, thread or post.
    package init(_ filter: RecordingFilter = RecordingFilter(), of recording: Recording) throws(NothingSelected) {
        func nothing(_ what: String, _ similar: [String] = []) -> NothingSelected {
            let names = similar.map { "\"\(Excerpt.of($0))\"" }.joined(separator: " or ")
            return NothingSelected(
                description: "\(ShownText.escaped(recording.source)): has no \(Excerpt.of(what))."
                    + (similar.isEmpty ? "" : " Did you mean \(names)?"))
        }
        isEverything = filter.isEmpty
        times = filter.from...max(filter.from, filter.to)
        start = recording.entries.first?.time ?? 0
        name = filter.name.flatMap(recording.name(called:))
        if let last = recording.entries.last.map(elapsed), filter.from > last {
            throw nothing("records after \(ElapsedTime.exact(filter.from)). The last is at \(ElapsedTime.exact(last))")
        }
        if let name = filter.name {
            if self.name == nil { throw nothing("notification \"\(name)\"", recording.names(similarTo: name)) }
            nameOfPost = Array(repeating: -1, count: recording.posts.count)
            for entry in recording.entries where entry.post >= 0 && nameOfPost[Int(entry.post)] < 0 {
                nameOfPost[Int(entry.post)] = entry.name
            }
        }
        if let post = filter.post {
            var isSelected = recording.posts.map { $0.number == post }
            guard isSelected.contains(true) else { throw nothing("post #\(post)") }
            for entry in recording.entries where entry.stage == .capture && entry.post >= 0 && entry.relatedPost >= 0 {
                if isSelected[Int(entry.relatedPost)] { isSelected[Int(entry.post)] = true }
            }
            isSelectedPost = isSelected
        }
        if let thread = filter.thread {
            let isSelected = recording.threads.indices.map { recording.isThread($0, called: thread) }
            guard isSelected.contains(true) else {
                throw nothing("thread \"\(thread)\"", [recording.threadName(similarTo: thread)].compactMap(\.self))
            }
            isSelectedThread = isSelected
        }
    }

    /// Selects every record.
    package init(all recording: Recording) {
        (isEverything, times, start, name) = (true, 0...Int64.max, recording.entries.first?.time ?? 0, nil)
    }

    /// True if the entry satisfies every condition of the filter.
    package func contains(_ entry: Recording.Entry) -> Bool { times.contains(elapsed(entry)) && matches(entry) }

    /// The same without the condition on time.
    package func matches(_ entry: Recording.Entry) -> Bool {
        if let name {
            let own = entry.name < 0 && entry.post >= 0 ? nameOfPost[Int(entry.post)] : entry.name
            guard own == name else { return false }
        }
        func isSelected(_ indices: [Bool]?, _ values: Int32...) -> Bool {
            indices.map { indices in values.contains { $0 >= 0 && indices[Int($0)] } } ?? true
        }
        return isSelected(isSelectedPost, entry.post, entry.relatedPost)
            && isSelected(isSelectedThread, entry.thread, entry.target)
    }

    /// The time since the first record, in nanoseconds. Times of a damaged file are limited so that sums do not
    /// overflow.
    package func elapsed(_ entry: Recording.Entry) -> Int64 {
        Int64(min(entry.time &- start, UInt64(Int64.max / 4)))
    }
}

extension Recording {
    /// Finds the name that a record has, as an index in `strings`. The name of a typed message may be without its
    /// module: `JobArrived` finds `jobs.JobArrived` if it is the only one.
    func name(called name: String) -> Int32? {
        let names = Set(entries.lazy.map(\.name)).filter { $0 >= 0 }
        if let same = names.first(where: { strings[Int($0)] == name }) { return same }
        let ofModules = names.filter { Suggestion.isLastComponent(name, of: strings[Int($0)]) }
        return ofModules.count == 1 ? ofModules.first : nil
    }

    /// - Parameter name: the name or the number of a thread.
    func isThread(_ thread: Int, called name: String) -> Bool {
        threads[thread].identity.name == name || "\(threads[thread].identity.number)" == name
    }

    func threadName(similarTo name: String) -> String? {
        Suggestion.nearest(to: name, among: Set(threads.compactMap(\.identity.name)).sorted())
    }

    /// The names that may be meant by one that was not found.
    func names(similarTo name: String) -> [String] {
        let names = Set(entries.lazy.map(\.name)).filter { $0 >= 0 }.map { strings[Int($0)] }.sorted()
        let withoutModules = names.map { String($0.split(separator: ".").last ?? "") }
        let isLast = names.contains { Suggestion.isLastComponent(name, of: $0) }
        let nearest = isLast ? name : Suggestion.nearest(to: name, among: names + withoutModules)
        return nearest.map { nearest in
            names.filter { $0 == nearest || Suggestion.isLastComponent(nearest, of: $0) }
        } ?? []
    }
}
