package import DeliveryRecording

extension Recording {
    /// The number of records that were lost while recording. They may look like differences.
    package var lostCount: Int {
        entries.reduce(0) { $1.stage == .lost ? $0 + Int(max($1.count, 1)) : $0 }
    }
}
