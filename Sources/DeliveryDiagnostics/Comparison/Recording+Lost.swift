extension Recording {
    /// How many records could not be kept when the recording was made. What is missing may look like a difference.
    public var lostCount: Int {
        entries.reduce(0) { $1.stage == .lost ? $0 + Int(max($1.count, 1)) : $0 }
    }
}
