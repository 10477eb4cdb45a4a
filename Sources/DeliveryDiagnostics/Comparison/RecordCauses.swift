internal import DeliveryRecording

/// The cause of each record: the record without which it would not have happened.
///
/// The cause of everything in a handler is its `deliver`, the cause of a `deliver` its `append`, that of an `append` its
/// `post`, and that of the `post` of a posting queue its `enqueue`.
struct RecordCauses {
    enum Cause {
        /// The number of such records is chance.
        case notCompared
        /// The thread did it on its own.
        case itself
        /// Belongs to the chain of the entry at this index.
        case part(of: Int32)
        /// The entry at this index handed it to the thread.
        case handedOver(by: Int32)
    }

    private let index: RecordingIndex

    init(_ index: RecordingIndex) { self.index = index }

    subscript(_ number: Int) -> Cause {
        let entry = index.recording.entries[number]
        switch entry.stage {
        case .signal, .dropSignal, .drain, .wait, .waitEnd, .lost, .end, .fork, .threadEnd:
            return .notCompared
        case .register, .remove, .refuseWait, .count, .log, .processStart, .processEnd, .enqueue:
            return handler(around: number)
        case .return:
            let span = index.spanOfEntry[number]
            return span < 0 ? handler(around: number) : .part(of: index.spans[Int(span)].begin)
        case .post, .dequeue:
            return queued(entry, before: number) ?? handler(around: number)
        case .append, .skip:
            return posted(entry, before: number) ?? handler(around: number)
        case .capture:
            if let cause = posted(entry, before: number) { return cause }
            let related = entry.relatedPost < 0 ? -1 : index.posts[Int(entry.relatedPost)].posted
            return related >= 0 && related < number ? .part(of: related) : handler(around: number)
        case .deliver, .coalesce, .drop, .cancel, .targetGone:
            let delivery = index.deliveryOfEntry[number]
            let append = delivery < 0 ? -1 : index.deliveries[Int(delivery)].append
            if append >= 0, append < number { return .handedOver(by: append) }
            let queued = entry.observer < 0 && entry.stage != .deliver ? queued(entry, before: number) : nil
            return queued ?? posted(entry, before: number) ?? handler(around: number)
        }
    }

    private func handler(around number: Int) -> Cause {
        let handler = index.handlerAround(Int32(number))
        return handler < 0 ? .itself : .part(of: index.spans[Int(handler)].begin)
    }

    private func posted(_ entry: Recording.Entry, before number: Int) -> Cause? {
        let origin = entry.post < 0 ? -1 : index.posts[Int(entry.post)].posted
        guard origin >= 0, origin < number else { return nil }
        return index.entry(origin).thread == entry.thread ? .part(of: origin) : .handedOver(by: origin)
    }

    private func queued(_ entry: Recording.Entry, before number: Int) -> Cause? {
        let enqueued = entry.post < 0 ? -1 : index.posts[Int(entry.post)].enqueued
        return enqueued >= 0 && enqueued < number ? .handedOver(by: enqueued) : nil
    }
}
