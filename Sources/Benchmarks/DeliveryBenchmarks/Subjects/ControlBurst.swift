internal import CControl
internal import Glibc

/// The baseline of `BurstSubject` in C: an array under a futex lock, and an eventfd.
final class ControlBurst: BenchmarkSubject {
    private let burst: OpaquePointer
    private let limit: Duration

    init(posters: Int, targets: Int = 1, _ places: BenchmarkPlaces) throws(BenchmarkError) {
        guard
            let burst = CControlBurstCreate(
                Int32(posters), Int32(targets), Int32(places.postingCore ?? -1), Int32(places.targetCore ?? -1))
        else { throw .notMade("the control's threads", code: errno) }
        self.burst = burst
        limit = places.limit
    }

    func measure(_ operations: Int) throws -> Sample {
        let elapsed = CControlBurstMeasure(burst, Int64(operations), Int64(limit / .nanoseconds(1)))
        return Sample(operations: operations, total: try ControlTime.nanoseconds(elapsed, limit: limit))
    }

    func end() {
        CControlBurstDestroy(burst)
    }
}
