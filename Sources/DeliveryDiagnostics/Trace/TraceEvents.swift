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
    private let index: RecordingIndex
    private let selection: RecordingSelection
    /// For each `post`: the first flow that starts there. For each flow: the next flow of the same post.
    private let flows: [Int32]
    private let start: UInt64

    init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        self.index = index
        self.selection = selection
        recording = index.recording
        start = recording.entries.first?.time ?? 0
        var flows = [Int32](repeating: -1, count: recording.entries.count)
        for (number, entry) in recording.entries.enumerated().reversed() where selection.contains(entry) {
            let post = Int(index.posted(Int32(number)))
            guard post >= 0, Self.isFlow(entry, Int32(number), index) else { continue }
            // A post is only the head of a list, and other records are only in one, so one array holds both.
            flows[number] = flows[post]
            flows[post] = Int32(number)
        }
        self.flows = flows
    }

    /// True if the entry identifies a flow: a delivery that waits, or one that was made without waiting.
    private static func isFlow(_ entry: Recording.Entry, _ number: Int32, _ index: RecordingIndex) -> Bool {
        switch entry.stage {
        case .append, .capture: true
        case .deliver: index.waitBegin(number) < 0
        default: false
        }
    }

    /// The end of a handler or wait is shown with its beginning.
    private func isShown(_ entry: Recording.Entry, _ number: Int32) -> Bool {
        guard entry.stage == .return || entry.stage == .waitEnd else { return selection.contains(entry) }
        let begin = index.partner(of: number)
        return selection.contains(begin < 0 ? entry : index.entry(begin))
    }

    /// - Parameter body: called with each event in order.
    func visit(_ body: (TraceEvent) throws -> Void) throws {
        var state = State(threads: recording.threads.count)
        for (number, entry) in recording.entries.enumerated() where isShown(entry, Int32(number)) {
            try add(entry, Int32(number), &state, body)
        }
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

    private func add(
        _ entry: Recording.Entry, _ number: Int32, _ state: inout State, _ body: (TraceEvent) throws -> Void
    ) throws {
        let thread = Int(entry.thread)
        let now = time(entry.time)
        if state.slices[thread].last?.kind == .moment { try close(thread, at: now, &state, body) }
        switch entry.stage {
        case .enqueue, .post:
            try closeWhatEnded(entry, ofPost: entry.post, &state, body)
            try open(.post, number, &state, body)
        case .capture where index.posted(number) < 0:
            try closeWhatEnded(entry, ofPost: entry.relatedPost, &state, body)
            try open(.post, number, &state, body)
        case .append, .capture:
            try closeWhatEnded(entry, ofPost: entry.post, &state, body)
            try open(.moment, number, &state, body)
        case .drain:
            try closeWhatEnded(entry, ofPost: -1, &state, body)
            try open(.drain, number, &state, body)
        case .deliver:
            try closeWhatEnded(entry, ofPost: entry.post, isDrained: index.waitBegin(number) >= 0, &state, body)
            try open(index.recordsEnd(number) ? .lasting : .moment, number, &state, body)
        case .wait:
            try closeWhatEnded(entry, ofPost: -1, &state, body)
            try open(.lasting, number, &state, body)
        case .return where index.partner(of: number) >= 0,
            .waitEnd where index.partner(of: number) >= 0:
            while let slice = state.slices[thread].last {
                let isPartner = slice.index == index.partner(of: number)
                try close(thread, at: now, isRecorded: isPartner, &state, body)
                if isPartner { break }
            }
        case .threadEnd:
            while !state.slices[thread].isEmpty { try close(thread, at: now, isRecorded: false, &state, body) }
            try show(number, &state, body)
        default:
            try show(number, &state, body)
        }
        try count(number, entry, now, &state, body)
    }

    // MARK: Slices

    private func open(
        _ kind: Kind, _ number: Int32, _ state: inout State, _ body: (TraceEvent) throws -> Void
    ) throws {
        let entry = index.entry(number)
        let now = time(entry.time)
        try showInstants(Int(entry.thread), until: now, &state, body)
        state.slices[Int(entry.thread)].append(
            Slice(kind: kind, index: number, post: entry.post, begin: now, end: nil))
        try body(TraceEvent(phase: .begin, time: now, thread: entry.thread, index: number))
        func flow(_ phase: TraceEvent.Phase, _ id: Int32) throws {
            try body(TraceEvent(phase: phase, time: now, thread: entry.thread, index: id))
        }
        let (isOfPost, delivery) = (index.posted(number) >= 0, index.waitEnd(number))
        switch entry.stage {
        case .enqueue:
            if delivery >= 0, index.entry(delivery).stage == .post { try flow(.flowStart, delivery) }
        case .append,
            .capture where isOfPost:
            let isDelivered = delivery >= 0 && index.entry(delivery).stage == .deliver
            switch (isOfPost, isDelivered) {
            case (true, true): try flow(.flowStep, number)
            case (true, false): try flow(.flowEnd, number)
            case (false, true): try flow(.flowStart, number)
            case (false, false): break
            }
        case .deliver:
            let begun = index.waitBegin(number)
            if begun >= 0 { try flow(.flowEnd, begun) } else if isOfPost { try flow(.flowEnd, number) }
        default:
            break
        }
        guard kind == .post else { return }
        if entry.stage == .post, index.waitBegin(number) >= 0 { try flow(.flowEnd, number) }
        guard entry.stage != .enqueue else { return }
        var id = flows[Int(number)]
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
    private func show(_ number: Int32, _ state: inout State, _ body: (TraceEvent) throws -> Void) throws {
        let entry = index.entry(number)
        let thread = Int(entry.thread)
        let event = TraceEvent(phase: .instant, time: time(entry.time), thread: entry.thread, index: number)
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
        _ number: Int32, _ entry: Recording.Entry, _ now: UInt64, _ state: inout State,
        _ body: (TraceEvent) throws -> Void
    ) throws {
        func change(_ thread: Int32, by difference: Int, isOfQueue: Bool) throws {
            guard thread >= 0 else { return }
            let depths: WritableKeyPath<State, [Int]> = isOfQueue ? \.queued : \.depths
            state[keyPath: depths][Int(thread)] += difference
            let value = state[keyPath: depths][Int(thread)]
            try body(TraceEvent(phase: .counter, time: now, thread: thread, value: value, isOfQueue: isOfQueue))
        }
        func queue(_ enqueue: Recording.Entry) -> Int32 { enqueue.target < 0 ? enqueue.thread : enqueue.target }
        if entry.stage == .enqueue, entry.post >= 0 { try change(queue(entry), by: 1, isOfQueue: true) }
        try change(index.mailbox(number), by: 1, isOfQueue: false)
        let begun = index.waitBegin(number)
        guard begun >= 0, selection.contains(index.entry(begun)) else { return }
        if index.entry(begun).stage == .enqueue {
            try change(queue(index.entry(begun)), by: -1, isOfQueue: true)
        } else {
            try change(index.mailbox(begun), by: -1, isOfQueue: false)
        }
    }
}
