internal import DeliveryRecording
internal import ThreadedNotifications

extension RecordWords {
    /// Describes a record of a difference, without its thread.
    ///
    /// - Parameter reason: the property to mention even if the record has no value for it.
    func describe(_ entry: Recording.Entry, showing reason: RunDifference.Reason?) -> String {
        var words = [entry.stage == .log ? "logs" : entry.stage.rawValue]
        if let name = recording.name(of: entry) {
            words.append(name)
        } else if entry.post >= 0, entry.observer < 0 {
            words.append("block")
        }
        if entry.post >= 0 { words.append(recording.describePost(entry.post)) }
        if entry.observer >= 0 {
            words.append("\(entry.stage == .register ? "" : "for ")\(recording.describeObserver(entry.observer))")
        }
        if reason == .sender { words.append(sender(of: entry)) }
        if reason == .target || (entry.target >= 0 && entry.target != entry.thread) {
            words.append("to be handled on \(target(of: entry, isExplicit: reason == .target))")
        }
        if reason == .relatedPost {
            words.append(entry.relatedPost < 0 ? "by no other post" : "by \(recording.describePost(entry.relatedPost))")
        }
        if entry.count >= 0, entry.stage == .post || entry.stage == .capture {
            words.append("(\(counted(Int(entry.count), "observer")))")
        }
        if let details = recording.details(of: entry) { words.append("\"\(Excerpt.of(details))\"") }
        let locations =
            recording.place(of: entry).map { ["at \($0)"] }
            ?? [
                location(of: source(ofPost: entry.post), "posted at "),
                location(of: registered(entry.observer), "observer added at "),
            ].filter { !$0.isEmpty }
        if !locations.isEmpty { words.append("(\(locations.joined(separator: ", ")))") }
        return words.joined(separator: " ")
    }

    /// Only the type, because only the type is compared.
    private func sender(of entry: Recording.Entry) -> String {
        guard let sender = recording.sender(of: entry) else {
            return entry.stage == .register ? "from any sender" : "from no sender"
        }
        return sender.type.isEmpty ? "from a sender of unknown type" : "from \(Excerpt.of(sender.type))"
    }

    /// - Parameter isExplicit: whether to tell threads with the same name apart.
    private func target(of entry: Recording.Entry, isExplicit: Bool) -> String {
        guard entry.target >= 0 else {
            return entry.stage == .register ? "the posting thread" : "an unknown thread"
        }
        let words = recording.describeThread(entry.target)
        let identity = recording.threads[Int(entry.target)].identity
        let isShared = identity.name != nil && recording.threads.count { $0.identity.name == identity.name } > 1
        return isExplicit && isShared ? "\(words) (thread \(identity.number))" : words
    }
}
