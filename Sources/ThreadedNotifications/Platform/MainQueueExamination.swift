/// Finds out whether passes of the run loop serve the main queue: a pure value. If they do not, the descriptor of the
/// main queue stays readable.
struct MainQueueExamination {
    enum Action {
        case none
        /// Enqueue a block on the main queue that sets the marker.
        case enqueue(marker: Locked<Bool>)
        /// Ignore the main queue: it is not served.
        case ignore
    }

    /// After this number of passes in a row with a ready main queue, the examination begins. It takes as many passes.
    private static let passesBefore = 3

    private var passes = 0
    private var marker: Locked<Bool>?

    /// A pass has ended.
    /// - Parameter wasReady: whether something waited in the main queue when the pass began.
    mutating func passed(wasReady: Bool) -> Action {
        if !wasReady || marker?.withLock({ $0 }) == true {
            self = MainQueueExamination()
            return .none
        }
        passes += 1
        if passes == Self.passesBefore {
            let marker = Locked(false)
            self.marker = marker
            return .enqueue(marker: marker)
        }
        guard passes >= 2 * Self.passesBefore else { return .none }
        self = MainQueueExamination()
        return .ignore
    }
}
