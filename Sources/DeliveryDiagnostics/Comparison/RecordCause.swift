internal import DeliveryRecording

/// The record without which another record would not have happened.
///
/// The cause of everything in a handler is its `deliver`, the cause of a `deliver` its `append`, that of an `append` its
/// `post`, and that of the `post` of a posting queue its `enqueue`.
struct RecordCause {
    /// An entry, or -1 if the thread did it on its own.
    private(set) var entry: Int32 = -1
    /// True if the entry handed it to its thread. Otherwise it belongs to the chain of the entry.
    private(set) var isHandedOver = false

    /// Returns nil for records whose number is chance.
    init?(of number: Int, in index: RecordingIndex) {
        let entry = index.recording.entries[number]
        let handler = index.handlerAround(Int32(number))
        if handler >= 0 { self.entry = index.spans[Int(handler)].begin }
        let post = entry.post < 0 ? nil : index.posts[Int(entry.post)]
        let (posted, enqueued) = (post?.posted ?? -1, post?.enqueued ?? -1)
        func precedes(_ cause: Int32) -> Bool { cause >= 0 && cause < number }
        switch entry.stage {
        case .signal, .dropSignal, .drain, .wait, .waitEnd, .lost, .end, .fork, .threadEnd:
            return nil
        case .register, .remove, .refuseWait, .count, .log, .processStart, .processEnd, .enqueue:
            return
        case .return:
            let span = index.spanOfEntry[number]
            if span >= 0 { self.entry = index.spans[Int(span)].begin }
            return
        case .post, .dequeue:
            if precedes(enqueued) { (self.entry, isHandedOver) = (enqueued, true) }
            return
        case .append, .skip, .capture:
            break
        case .deliver, .coalesce, .drop, .cancel, .targetGone:
            let delivery = index.deliveryOfEntry[number]
            let append = delivery < 0 ? -1 : index.deliveries[Int(delivery)].append
            let isOfQueue = entry.observer < 0 && entry.stage != .deliver && precedes(enqueued)
            if precedes(append) || isOfQueue {
                (self.entry, isHandedOver) = (precedes(append) ? append : enqueued, true)
                return
            }
        }
        let related = entry.relatedPost < 0 ? -1 : index.posts[Int(entry.relatedPost)].posted
        if precedes(posted) {
            (self.entry, isHandedOver) = (posted, index.entry(posted).thread != entry.thread)
        } else if entry.stage == .capture, precedes(related) {
            self.entry = related
        }
    }
}
