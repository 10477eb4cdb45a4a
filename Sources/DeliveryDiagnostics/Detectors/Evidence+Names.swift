internal import DeliveryRecording

/// Names that are observed and never posted, and posts without an observer.
extension Evidence {
    private static let sameName =
        "If both should be the same name, declare it once, as a constant in an extension of Notification.Name."

    private typealias NamedHistory = (history: NameHistory, words: NameWords)

    /// The first findings will reveal the rest, so only so many names are compared.
    private func named(_ most: Int, where isIncluded: (NameHistory) -> Bool) -> [NamedHistory] {
        histories.filter { $0.name >= 0 && isIncluded($0) }.prefix(most).map {
            ($0, NameWords(recording.strings[Int($0.name)]))
        }
    }

    /// Names that are observed and never posted. It is a problem if a misspelt name is posted that nothing observes;
    /// otherwise it is a note, if the recording is complete.
    ///
    /// Cost: for each of the first 300 of these names, a pass over at most 1,000 posted names.
    var neverPosted: [Finding] {
        let posted = named(1000) { !$0.posts.isEmpty || isSentInVain($0) }
        let sent = Set(histories.filter { !$0.sent.isEmpty }.map(\.name))
        // What a queue never posted is a finding of its own.
        let enqueued = Set(
            index.records(of: .enqueue).map { [Int32(recording.process(of: index.entry($0))), index.entry($0).name] })
        return named(300) { history in
            history.posts.isEmpty && !history.registrations.isEmpty && !sent.contains(history.name)
                && !enqueued.contains([history.process, history.name])
                && !history.registrations.allSatisfy(words.isCalledByFoundation)
                && history.registrations.map { index.entry($0).observer }.allSatisfy {
                    $0 < 0 || index.observers[Int($0)].earlier == 0
                }
        }.compactMap { history, name -> Finding? in
            let (registered, observer) = (history.registrations[0], index.entry(history.registrations[0]).observer)
            let near = posted.first { other in
                (other.history.process == history.process || other.history.posts.isEmpty)
                    && (name.isMisspelt(other.words)
                        || other.history.registrations.isEmpty && name.isWithoutModule(other.words))
            }?.history
            // The program may use both names, if the other one has its own observer.
            let isMistake = near?.registrations.isEmpty == true
            guard isMistake || recording.completeness[Int(history.process)].isComplete else { return nil }
            let observing = observer < 0 ? "" : " by \(recording.describeObserver(observer))"
            let posts = near.map { $0.posts.isEmpty ? $0.sent : $0.posts } ?? []
            let whereTo = near?.posts.isEmpty == true ? "to other processes " : ""
            let other = near.map { " \(words.name($0.name)) was posted \(whereTo)\(words.times(posts.count))." } ?? ""
            return Finding(
                severity: isMistake ? .problem : .note,
                problem: "\(words.name(history.name)) was never posted but is observed\(observing).\(other)",
                evidence: [registered, posts.first ?? words.removed(observer)],
                remedy: near == nil
                    ? "If it should have been posted, compare the names and the centers, and keep the observer's token."
                    : Self.sameName, weight: max(1, posts.count))
        }
    }

    /// Names that were posted to other processes and that none observes, unless one observes a misspelt one.
    var sentUnobserved: [Finding] {
        let observed = Set(histories.filter { !$0.registrations.isEmpty }.map(\.name))
        guard recording.processes.count > 1, !observed.contains(-1), recording.completeness.allSatisfy(\.isComplete)
        else { return [] }
        let others = named(300) { !$0.registrations.isEmpty }
        return named(1000) { isSentInVain($0) && !observed.contains($0.name) }.compactMap { history, name -> Finding? in
            if others.contains(where: { $0.words.isMisspelt(name) }) { return nil }
            return Finding(
                severity: .note,
                problem: "\(words.name(history.name)) was posted \(words.times(history.sent.count)) to other "
                    + "processes, and no recorded process observes it.", evidence: [history.sent[0]],
                remedy: "If no other process observes it, compare the names, and the directories of the servers.",
                weight: history.sent.count)
        }
    }

    /// True if a name was posted to other processes, and no recorded process received it.
    private func isSentInVain(_ history: NameHistory) -> Bool {
        !history.sent.isEmpty && history.sent.allSatisfy { index.posts[Int(index.entry($0).post)].receptions == 0 }
    }

    /// Posts that were made before the program added the first observer of their name.
    var postedUnobserved: [Finding] {
        let ofAnyName = histories.filter { $0.name < 0 }
        return histories.filter { $0.name >= 0 }.compactMap { history -> Finding? in
            guard let first = history.registrations.first else { return nil }
            let sender = index.entry(first).sender
            let end = min(first, ofAnyName.first { $0.process == history.process }?.registrations.first ?? .max)
            let missed = history.posts(after: -1, before: end).filter { post in
                // An observer of one sender missed only that sender's posts.
                index.entry(post).count <= 0 && (sender < 0 || index.entry(post).sender == sender)
            }
            guard let post = missed.first else { return nil }
            return Finding(
                problem:
                    "\(words.name(history.name)) was posted \(words.times(missed.count)) before it had an observer.",
                evidence: [post, first],
                remedy: "Add the observer before you start the poster. Earlier posts are not kept.",
                weight: missed.count)
        }
    }
}

/// A notification's name as the words that it consists of, to tell a misspelt name from a different one.
///
/// Names that differ in a whole word, such as `WindowWillClose` and `WindowDidClose`, are different names.
private struct NameWords {
    private let name: String
    /// In lower case.
    private let words: [String]

    init(_ name: String) {
        self.name = name
        // A capital begins a word, and of several capitals the last one: URLChanged.
        words = name.matches(of: /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{N}]+|\p{L}+/).map { $0.output.lowercased() }
    }

    /// True if one name is the other one without its module: `JobArrived` and `jobs.JobArrived`.
    func isWithoutModule(_ other: NameWords) -> Bool {
        Suggestion.isLastComponent(name, of: other.name) || Suggestion.isLastComponent(other.name, of: name)
    }

    /// True if one name is the other one with a typing error in one word of at least four letters, or in other case.
    func isMisspelt(_ other: NameWords) -> Bool {
        // One error leaves the beginning or the end as it is.
        guard words.count == other.words.count,
            words.first?.first == other.words.first?.first || words.last?.last == other.words.last?.last
        else { return false }
        let differing = zip(words, other.words).filter { $0 != $1 }
        guard let (one, two) = differing.first else { return name != other.name }
        // Names that differ only in numbers differ on purpose.
        guard differing.count == 1, max(one.count, two.count) >= 4, one.filter(\.isLetter) != two.filter(\.isLetter)
        else { return false }
        // One letter differs, or two that are exchanged.
        let isExchanged = zip(one, two).filter { $0 != $1 }.count == 2 && one.sorted() == two.sorted()
        return isExchanged || Suggestion.isNear(one, two)
    }
}
