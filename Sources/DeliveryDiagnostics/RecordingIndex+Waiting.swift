package import DeliveryRecording

/// Where a record stands in the way of its post. -1 means none.
extension RecordingIndex {
    /// The `post` or `capture` that a record's post began with, if the record is a later one.
    func posted(_ number: Int32) -> Int32 {
        let post = entry(number).post
        guard post >= 0 else { return -1 }
        let posted = posts[Int(post)].posted
        return posted < number ? posted : -1
    }

    /// The record since which a delivery waited in a mailbox, or a notification in a posting queue, until this record.
    func waitBegin(_ number: Int32) -> Int32 {
        if let delivery = delivery(of: number), delivery.append != number {
            return [delivery.outcome, delivery.skip].contains(number) ? delivery.append : -1
        }
        let post = entry(number).post
        return post >= 0 && posts[Int(post)].queueOutcome == number ? posts[Int(post)].enqueued : -1
    }

    /// The record at which the wait that this record begins has ended.
    func waitEnd(_ number: Int32) -> Int32 {
        if let delivery = delivery(of: number) {
            guard delivery.append == number else { return -1 }
            return delivery.outcome >= 0 ? delivery.outcome : delivery.skip
        }
        let post = entry(number).post
        return post >= 0 && posts[Int(post)].enqueued == number ? posts[Int(post)].queueOutcome : -1
    }

    /// The thread that the delivery of an `append` record waits for.
    func mailbox(_ number: Int32) -> Int32 {
        guard let delivery = delivery(of: number), delivery.append == number else { return -1 }
        return mailbox(of: delivery)
    }

    /// True if the end of the handler or wait that the record begins should have a record too.
    func recordsEnd(_ number: Int32) -> Bool {
        let span = spanOfEntry[Int(number)]
        return span >= 0 && spans[Int(span)].ending != .notRecorded
    }

    private func delivery(of number: Int32) -> Delivery? {
        let delivery = deliveryOfEntry[Int(number)]
        return delivery < 0 ? nil : deliveries[Int(delivery)]
    }
}
