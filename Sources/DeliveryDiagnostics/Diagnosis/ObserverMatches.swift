internal import DeliveryRecording

/// The outcomes of the posts that matched one observer.
struct ObserverMatches {
    var delivered = 0
    var cancelled = 0
    var skipped = 0
    var pending = 0
    var dropped = 0
    var others = 0
    /// The first record of the first delivery, or -1.
    var first: Int32 = -1
    /// The first `drop`, or -1.
    var firstDrop: Int32 = -1

    /// Without those that were skipped.
    var matched: Int { delivered + cancelled + pending + dropped + others }

    /// In the order of the index's observers.
    static func all(_ index: RecordingIndex) -> [ObserverMatches] {
        var all = Array(repeating: ObserverMatches(), count: index.observers.count)
        for delivery in index.deliveries where delivery.observer >= 0 {
            let observer = Int(delivery.observer)
            if all[observer].first < 0 { all[observer].first = delivery.first }
            if delivery.outcome >= 0 {
                switch index.entry(delivery.outcome).stage {
                case .deliver: all[observer].delivered += 1
                case .cancel: all[observer].cancelled += 1
                case .drop:
                    all[observer].dropped += 1
                    if all[observer].firstDrop < 0 { all[observer].firstDrop = delivery.outcome }
                default: all[observer].others += 1
                }
            } else if delivery.skip >= 0 {
                all[observer].skipped += 1
            } else {
                all[observer].pending += 1
            }
        }
        return all
    }
}
