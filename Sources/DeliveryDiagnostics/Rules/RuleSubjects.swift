internal import DeliveryRecording
internal import ThreadedNotifications

/// The names, threads, handlers and posts of a recording that rules are about.
extension RecordWords {
    /// The index of a name in the recording's strings, or -1 if no record has it.
    func name(called name: String) -> Int32 {
        recording.name(called: name) ?? -1
    }

    /// Says that no record has a name, and which similar names there are.
    func missing(name: String) -> String {
        missing("the notification \(Rule.name(name))", similar: recording.names(similarTo: name))
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
        let nearest = Suggestion.nearest(
            to: name, among: Set(recording.threads.compactMap(\.identity.name)).sorted())
        return missing("the thread \(Rule.name(name))", similar: nearest.map { [$0] } ?? [])
    }

    private func missing(_ what: String, similar: [String]) -> String {
        let names = similar.map { Excerpt.of(Rule.name($0)) }.joined(separator: " or ")
        return "the recording does not have \(Excerpt.of(what))"
            + (similar.isEmpty ? "" : "; did you mean \(names)?")
    }

    /// The calls of handlers of a name.
    func handlers(of name: Int32) -> [RecordingIndex.Span] {
        index.spans.filter { !$0.isWait && index.entry($0.begin).name == name }
    }

    /// The rule fails because no handler of a name ran: with its posts, their observers and outcomes.
    func notHandled(_ rule: Rule, _ name: Int32, on place: Rule.Place? = nil) -> RuleResult {
        let posts = posts(of: name).flatMap(\.self)
        return RuleResult(
            rule,
            fails: "no handler of \(self.name(name)) ran\(place.map { " on \($0)" } ?? ""); it was "
                + (posts.isEmpty ? "never posted" : "posted \(times(posts.count))"),
            outcomes(ofPosts: posts))
    }

    /// The posts of a name in each process that posted it, in the order of the recording; nil means every name.
    func posts(of name: Int32?) -> [[Int32]] {
        let posts = index.posts.map(\.posted).filter { number in
            number >= 0 && index.isPost(number) && (name ?? index.entry(number).name) == index.entry(number).name
        }
        return Dictionary(grouping: posts.sorted()) { recording.process(of: index.entry($0)) }
            .sorted { $0.key < $1.key }.map(\.value)
    }
}
