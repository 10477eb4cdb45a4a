internal import DeliveryRecording
internal import ThreadedNotifications

/// The names, threads, handlers and posts of a recording that rules are about.
extension RecordWords {
    /// The index of a name in the recording's strings, or -1 if no record has it.
    func name(called name: String) -> Int32 {
        guard let string = recording.strings.firstIndex(of: name).map(Int32.init) else { return -1 }
        return recording.entries.contains { $0.name == string } ? string : -1
    }

    /// Says that no record has a name, and which similar name there is.
    func missing(name: String) -> String {
        let names = Set(recording.entries.lazy.map(\.name)).filter { $0 >= 0 }.map { recording.strings[Int($0)] }
        return missing("the notification \(Rule.name(name))", like: name, among: names)
    }

    /// For each thread: true if it is there. All are if there is no place.
    func threads(on place: Rule.Place?) -> [Bool] {
        recording.threads.indices.map { thread in
            switch place {
            case nil: true
            case .main: index.isMain(Int32(thread))
            case .thread(let name):
                recording.threads[thread].identity.name == name
                    || "\(recording.threads[thread].identity.number)" == name
            }
        }
    }

    /// Says that the recording does not have the thread of a place, and which similar name there is; nil if it has.
    /// Every process has a main thread.
    ///
    /// - Parameter threads: the threads of the place.
    func missing(_ place: Rule.Place?, _ threads: [Bool]) -> String? {
        guard case .thread(let name)? = place, !threads.contains(true) else { return nil }
        return missing(
            "the thread \(Rule.name(name))", like: name, among: recording.threads.compactMap(\.identity.name))
    }

    private func missing(_ what: String, like word: String, among candidates: [String]) -> String {
        let nearest = Suggestion.nearest(to: word, among: Set(candidates).sorted())
        return "the recording does not have \(Excerpt.of(what))"
            + (nearest.map { "; did you mean \(Excerpt.of(Rule.name($0)))?" } ?? "")
    }

    /// The calls of handlers of a name.
    func handlers(of name: Int32) -> [RecordingIndex.Span] {
        index.spans.filter { !$0.isWait && index.entry($0.begin).name == name }
    }

    /// Says that no handler of a name ran.
    func notHandled(_ name: Int32, on place: Rule.Place? = nil) -> String {
        let posts = posts(of: name).reduce(0) { $0 + $1.count }
        return "no handler of \(self.name(name)) ran\(place.map { " on \($0)" } ?? ""); it was "
            + (posts == 0 ? "never posted" : "posted \(times(posts))")
    }

    /// The posts of a name in each process that posted it, in the order of the recording; nil means every name. A
    /// capture that another post of the recording caused is a delivery of that post, not a post.
    func posts(of name: Int32?) -> [[Int32]] {
        var posts: [[Int32]] = Array(repeating: [], count: recording.processes.count)
        for (number, entry) in recording.entries.enumerated()
        where (entry.stage == .post || entry.stage == .capture) && entry.name >= 0 && (name ?? entry.name) == entry.name
        {
            if entry.post >= 0, index.posts[Int(entry.post)].posted != Int32(number) { continue }
            if entry.relatedPost >= 0, index.posts[Int(entry.relatedPost)].posted >= 0 { continue }
            posts[recording.process(of: entry)].append(Int32(number))
        }
        return posts.filter { !$0.isEmpty }
    }
}
