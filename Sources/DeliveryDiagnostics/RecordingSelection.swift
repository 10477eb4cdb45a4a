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
    package private(set) var isEverything = true
    /// In nanoseconds since the recording's first record.
    package private(set) var times = 0...Int64.max
    private let start: UInt64
    private var name: Int32?
    /// For each post: the index of its name, if the filter has a name.
    private var nameOfPost: [Int32] = []
    private var isSelectedPost: [Bool]?
    private var isSelectedThread: [Bool]?

    /// - Throws: `NothingSelected`, with the most similar name, if the recording has no such name, thread or post.
    package init(_ filter: RecordingFilter = RecordingFilter(), of recording: Recording) throws(NothingSelected) {
        self.init(all: recording)
        isEverything = filter.isEmpty
        times = filter.from...max(filter.from, filter.to)
        if let last = recording.entries.last.map(elapsed), filter.from > last {
            throw NothingSelected(
                description: "\(ShownText.escaped(recording.source)): has no records after "
                    + "\(ElapsedTime.exact(filter.from)). The last is at \(ElapsedTime.exact(last)).")
        }
        name = try filter.name.map { name throws(NothingSelected) in try Self.name(name, in: recording) }
        nameOfPost = name == nil ? [] : Self.namesOfPosts(recording)
        isSelectedPost = try filter.post.map { post throws(NothingSelected) in try Self.posts(post, in: recording) }
        isSelectedThread = try filter.thread.map { thread throws(NothingSelected) in
            try Self.threads(thread, in: recording)
        }
    }

    /// Selects every record.
    package init(all recording: Recording) { start = recording.entries.first?.time ?? 0 }

    /// True if a record of a post is selected only with all of its others.
    var hasWholePosts: Bool { times == 0...Int64.max && isSelectedThread == nil }

    /// True if the entry satisfies every condition of the filter.
    package func contains(_ entry: Recording.Entry) -> Bool {
        times.contains(elapsed(entry)) && matches(entry)
    }

    /// The same without the condition on time.
    package func matches(_ entry: Recording.Entry) -> Bool {
        if let name {
            let own = entry.name < 0 && entry.post >= 0 ? nameOfPost[Int(entry.post)] : entry.name
            guard own == name else { return false }
        }
        if let isSelectedPost {
            let posts = [entry.post, entry.relatedPost]
            guard posts.contains(where: { $0 >= 0 && isSelectedPost[Int($0)] }) else { return false }
        }
        if let isSelectedThread {
            guard isSelectedThread[Int(entry.thread)] || entry.target >= 0 && isSelectedThread[Int(entry.target)]
            else { return false }
        }
        return true
    }

    /// The time since the first record, in nanoseconds. Times of a damaged file are limited so that sums do not
    /// overflow.
    package func elapsed(_ entry: Recording.Entry) -> Int64 {
        Int64(min(entry.time &- start, UInt64(Int64.max / 4)))
    }

    /// For each post of the recording: true if one of its records is selected. Nil if every record is.
    func posts(of recording: Recording) -> [Bool]? {
        if isEverything { return nil }
        var isSelected = [Bool](repeating: false, count: recording.posts.count)
        for entry in recording.entries where entry.post >= 0 && contains(entry) { isSelected[Int(entry.post)] = true }
        return isSelected
    }

    // MARK: Names, posts and threads of the filter

    private static func name(_ name: String, in recording: Recording) throws(NothingSelected) -> Int32 {
        if let index = recording.name(called: name) { return index }
        throw nothing("notification \"\(name)\"", in: recording, similar: recording.names(similarTo: name))
    }

    private static func namesOfPosts(_ recording: Recording) -> [Int32] {
        var names = [Int32](repeating: -1, count: recording.posts.count)
        for entry in recording.entries where entry.post >= 0 && names[Int(entry.post)] < 0 {
            names[Int(entry.post)] = entry.name
        }
        return names
    }

    private static func posts(_ number: Int, in recording: Recording) throws(NothingSelected) -> [Bool] {
        var isSelected = recording.posts.map { $0.number == number }
        guard isSelected.contains(true) else { throw nothing("post #\(number)", in: recording) }
        for entry in recording.entries where entry.stage == .capture && entry.post >= 0 && entry.relatedPost >= 0 {
            if isSelected[Int(entry.relatedPost)] { isSelected[Int(entry.post)] = true }
        }
        return isSelected
    }

    private static func threads(_ name: String, in recording: Recording) throws(NothingSelected) -> [Bool] {
        let isSelected = recording.threads.indices.map { recording.isThread($0, called: name) }
        guard isSelected.contains(true) else {
            let nearest = recording.threadName(similarTo: name)
            throw nothing("thread \"\(name)\"", in: recording, similar: nearest.map { [$0] } ?? [])
        }
        return isSelected
    }

    private static func nothing(
        _ what: String, in recording: Recording, similar: [String] = []
    ) -> NothingSelected {
        let names = similar.map { "\"\(Excerpt.of($0))\"" }.joined(separator: " or ")
        return NothingSelected(
            description: "\(ShownText.escaped(recording.source)): has no \(Excerpt.of(what))."
                + (similar.isEmpty ? "" : " Did you mean \(names)?"))
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
        let ofModules = names.filter { Suggestion.isLastComponent(name, of: $0) }
        if !ofModules.isEmpty { return ofModules }
        let withoutModules = Dictionary(grouping: names.filter { $0.contains(".") }) {
            String($0.split(separator: ".").last ?? "")
        }
        let nearest = Suggestion.nearest(to: name, among: names + withoutModules.keys.sorted())
        return nearest.map { names.contains($0) ? [$0] : withoutModules[$0] ?? [] } ?? []
    }
}
