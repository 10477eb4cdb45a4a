internal import DeliveryRecording

/// Which records of a recording belong together: a post and what comes of it, a wait in a mailbox and its end, a handler
/// and its return.
///
/// Places are those of `Recording.entries`, -1 for none. Each link goes to an earlier or later record that is there: what
/// has no partner, in a recording that was cut or is wrong, has no link.
/// Cost: 20 bytes a record, and one dictionary access for each that waits.
struct DeliveryLinks {
    /// Of `append`, `deliver` and the other fates: the `post`, or the `capture` from Foundation, that it is of.
    private(set) var posted: [Int32]
    /// Of a fate: the `append`, or the `capture` of the document's technique, since which it waited in a mailbox.
    /// Of `post`, and of a posting queue's fates: the `enqueue`.
    private(set) var began: [Int32]
    /// The other way: of what waits, its fate or its `post`.
    private(set) var ended: [Int32]
    /// Of what waits in a mailbox: the thread whose it is.
    private(set) var mailbox: [Int32]
    /// Of `deliver` its `return`, of `wait` its `waitEnd`, and the other way.
    private(set) var partner: [Int32]

    init(_ recording: Recording) {
        var linker = Linker(recording)
        for place in recording.entries.indices { linker.add(place) }
        linker.finish()
        self = linker.links
    }

    /// Whether the recording tells when the handler returns: the document's technique does not record it.
    static func tellsReturn(_ deliver: Recording.Entry) -> Bool { deliver.observer >= 0 || deliver.name < 0 }

    private init(count: Int) {
        let none = [Int32](repeating: -1, count: count)
        (posted, began, ended, mailbox, partner) = (none, none, none, none, none)
    }

    private struct Linker {
        /// How deep a return is looked for: what is deeper is of no sound recording, and would cost without end.
        private static let deepest = 1000

        private let recording: Recording
        private(set) var links: DeliveryLinks
        /// By post.
        private var lastPosts: [Int32]
        private var enqueued: [Int32]
        /// By post and observer.
        private var waiting: [UInt64: Int32] = [:]
        /// What waits besides, where several wait for one observer of a post: observers that are not told apart.
        private var alsoWaiting: [UInt64: [Int32]] = [:]
        /// What lasts on each thread, the innermost last.
        private var lasting: [[Int32]]
        /// By name: the thread that last registered an observer that has no number.
        private var registrants: [Int32]

        init(_ recording: Recording) {
            self.recording = recording
            links = DeliveryLinks(count: recording.entries.count)
            lastPosts = Array(repeating: -1, count: recording.posts.count)
            enqueued = lastPosts
            lasting = Array(repeating: [], count: recording.threads.count)
            registrants = Array(repeating: -1, count: recording.strings.count)
        }

        mutating func add(_ place: Int) {
            let entry = recording.entries[place]
            if entry.post >= 0 { links.posted[place] = lastPosts[Int(entry.post)] }
            switch entry.stage {
            case .register:
                if entry.observer < 0, entry.name >= 0 { registrants[Int(entry.name)] = entry.thread }
            case .enqueue:
                if entry.post >= 0 { enqueued[Int(entry.post)] = Int32(place) }
            case .post:
                links.posted[place] = -1
                guard entry.post >= 0 else { break }
                endQueueing(entry, place)
                lastPosts[Int(entry.post)] = Int32(place)
            case .capture:
                guard entry.post >= 0 else { break }
                if isHeld(entry) {
                    begin(entry, place, mailbox: -1)
                } else {
                    links.posted[place] = -1
                    lastPosts[Int(entry.post)] = Int32(place)
                }
            case .append:
                begin(entry, place, mailbox: entry.target)
            case .deliver:
                end(entry, place)
                if DeliveryLinks.tellsReturn(entry) { lasting[Int(entry.thread)].append(Int32(place)) }
            case .coalesce, .drop, .cancel, .targetGone, .skip, .dequeue:
                if !end(entry, place), entry.observer < 0 { endQueueing(entry, place) }
            case .return, .waitEnd:
                endLasting(entry, place)
            case .wait:
                lasting[Int(entry.thread)].append(Int32(place))
            case .threadEnd:
                lasting[Int(entry.thread)] = []
            case .remove, .signal, .dropSignal, .drain, .refuseWait, .count, .log, .processStart, .processEnd, .fork,
                .lost, .end:
                break
            }
        }

        /// Finds the mailboxes of what still waits with the document's technique: those of the threads that registered.
        mutating func finish() {
            let all = [Array(waiting.values), Array(alsoWaiting.values.joined())].joined()
            for place in all where links.mailbox[Int(place)] < 0 {
                let entry = recording.entries[Int(place)]
                if entry.name >= 0 { links.mailbox[Int(place)] = registrants[Int(entry.name)] }
            }
        }

        /// Whether it is the document's capture, which holds what was posted under the same number.
        private func isHeld(_ capture: Recording.Entry) -> Bool {
            let post = lastPosts[Int(capture.post)]
            return post >= 0 && recording.entries[Int(post)].stage == .post
        }

        private func key(_ entry: Recording.Entry) -> UInt64 {
            UInt64(UInt32(bitPattern: entry.post)) << 32 | UInt64(UInt32(bitPattern: entry.observer))
        }

        private mutating func begin(_ entry: Recording.Entry, _ place: Int, mailbox: Int32) {
            guard entry.post >= 0 else { return }
            links.mailbox[place] = mailbox
            let key = key(entry)
            if waiting[key] == nil {
                waiting[key] = Int32(place)
            } else {
                alsoWaiting[key, default: []].append(Int32(place))
            }
        }

        @discardableResult
        private mutating func end(_ entry: Recording.Entry, _ place: Int) -> Bool {
            guard entry.post >= 0 else { return false }
            let key = key(entry)
            guard let begun = waiting.removeValue(forKey: key) else { return false }
            if !alsoWaiting.isEmpty, var more = alsoWaiting.removeValue(forKey: key) {
                waiting[key] = more.removeLast()
                if !more.isEmpty { alsoWaiting[key] = more }
            }
            links.began[place] = begun
            links.ended[Int(begun)] = Int32(place)
            if links.mailbox[Int(begun)] < 0 { links.mailbox[Int(begun)] = entry.thread }
            return true
        }

        private mutating func endQueueing(_ entry: Recording.Entry, _ place: Int) {
            guard entry.post >= 0, enqueued[Int(entry.post)] >= 0 else { return }
            let begun = enqueued[Int(entry.post)]
            enqueued[Int(entry.post)] = -1
            links.began[place] = begun
            links.ended[Int(begun)] = Int32(place)
        }

        private mutating func endLasting(_ entry: Recording.Entry, _ place: Int) {
            let thread = Int(entry.thread)
            let begins: DeliveryStage = entry.stage == .return ? .deliver : .wait
            for index in lasting[thread].indices.reversed().prefix(Self.deepest) {
                let begun = Int(lasting[thread][index])
                let candidate = recording.entries[begun]
                guard candidate.stage == begins else { continue }
                guard begins == .wait || candidate.post == entry.post && candidate.observer == entry.observer else {
                    continue
                }
                // What was within it lasts no longer, whether that was recorded or not.
                lasting[thread].removeSubrange(index...)
                links.partner[place] = Int32(begun)
                links.partner[begun] = Int32(place)
                return
            }
        }
    }
}
