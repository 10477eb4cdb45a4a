internal import DeliveryRecording

/// Generates the events of a trace.
///
/// Slices: a post or a drain lasts until the last record that belongs to it; a handler lasts from `deliver` to
/// `return`; a wait lasts from `wait` to `waitEnd`. Slices of one thread nest: a slice ends at the latest with the
/// slice that contains it.
/// Flows: from post through append to deliver, and from enqueue to post. Each end of a flow directly follows the
/// beginning of its slice, because viewers attach it to the slice that began last.
/// Counters: the depth of each mailbox and posting queue.
/// Order: times ascend on each thread and in each counter.
struct TraceEvents {
    /// The duration of a slice without a recorded end, unless its thread has an earlier record. It makes the slice
    /// visible and gives arrows a place to begin and end.
    static let momentNanoseconds: UInt64 = 1000

    private enum Kind {
        /// Ends with the next record.
        case moment
        /// Ends with the last record that belongs to it.
        case post
        case drain
        /// Ends with a record of its end.
        case lasting
    }

    private struct Slice {
        var kind: Kind
        var index: Int32
        var post: Int32
        var begin: UInt64
        /// The end of its records so far.
        var end: UInt64?
    }

    private let recording: Recording
    let links: DeliveryLinks
    /// For each `post`: the first flow that starts there. For each flow: the next flow of the same post.
    private let flows: [Int32]
    private let start: UInt64

    init(_ recording: Recording) {
        self.recording = recording
        let links = DeliveryLinks(recording)
        self.links = links
        start = recording.entries.first?.time ?? 0
        var flows = [Int32](repeating: -1, count: recording.entries.count)
        for index in recording.entries.indices.reversed() where Self.isFlow(index, recording, links) {
            let post = Int(links.posted[index])
            guard post >= 0 else { continue }
            // A post is only the head of a list, and other records are only in one, so one array holds both.
            flows[index] = flows[post]
            flows[post] = Int32(index)
        }
        self.flows = flows
    }

    /// True if the entry identifies a flow: a delivery that waits, or one that was made without waiting.
    private static func isFlow(_ index: Int, _ recording: Recording, _ links: DeliveryLinks) -> Bool {
        switch recording.entries[index].stage {
        case .append: true
        case .capture: links.posted[index] >= 0
        case .deliver: links.began[index] < 0
        default: false
        }
    }

    /// - Parameter body: called with each event in order.
    func visit(_ body: (TraceEvent) throws -> Void) throws {
        var state = State(threads: recording.threads.count)
        for index in recording.entries.indices { try add(index, &state, body) }
        let last = time(recording.entries.last?.time ?? start)
        let end = last > .max - Self.momentNanoseconds ? last : last + Self.momentNanoseconds
        for thread in state.slices.indices {
            while !state.slices[thread].isEmpty { try close(thread, at: end, isRecorded: false, &state, body) }
        }
    }

    private struct State {
        /// For each thread: its open slices, the innermost last.
        var slices: [[Slice]]
        /// For each thread: instants after the beginning of its innermost slice. They may turn out to be after its end.
        var instants: [[TraceEvent]]
        var depths: [Int]
        var queued: [Int]

        init(threads: Int) {
            slices = Array(repeating: [], count: threads)
            instants = Array(repeating: [], count: threads)
            depths = Array(repeating: 0, count: threads)
            queued = depths
        }
    }

    /// Times of a recording ascend, so no time is before the first.
    private func time(_ time: UInt64) -> UInt64 { time - start }

    private func add(_ index: Int, _ state: inout State, _ body: (TraceEvent) throws -> Void) throws {
        let entry = recording.entries[index]
        let thread = Int(entry.thread)
        let now = time(entry.time)
        if state.slices[thread].last?.kind == .moment { try close(thread, at: now, &state, body) }
        switch entry.stage {
        case .enqueue, .post:
            try closeWhatEnded(entry, ofPost: entry.post, &state, body)
            try open(.post, index, &state, body)
        case .capture where links.posted[index] < 0:
            try closeWhatEnded(entry, ofPost: entry.relatedPost, &state, body)
            try open(.post, index, &state, body)
        case .append, .capture:
            try closeWhatEnded(entry, ofPost: entry.post, &state, body)
            try open(.moment, index, &state, body)
        case .drain:
            try closeWhatEnded(entry, ofPost: -1, &state, body)
            try open(.drain, index, &state, body)
        case .deliver:
            try closeWhatEnded(entry, ofPost: entry.post, isDrained: links.began[index] >= 0, &state, body)
            try open(DeliveryLinks.tellsReturn(entry) ? .lasting : .moment, index, &state, body)
        case .wait:
            try closeWhatEnded(entry, ofPost: -1, &state, body)
            try open(.lasting, index, &state, body)
        case .return where links.partner[index] >= 0,
            .waitEnd where links.partner[index] >= 0:
            while let slice = state.slices[thread].last {
                let isPartner = slice.index == links.partner[index]
                try close(thread, at: now, isRecorded: isPartner, &state, body)
                if isPartner { break }
            }
        case .threadEnd:
            while !state.slices[thread].isEmpty { try close(thread, at: now, isRecorded: false, &state, body) }
            try show(index, &state, body)
        default:
            try show(index, &state, body)
        }
        try count(index, entry, now, &state, body)
    }

    // MARK: Slices

    private func open(
        _ kind: Kind, _ index: Int, _ state: inout State, _ body: (TraceEvent) throws -> Void
    ) throws {
        let entry = recording.entries[index]
        let now = time(entry.time)
        try showInstants(Int(entry.thread), until: now, &state, body)
        state.slices[Int(entry.thread)].append(
            Slice(kind: kind, index: Int32(index), post: entry.post, begin: now, end: nil))
        try body(TraceEvent(phase: .begin, time: now, thread: entry.thread, index: Int32(index)))
        func flow(_ phase: TraceEvent.Phase, _ id: Int32) throws {
            try body(TraceEvent(phase: phase, time: now, thread: entry.thread, index: id))
        }
        let (isOfPost, delivery) = (links.posted[index] >= 0, links.ended[index])
        switch entry.stage {
        case .enqueue:
            if delivery >= 0, recording.entries[Int(delivery)].stage == .post { try flow(.flowStart, delivery) }
        case .append,
            .capture where isOfPost:
            let isDelivered = delivery >= 0 && recording.entries[Int(delivery)].stage == .deliver
            switch (isOfPost, isDelivered) {
            case (true, true): try flow(.flowStep, Int32(index))
            case (true, false): try flow(.flowEnd, Int32(index))
            case (false, true): try flow(.flowStart, Int32(index))
            case (false, false): break
            }
        case .deliver:
            let begun = links.began[index]
            if begun >= 0 { try flow(.flowEnd, begun) } else if isOfPost { try flow(.flowEnd, Int32(index)) }
        default:
            break
        }
        guard kind == .post else { return }
        if entry.stage == .post, links.began[index] >= 0 { try flow(.flowEnd, Int32(index)) }
        guard entry.stage != .enqueue else { return }
        var id = flows[index]
        while id >= 0 {
            try flow(.flowStart, id)
            id = flows[Int(id)]
        }
    }

    /// Closes the posts and drains that the record does not belong to.
    private func closeWhatEnded(
        _ entry: Recording.Entry, ofPost post: Int32, isDrained: Bool = false, _ state: inout State,
        _ body: (TraceEvent) throws -> Void
    ) throws {
        let thread = Int(entry.thread)
        while let slice = state.slices[thread].last {
            switch slice.kind {
            case .lasting: return
            case .post: if !isDrained, post >= 0, slice.post == post { return }
            case .drain: if isDrained { return }
            case .moment: break
            }
            try close(thread, at: time(entry.time), &state, body)
        }
    }

    /// Adds an event without a duration.
    private func show(_ index: Int, _ state: inout State, _ body: (TraceEvent) throws -> Void) throws {
        let entry = recording.entries[index]
        let thread = Int(entry.thread)
        let event = TraceEvent(phase: .instant, time: time(entry.time), thread: entry.thread, index: Int32(index))
        guard let slice = state.slices[thread].last, slice.kind != .lasting else { return try body(event) }
        state.instants[thread].append(event)
        guard slice.kind == .post else { return }
        if entry.stage == .signal || entry.stage == .dropSignal || entry.post >= 0 && entry.post == slice.post {
            try showInstants(thread, until: event.time, &state, body)
            state.slices[thread][state.slices[thread].count - 1].end = event.time
        }
    }

    private func showInstants(
        _ thread: Int, until end: UInt64, _ state: inout State, _ body: (TraceEvent) throws -> Void
    ) throws {
        guard !state.instants[thread].isEmpty else { return }
        let shown = state.instants[thread].prefix { $0.time <= end }
        for event in shown { try body(event) }
        state.instants[thread].removeFirst(shown.count)
    }

    /// Closes the innermost slice.
    ///
    /// - Parameter isTold: false if the slice should have a record of its end but has none.
    private func close(
        _ thread: Int, at now: UInt64, isRecorded: Bool = true, _ state: inout State,
        _ body: (TraceEvent) throws -> Void
    ) throws {
        guard let slice = state.slices[thread].popLast() else { return }
        let isLasting = slice.kind == .lasting
        let end = isLasting ? now : slice.end ?? slice.begin + min(now - slice.begin, Self.momentNanoseconds)
        try showInstants(thread, until: end, &state, body)
        try body(
            TraceEvent(
                phase: .end, time: end, thread: Int32(thread), index: slice.index,
                value: isLasting && !isRecorded ? 1 : 0))
        if let outer = state.slices[thread].indices.last {
            state.slices[thread][outer].end = max(state.slices[thread][outer].end ?? 0, end)
        }
        if state.slices[thread].last.map({ $0.kind == .lasting }) ?? true {
            try showInstants(thread, until: .max, &state, body)
        }
    }

    // MARK: Counters

    private func count(
        _ index: Int, _ entry: Recording.Entry, _ now: UInt64, _ state: inout State,
        _ body: (TraceEvent) throws -> Void
    ) throws {
        func counter(_ thread: Int32, _ value: Int, isOfQueue: Bool) throws {
            try body(
                TraceEvent(phase: .counter, time: now, thread: thread, value: value, isOfQueue: isOfQueue))
        }
        if entry.stage == .enqueue, entry.post >= 0 {
            let queue = entry.target < 0 ? entry.thread : entry.target
            state.queued[Int(queue)] += 1
            try counter(queue, state.queued[Int(queue)], isOfQueue: true)
        }
        if links.mailbox[index] >= 0 {
            let mailbox = links.mailbox[index]
            state.depths[Int(mailbox)] += 1
            try counter(mailbox, state.depths[Int(mailbox)], isOfQueue: false)
        }
        let begun = Int(links.began[index])
        guard begun >= 0 else { return }
        if recording.entries[begun].stage == .enqueue {
            let enqueue = recording.entries[begun]
            let queue = enqueue.target < 0 ? enqueue.thread : enqueue.target
            state.queued[Int(queue)] -= 1
            try counter(queue, state.queued[Int(queue)], isOfQueue: true)
        } else if links.mailbox[begun] >= 0 {
            let mailbox = links.mailbox[begun]
            state.depths[Int(mailbox)] -= 1
            try counter(mailbox, state.depths[Int(mailbox)], isOfQueue: false)
        }
    }
}
