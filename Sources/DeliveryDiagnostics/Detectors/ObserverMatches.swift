internal import DeliveryRecording

/// The outcomes of the posts that matched one observer.
struct ObserverMatches {
    var counts = Accounts.Counts()
    /// The first record of the first delivery, or -1.
    var first: Int32 = -1
    /// The first `drop`, or -1.
    var firstDrop: Int32 = -1

    /// In the order of the index's observers.
    static func all(_ index: RecordingIndex) -> [ObserverMatches] {
        var all = Array(repeating: ObserverMatches(), count: index.observers.count)
        for delivery in index.deliveries where delivery.observer >= 0 {
            let observer = Int(delivery.observer)
            if all[observer].first < 0 { all[observer].first = delivery.first }
            if delivery.skip < 0 || delivery.outcome >= 0 { all[observer].counts[.matched] += 1 }
            guard delivery.outcome >= 0 else {
                all[observer].counts[delivery.isPending ? .pending : .skipped] += 1
                continue
            }
            let stage = index.entry(delivery.outcome).stage
            all[observer].counts.count(stage)
            if stage == .drop, all[observer].firstDrop < 0 { all[observer].firstDrop = delivery.outcome }
        }
        return all
    }
}
