internal import DeliveryRecording

/// The record without which another record would not have happened.
///
/// The cause of everything in a handler is its `deliver`, the cause of a `deliver` its `append`, that of an `append`
/// its `post`, and that of the `post` of a posting queue its `enqueue`.
struct RecordCause {
    /// An entry, or -1 if the thread did it on its own.
    var entry: Int32
    /// True if the entry handed it to its thread. Otherwise it belongs to the lane of the entry.
    var isHandedOver = false
    /// The observer of a Foundation center whose handlers are a lane of their own; -1 for all others. The order in
    /// which a center calls observers is random.
    var observer: Int32 = -1
}

extension RecordingIndex {
    /// Returns the cause of the record at an index; nil if the number of such records is chance.
    func cause(of number: Int) -> RecordCause? {
        let entry = recording.entries[number]
        let handler = handlerAround(Int32(number))
        let around = RecordCause(entry: handler < 0 ? -1 : spans[Int(handler)].begin)
        let post = entry.post < 0 ? nil : posts[Int(entry.post)]
        func earlier(_ cause: Int32?) -> Int32? { cause.flatMap { $0 >= 0 && $0 < number ? $0 : nil } }
        let (posted, enqueued) = (earlier(post?.posted), earlier(post?.enqueued))
        switch entry.stage {
        case .signal, .dropSignal, .drain, .wait, .waitEnd, .lost, .end, .fork, .threadEnd:
            return nil
        case .register, .remove, .refuseWait, .log, .processStart, .processEnd, .enqueue:
            return around
        case .return:
            let span = spanOfEntry[number]
            return span < 0 ? around : RecordCause(entry: spans[Int(span)].begin)
        case .post, .dequeue:
            return enqueued.map { RecordCause(entry: $0, isHandedOver: true) } ?? around
        case .append, .skip, .capture, .postEnd:
            break
        case .deliver, .coalesce, .drop, .cancel, .targetGone:
            let delivery = deliveryOfEntry[number]
            let isOfQueue = entry.observer < 0 && entry.stage != .deliver
            let append = earlier(delivery < 0 ? nil : deliveries[Int(delivery)].append)
            if let cause = append ?? (isOfQueue ? enqueued : nil) {
                return RecordCause(entry: cause, isHandedOver: true)
            }
            if let posted, entry.stage == .deliver, entry.isFoundation {
                return RecordCause(entry: posted, isHandedOver: true, observer: entry.observer)
            }
        }
        if let posted { return RecordCause(entry: posted, isHandedOver: self.entry(posted).thread != entry.thread) }
        let related = earlier(entry.relatedPost < 0 ? nil : posts[Int(entry.relatedPost)].posted)
        return related.flatMap { entry.stage == .capture ? RecordCause(entry: $0) : nil } ?? around
    }
}
